-- publish_anatomy: the tables that it makes, the arguments that it refuses, and no trace after an error.
CREATE TABLE patients (name text, age integer, sex "char", born date, disease text, note text);
INSERT INTO patients
SELECT 'name' || g, 20 + g % 60, CASE g % 2 WHEN 0 THEN 'F' ELSE 'M' END, '1950-01-01'::date + g, 'd' || g % 10,
    NULL FROM generate_series(1, 202) AS g;
UPDATE patients SET age = NULL WHERE name = 'name7';
SELECT kanon.create_dgh('d');
INSERT INTO kanon.dgh_edge SELECT 'd', 'd' || g, 'class' || g / 2 FROM generate_series(0, 9) AS g;

SELECT kanon.publish_anatomy('p', 'patients', 'name', '{age,sex,born}', 'disease', 'd', 4, 2);
SELECT attrelid::regclass AS relation, attname, atttypid::regtype FROM pg_attribute
WHERE attrelid IN ('p_qit'::regclass, 'p_st'::regclass) AND attnum > 0 ORDER BY attrelid::regclass::text, attnum;
-- Every row is there, with its own values; NULL stays NULL.
SELECT (SELECT count(*) FROM p_qit) AS qit, (SELECT sum(count) FROM p_st) AS st,
    (SELECT count(*) FROM p_qit WHERE age IS NULL) AS nulls;
SELECT count(*) FROM (SELECT age, sex, born FROM patients EXCEPT ALL SELECT age, sex, born FROM p_qit) AS missing;
SELECT count(*) FROM (SELECT disease FROM patients EXCEPT ALL SELECT value FROM p_st) AS missing;
-- Groups agree between the tables, have at least four rows, and each value's class once.
SELECT count(*) AS groups, count(*) FILTER (WHERE q.n <> s.n) AS differ, min(q.n), max(q.n),
    count(*) FILTER (WHERE s.n <> s.classes) AS not_2_dependent
FROM (SELECT grp, count(*) AS n FROM p_qit GROUP BY grp) AS q
FULL JOIN (SELECT grp, sum(count) AS n, count(DISTINCT kanon.generalize('d', value, 1)::text) AS classes FROM p_st
    GROUP BY grp) AS s USING (grp);

-- n null is the largest, dgh null is plain anatomy; a schema may be named, names may need quotes.
SELECT kanon.publish_anatomy('largest', 'patients', 'name', '{age}', 'disease', 'd', 4, NULL);
SELECT count(*) AS not_2_dependent
    FROM (SELECT FROM largest_st GROUP BY grp
    HAVING count(*) <> count(DISTINCT kanon.generalize('d', value, 1)::text)) AS g;
CREATE SCHEMA "Open Data";
SELECT kanon.publish_anatomy('"Open Data"."The release"', 'patients', 'name', '{age}', 'disease', NULL, 8, NULL);
SELECT count(*), count(DISTINCT grp) FROM "Open Data"."The release_qit";
SELECT max(count) FROM "Open Data"."The release_st";
SELECT kanon.publish_anatomy('pg_temp.mine', 'patients', 'name', '{age}', 'disease', NULL, 2, NULL);
SELECT count(*), relpersistence FROM mine_qit, pg_class WHERE oid = 'mine_qit'::regclass GROUP BY relpersistence;

-- A source that gives other rows each time it is asked: both tables are of the same rows.
SELECT kanon.publish_anatomy('sample', 'SELECT * FROM patients ORDER BY random() LIMIT 50', 'name', '{born}', 'disease',
    NULL, 3, NULL);
SELECT count(*) AS groups, count(*) FILTER (WHERE q.n IS DISTINCT FROM s.n) AS differ, min(q.n) >= 3 AS large_enough,
    sum(q.n) AS rows
FROM (SELECT grp, count(*) AS n FROM sample_qit GROUP BY grp) AS q FULL
    JOIN (SELECT grp, sum(count) AS n FROM sample_st GROUP BY grp) AS s USING (grp);

-- Identifiers whose text has blanks at its end.
SELECT kanon.publish_anatomy('blanks',
    'SELECT g::text::char(6) AS id, g AS q, g % 5 AS s FROM generate_series(1, 50) AS g', 'id', '{q}', 's', NULL, 5,
    NULL);
SELECT count(*) FROM blanks_qit;

-- Refused.
SELECT kanon.publish_anatomy('p', 'patients', 'name', '{age}', 'disease', 'd', 4, 2);
SELECT kanon.publish_anatomy('x', 'patients', 'name', '{age,disease}', 'disease', 'd', 4, 2);
SELECT kanon.publish_anatomy('x', 'patients', 'name', '{age,name}', 'disease', 'd', 4, 2);
SELECT kanon.publish_anatomy('x', 'patients', 'name', '{}', 'disease', 'd', 4, 2);
SELECT kanon.publish_anatomy('x', 'patients', 'name', NULL, 'disease', 'd', 4, 2);
SELECT kanon.publish_anatomy('x', 'patients', 'name', '{age,NULL}', 'disease', 'd', 4, 2);
SELECT kanon.publish_anatomy('x', 'patients', 'name', '{age,age}', 'disease', 'd', 4, 2);
SELECT kanon.publish_anatomy('x', 'SELECT *, 1 AS grp FROM patients', 'name', '{grp}', 'disease', 'd', 4, 2);
SELECT kanon.publish_anatomy('x', 'patients', 'name', '{height}', 'disease', 'd', 4, 2);
SELECT kanon.publish_anatomy('x', 'patients', 'name', '{age}', 'disease', NULL, 4, 2);
SELECT kanon.publish_anatomy(repeat('x', 60), 'patients', 'name', '{age}', 'disease', 'd', 4, 2);
SELECT kanon.publish_anatomy('nowhere.x', 'patients', 'name', '{age}', 'disease', 'd', 4, 2);
\set SHOW_CONTEXT never
SELECT kanon.publish_anatomy('x', 'patients', 'name', '{age}', 'disease', 'd', 4, 3);
SELECT kanon.publish_anatomy('x', 'patients', 'name', '{age}', 'disease', 'd', 11, 1);
SELECT kanon.publish_anatomy('x', 'SELECT * FROM patients UNION ALL SELECT * FROM patients', 'name', '{age}', 'disease',
    'd', 4, 2);
-- With the caller's rights: to read, and to make tables.
CREATE ROLE anatomy_publish_clerk;
GRANT SELECT ON kanon.dgh, kanon.dgh_edge TO anatomy_publish_clerk;
SET ROLE anatomy_publish_clerk;
SELECT kanon.publish_anatomy('x', 'patients', 'name', '{age}', 'disease', 'd', 4, 2);
RESET ROLE;
GRANT SELECT ON patients TO anatomy_publish_clerk;
SET ROLE anatomy_publish_clerk;
SELECT kanon.publish_anatomy('x', 'patients', 'name', '{age}', 'disease', 'd', 4, 2);
RESET ROLE;
REVOKE ALL ON kanon.dgh, kanon.dgh_edge, patients FROM anatomy_publish_clerk;
DROP ROLE anatomy_publish_clerk;

-- Nothing half-made remains, and no temporary table.
SELECT relname FROM pg_class WHERE relname LIKE 'x%' OR relname LIKE 'kanon publish%';
