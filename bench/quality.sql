-- For bench/quality, which sets :rows and :rounds.
\set ECHO none
\pset footer off
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET work_mem = '256MB';
CREATE EXTENSION kanon;

-- measure(names, queries, rounds): each query's median time in ms, the queries taking turns.
CREATE FUNCTION measure(names text[], queries text[], rounds int, OUT name text, OUT ms float8) RETURNS SETOF record
LANGUAGE plpgsql AS $$
DECLARE
    start timestamptz;
BEGIN
    CREATE TEMP TABLE IF NOT EXISTS taken (name text, ms float8);
    TRUNCATE taken;
    FOR round IN 0 .. rounds LOOP
        FOR i IN 1 .. cardinality(queries) LOOP
            start := clock_timestamp();
            EXECUTE queries[i];
            IF round > 0 OR rounds = 0 THEN -- the first one warms up
                INSERT INTO taken VALUES (names[i], 1000 * extract(epoch FROM clock_timestamp() - start));
            END IF;
        END LOOP;
    END LOOP;
    RETURN QUERY SELECT t.name, percentile_cont(0.5) WITHIN GROUP (ORDER BY t.ms) FROM taken t GROUP BY 1;
END
$$;

SELECT setseed(0.5) \g /dev/null
CREATE UNLOGGED TABLE people AS
    SELECT i AS id, (17 + 73 * random() * random())::int AS age, (10000 + floor(2000 * random() * random()))::text AS zip,
        CASE WHEN random() < 0.5 THEN 'f' ELSE 'm' END AS sex, 'disease ' || (random() ^ 2 * 40)::int AS disease, (random() * 20)::int AS ward
    FROM generate_series(1, :rows) i;
ALTER TABLE people ADD PRIMARY KEY (id);
VACUUM ANALYZE people;
SELECT kanon.create_interval_dgh('age', 0, '{5,10,20}'), kanon.create_prefix_dgh('zip', 5) \g /dev/null
SELECT kanon.create_anonymization_view('view', 'SELECT * FROM people', id => '{id}', quasi_ids => '{"age": "age", "zip": "zip", "sex": null}',
    sensitive => '{"disease": null}', k => 10) \g /dev/null

\echo 'beside the GROUP BY that it needs (ratio at most 1.3):'
CREATE TEMP TABLE result AS SELECT * FROM measure(
    '{GROUP BY,k_anonymity,violations,GROUP BY with sensitive,k_anonymity with sensitive}',
    ARRAY['SELECT count(*) FROM (SELECT age, zip, sex, count(*) FROM people GROUP BY age, zip, sex) g',
        'SELECT * FROM kanon.k_anonymity(''people'', ''{age,zip,sex}'')',
        'SELECT count(*) FROM kanon.violations(''people'', ''{age,zip,sex}'', 2)',
        'SELECT count(*) FROM (SELECT age, zip, sex, disease, count(*) FROM people GROUP BY age, zip, sex, disease) g',
        'SELECT * FROM kanon.k_anonymity(''people'', ''{age,zip,sex}'', ''disease'')'], :rounds);
SELECT name, round(ms) AS ms, round((ms / (SELECT ms FROM result r WHERE r.name = CASE WHEN result.name ~ 'sensitive' THEN 'GROUP BY with sensitive' ELSE 'GROUP BY' END))::numeric, 2) AS ratio
FROM result ORDER BY name ~ 'sensitive', ms;

\echo 'beside reading the whole view:'
CREATE TEMP TABLE view_result AS SELECT * FROM measure('{the view,quality,audit,linkage,report}',
    ARRAY['SELECT count(*) FROM (SELECT age, zip, sex, disease FROM view OFFSET 0) v', 'SELECT * FROM kanon.quality(''view'')',
        'SELECT count(*) FROM kanon.audit(''view'')', 'SELECT count(*) FROM kanon.linkage(''view'', ''people'', ''{age,zip,sex}'')',
        'CREATE TEMP TABLE IF NOT EXISTS page AS SELECT kanon.report(''view'') AS html; TRUNCATE page; INSERT INTO page SELECT kanon.report(''view'')'], 0);
SELECT name, round(ms / CASE name WHEN 'report' THEN 2 ELSE 1 END) AS ms,
    round((ms / CASE name WHEN 'report' THEN 2 ELSE 1 END / (SELECT ms FROM view_result WHERE name = 'the view'))::numeric, 1) AS ratio FROM view_result ORDER BY ms;
SELECT length(html) AS "characters of the report" FROM page;
