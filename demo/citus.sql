-- An A-view of a table that Citus distributes. First add the workers to the database, as doc/scale-out.md says. Then:
--
--   psql -d hospital -f demo/citus.sql
\set ON_ERROR_STOP on
CREATE EXTENSION IF NOT EXISTS kanon;
SELECT nodename, nodeport FROM pg_dist_node WHERE isactive AND groupid > 0 ORDER BY nodeid;

CREATE TABLE person (id int PRIMARY KEY, age int, zip text, disease text);
SELECT create_distributed_table('person', 'id');
INSERT INTO person SELECT i, 20 + i * 7 % 60, (13000 + i * 7919 % 900)::text,
        (ARRAY['influenza', 'gastritis', 'angina', 'fracture'])[1 + i * 104729 / 100 % 4]
    FROM generate_series(1, 10000) AS i;

SELECT kanon.create_interval_dgh('person_ages', 0, '{5, 10, 50}');
SELECT kanon.create_prefix_dgh('person_zips', 5);
SELECT kanon.create_anonymization_view('people', 'SELECT * FROM person', id => '{id}', quasi_ids => '{"age": "person_ages", "zip": "person_zips"}',
    sensitive => '{"disease": null}', k => 20);

-- The diseases of people in their forties.
SELECT age, disease, count(*) FROM people WHERE age = '[40,50)' GROUP BY age, disease ORDER BY age, disease;
-- Is the view safe?
SELECT min(people) AS smallest_group FROM (SELECT count(*) AS people FROM people GROUP BY age, zip) AS cells;
