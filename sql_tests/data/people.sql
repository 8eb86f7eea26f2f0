-- People, hierarchies for them, and privileges: for the tests of A-views. Roles are named after the test's database.
\set ECHO none
SET client_min_messages = warning;
SELECT current_database() || '_owner' AS owner, current_database() || '_analyst' AS analyst \gset
DROP ROLE IF EXISTS :"owner", :"analyst";
CREATE ROLE :"owner";
CREATE ROLE :"analyst";
RESET client_min_messages;
GRANT CREATE ON SCHEMA public TO :"owner";
GRANT SELECT, INSERT, UPDATE, DELETE ON kanon.dgh, kanon.dgh_edge TO :"owner";

SET ROLE :"owner";
CREATE TABLE person (name text, age integer, zip text, disease text, ward integer, note text);
-- Two rows for some; ages and diseases that are not known; one person unlike all others.
INSERT INTO person
SELECT 'p' || i % 160, nullif(20 + i * 7 % 50, 20), lpad((i * 13 % 60)::text, 3, '0'),
	nullif((ARRAY ['flu', 'hiv', 'cancer', 'ulcer', ''])[1 + i % 5], ''), i % 10, 'note ' || i
FROM generate_series(1, 240) AS i;
INSERT INTO person VALUES ('Lonely', 99, '9x9', 'plague', 77, 'Lonely''s note');
CREATE INDEX ON person (ward);
CREATE INDEX ON person (disease);
CREATE INDEX ON person (age, zip);
ANALYZE person;

SET client_min_messages = warning;
DO $$
BEGIN
	PERFORM kanon.create_interval_dgh('ages', 0, '{10, 50}');
	PERFORM kanon.create_prefix_dgh('zips', 3);
	PERFORM kanon.create_anonymization_view('people', 'SELECT name, age, zip, disease, ward FROM person',
		id => '{name}', quasi_ids => '{"age": "ages", "zip": "zips"}', sensitive => '{"disease": null}', k => 4,
		other => '{ward}');
	PERFORM kanon.create_anonymization_view('witnessed', 'SELECT name, age, zip, disease, ward FROM person',
		id => '{name}', quasi_ids => '{"age": "ages", "zip": "zips"}', sensitive => '{"disease": null}', k => 4,
		match => 'witness', other => '{ward}');
END
$$;
RESET client_min_messages;
RESET ROLE;
\set ECHO all
