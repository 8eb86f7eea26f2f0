-- Called by bench/policy with :rows and :rounds, after people and hierarchies are there.
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET work_mem = '256MB';
CREATE TABLE person AS
    SELECT i AS id, p.age, p.education, p.occupation, p.marital, p.salary, i % 100000 AS other
    FROM generate_series(1, :rows) i JOIN (SELECT row_number() OVER () AS n, * FROM people) p ON p.n = 1 + i::bigint * 7919 % 30000;
ALTER TABLE person ADD PRIMARY KEY (id);
CREATE INDEX ON person (other);
CREATE INDEX ON person (age, education, occupation, marital);
CREATE TABLE choices AS SELECT id AS who, 'care'::text AS purpose, 'ward'::text AS recipient, 2 + id % 5 AS k, id % 2 AS lvl, id % 10 > 0 AS ok,
    timestamptz '2999-01-01' AS till FROM person;
ALTER TABLE choices ADD PRIMARY KEY (who, purpose, recipient);
VACUUM ANALYZE person, choices;
SELECT kanon.create_anonymization_view('plain', 'SELECT * FROM person', id => '{id}', sensitive => '{"salary": null}', k => 5,
    quasi_ids => '{"age": "age", "education": "education", "occupation": "occupation", "marital": "marital"}') \g /dev/null
SELECT kanon.create_anonymization_view('chosen', 'SELECT * FROM person', id => '{id}', sensitive => '{"salary": null}', k => 5,
    quasi_ids => '{"age": "age", "education": "education", "occupation": "occupation", "marital": "marital"}',
    profile => '{"table": "choices", "key": {"id": "who"}, "k": "k", "sa_level": "lvl", "purpose": "purpose", "recipient": "recipient",
        "disclose": {"age": "ok"}, "retain": {"salary": "till"}}') \g /dev/null
SELECT kanon.grant_access('public', 'care', 'ward') \g /dev/null
SET kanon.purpose = care;
SET kanon.recipient = ward;

CREATE TABLE timing (name text, round int, ms float8);
CREATE PROCEDURE measure(rounds int) LANGUAGE plpgsql AS $$
DECLARE
    q record;
    start timestamptz;
    line text;
BEGIN
    FOR round IN 0 .. rounds LOOP
        FOR q IN SELECT * FROM (VALUES
            ('join', 'SELECT * FROM person LEFT JOIN choices ON who = id AND purpose = ''care'' AND recipient = ''ward'''),
            ('scan', 'SELECT * FROM person'),
            ('plain: all', 'SELECT * FROM plain'), ('chosen: all', 'SELECT * FROM chosen'),
            ('plain: count', 'SELECT education, count(*) FROM plain GROUP BY education'),
            ('chosen: count', 'SELECT education, count(*) FROM chosen GROUP BY education'),
            ('plain: 10 rows', 'SELECT * FROM plain WHERE other = 777'), ('chosen: 10 rows', 'SELECT * FROM chosen WHERE other = 777')) v (name, query)
        LOOP
            start := clock_timestamp();
            FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) ' || q.query LOOP
            END LOOP;
            -- The first round warms up.
            IF round > 0 THEN
                INSERT INTO timing VALUES (q.name, round, extract(epoch FROM clock_timestamp() - start) * 1000);
            END IF;
        END LOOP;
    END LOOP;
END
$$;
CALL measure(:rounds);
CREATE VIEW median AS SELECT name, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS ms FROM timing GROUP BY name;
\pset footer off
SELECT what, round((a.ms / b.ms)::numeric, 2) AS ratio, target
FROM (VALUES
    ('full read with a profile / without', 'chosen: all', 'plain: all', '<= 2.5'),
    ('aggregate with a profile / without', 'chosen: count', 'plain: count', '<= 2.5'),
    ('10 rows with a profile / without', 'chosen: 10 rows', 'plain: 10 rows', ''),
    ('for comparison: the join with the choices / scan', 'join', 'scan', ''),
    ('for comparison: full read with a profile / that join', 'chosen: all', 'join', '')) AS r (what, a, b, target)
JOIN median a ON a.name = r.a JOIN median b ON b.name = r.b;
EXPLAIN (COSTS OFF) SELECT * FROM chosen WHERE other = 777;
