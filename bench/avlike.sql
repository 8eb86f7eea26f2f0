-- For bench/avlike, which sets :rows and :rounds.
\set ECHO none
\pset footer off
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET work_mem = '256MB';
CREATE EXTENSION kanon;

-- measure(queries, rounds): each query's median time in ms, the queries taking turns.
CREATE FUNCTION measure(queries text[], rounds int, OUT query text, OUT ms float8) RETURNS SETOF record
LANGUAGE plpgsql AS $$
DECLARE
    start timestamptz;
    asked text;
BEGIN
    CREATE TEMP TABLE IF NOT EXISTS taken (query text, ms float8);
    TRUNCATE taken;
    FOR round IN 0 .. rounds LOOP
        FOREACH asked IN ARRAY queries LOOP
            start := clock_timestamp();
            EXECUTE asked;
            IF round > 0 THEN -- the first one warms up
                INSERT INTO taken VALUES (asked, 1000 * extract(epoch FROM clock_timestamp() - start));
            END IF;
        END LOOP;
    END LOOP;
    RETURN QUERY SELECT t.query, percentile_cont(0.5) WITHIN GROUP (ORDER BY t.ms) FROM taken t GROUP BY 1;
END
$$;

SELECT kanon.create_dgh('tree') \g /dev/null
INSERT INTO kanon.dgh_edge
    SELECT 'tree', 'leaf' || i, 'twig' || i / 10 FROM generate_series(0, 999) i
    UNION ALL SELECT 'tree', 'twig' || i, 'branch' || i / 10 FROM generate_series(0, 99) i;
SELECT kanon.create_interval_dgh('interval', 0, '{10,100}') \g /dev/null
SELECT kanon.create_date_dgh('date', '{month,year}') \g /dev/null
SELECT kanon.create_prefix_dgh('prefix', 5) \g /dev/null

CREATE UNLOGGED TABLE ints AS SELECT i % 1000 AS x FROM generate_series(1, :rows) i;
CREATE UNLOGGED TABLE nodes AS SELECT kanon.generalize('tree', 'leaf' || x, 1) AS x FROM ints;
CREATE UNLOGGED TABLE intervals AS SELECT kanon.generalize('interval', x::text, 1) AS x FROM ints;
CREATE UNLOGGED TABLE decimals AS SELECT kanon.generalize('interval', (x + 0.5)::text, 0) AS x FROM ints;
CREATE UNLOGGED TABLE dates AS SELECT kanon.generalize('date', (date '2000-01-01' + x)::text, 1) AS x FROM ints;
CREATE UNLOGGED TABLE prefixes AS SELECT kanon.generalize('prefix', lpad((x * 77)::text, 5, '0'), 2) AS x FROM ints;
VACUUM ANALYZE ints; VACUUM ANALYZE nodes; VACUUM ANALYZE intervals; VACUUM ANALYZE decimals;
VACUUM ANALYZE dates; VACUUM ANALYZE prefixes;

\echo
\echo 'Scans with one comparison, over the scan with int4 = int4 (the target for AVLIKE is 2)'
CREATE TEMP TABLE asked (place serial, what text, query text);
INSERT INTO asked (what, query) VALUES
    ('int4 = int4', 'SELECT count(*) FROM ints WHERE x = 555'),
    ('tree node = unknown', 'SELECT count(*) FROM nodes WHERE x = ''leaf555'''),
    ('tree node = text', 'SELECT count(*) FROM nodes WHERE x = text ''leaf555'''),
    ('tree node = node', 'SELECT count(*) FROM nodes WHERE x = (SELECT kanon.generalized(''leaf555'', ''tree''))'),
    ('interval = unknown', 'SELECT count(*) FROM intervals WHERE x = ''555'''),
    ('interval = integer', 'SELECT count(*) FROM intervals WHERE x = 555'),
    ('interval = numeric', 'SELECT count(*) FROM intervals WHERE x = 555.5'),
    ('interval = a word', 'SELECT count(*) FROM intervals WHERE x = ''elsewhere'''),
    ('date interval = date', 'SELECT count(*) FROM dates WHERE x = date ''2001-05-05'''),
    ('prefix = unknown', 'SELECT count(*) FROM prefixes WHERE x = ''38500'''),
    ('prefix = text', 'SELECT count(*) FROM prefixes WHERE x = text ''38500'''),
    ('decimal = numeric', 'SELECT count(*) FROM decimals WHERE x = 555.5'),
    ('text = text', 'SELECT count(*) FROM (SELECT x::text FROM ints OFFSET 0) t WHERE x = ''555'''),
    ('tree node < unknown', 'SELECT count(*) FROM nodes WHERE x < ''leaf555'''),
    ('interval < integer', 'SELECT count(*) FROM intervals WHERE x < 555'),
    ('prefix < unknown', 'SELECT count(*) FROM prefixes WHERE x < ''38500''');
CREATE TEMP TABLE found AS SELECT * FROM measure(ARRAY(SELECT query FROM asked ORDER BY place), :rounds);
SELECT what AS comparison, round((ms / (SELECT ms FROM found JOIN asked USING (query) WHERE place = 1))::numeric, 2) AS ratio
FROM found JOIN asked USING (query) ORDER BY place;

-- A hierarchy of that many leaves, ten children to a node, as COPY gets it.
CREATE UNLOGGED TABLE edges AS
    SELECT 'large' AS dgh, 'leaf number ' || i AS child, 'level 1, node ' || i / 10 AS parent FROM generate_series(0, :rows - 1) i
    UNION ALL
    SELECT 'large', format('level %s, node %s', l, i), format('level %s, node %s', l + 1, i / 10)
    FROM generate_series(1, 7) l, generate_series(0, ceil(:rows / 10 ^ l)::int - 1) i;
\set file `mktemp -u /tmp/kanon-edges.XXXXXX`
COPY edges TO :'file';
CREATE TABLE plain (dgh text COLLATE "C" NOT NULL, child text COLLATE "C" NOT NULL, parent text COLLATE "C" NOT NULL, PRIMARY KEY (dgh, child));
SELECT kanon.create_dgh('large') \g /dev/null

\echo 'A hierarchy of that many leaves and depth 8, over COPY of the same rows into a table with the same primary key'
CREATE TEMP TABLE large (what text, round int, ms float8);
CREATE PROCEDURE take(what text, round int, query text) LANGUAGE plpgsql AS $$
DECLARE start timestamptz := clock_timestamp();
BEGIN
    EXECUTE query;
    INSERT INTO large VALUES (what, round, 1000 * extract(epoch FROM clock_timestamp() - start));
END
$$;
SELECT format('TRUNCATE plain; DELETE FROM kanon.dgh_edge WHERE dgh = ''large''; '
              'CALL take(''COPY into a plain table'', %1$s, %2$L); CALL take(''COPY into dgh_edge'', %1$s, %3$L); '
              'CALL take(''first answer'', %1$s, %4$L); CALL take(''generalize all leaves'', %1$s, %5$L)',
              round, format('COPY plain FROM %L', :'file'), format('COPY kanon.dgh_edge FROM %L', :'file'),
              'SELECT kanon.generalize(''large'', ''leaf number 1'', 8)',
              'SELECT count(kanon.generalize(''large'', child, 3)) FROM plain')
FROM generate_series(1, 3) round \gexec
\! rm -f /tmp/kanon-edges.??????
SELECT what AS work, round((percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)
                            / (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FROM large WHERE what = 'COPY into a plain table'))::numeric, 2) AS ratio
FROM large GROUP BY what ORDER BY min(array_position('{COPY into a plain table,COPY into dgh_edge,first answer,generalize all leaves}', what));

\echo 'Its cache'
SELECT leaves, nodes, bytes, round(bytes::numeric / nodes, 1) AS "bytes per node" FROM kanon.dgh_cache() WHERE dgh = 'large';
