-- The key of the choices that a statement names: the column of the same name, or else the primary key's only one that
-- is neither purpose nor recipient.
CREATE TABLE patient (id integer PRIMARY KEY, age integer, disease text, profile integer);
INSERT INTO patient VALUES (1, 31, 'flu', 11), (2, 31, 'hiv', 12), (3, 31, 'flu', 13);
\set create 'CREATE ANONYMIZATION_VIEW v ON SELECT * FROM patient WITH ANONYMIZATION_ID id '
\set create :create 'ANONYMIZATION_QUASI_ID age DGH_NAME ages profile REFERENCES choices (k) '
\set create :create 'ANONYMIZATION_OTHER disease, profile'
SELECT kanon.create_interval_dgh('ages', 0, '{10}');
SELECT kanon.grant_access(current_user, 'care', 'ward');
SET kanon.purpose = 'care';
SET kanon.recipient = 'ward';

-- A primary key of another name.
CREATE TABLE choices (who integer PRIMARY KEY, k integer);
INSERT INTO choices VALUES (11, 2), (12, 2), (13, 0);
DO LANGUAGE kanon :'create';
SELECT * FROM v ORDER BY profile;
DROP VIEW v;
DROP TABLE choices;

-- With purpose and recipient.
CREATE TABLE choices (purpose text, who integer, recipient text, k integer, PRIMARY KEY (purpose, who, recipient));
INSERT INTO choices VALUES ('care', 11, 'ward', 2), ('care', 12, 'ward', 2), ('care', 13, 'ward', 0),
	('research', 11, 'ward', 0);
DO LANGUAGE kanon :'create';
SELECT * FROM v ORDER BY profile;
DROP VIEW v;
DROP TABLE choices;

-- With a further column: either could be meant.
CREATE TABLE choices (who integer, k integer, place text, PRIMARY KEY (who, place));
DO LANGUAGE kanon :'create';
DROP TABLE choices;
-- None.
CREATE TABLE choices (who integer UNIQUE, k integer);
DO LANGUAGE kanon :'create';
DROP TABLE choices;
-- The column of the same name, whatever the primary key is.
CREATE TABLE choices (who integer PRIMARY KEY, k integer, profile integer UNIQUE);
INSERT INTO choices VALUES (1, 2, 11), (2, 2, 12), (3, 0, 13);
DO LANGUAGE kanon :'create';
SELECT * FROM v ORDER BY profile;
