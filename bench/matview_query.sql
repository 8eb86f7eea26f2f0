-- Called by bench/matview with :rounds: the same queries over the logical and the materialized view of table loaded.
SET client_min_messages = warning;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
DO $$
DECLARE
    tab text;
BEGIN
    FOR tab IN SELECT oid::regclass FROM pg_class WHERE relnamespace = 'kanon'::regnamespace AND relkind = 'r' AND relname ~ '^(groups|members)_' LOOP
        EXECUTE 'ANALYZE ' || tab;
    END LOOP;
END
$$;
CREATE FUNCTION median_ms(query text, rounds int) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    started timestamptz;
    spent float8[] := '{}';
BEGIN
    FOR i IN 1 .. rounds LOOP
        started := clock_timestamp();
        EXECUTE query;
        spent := spent || extract(epoch FROM clock_timestamp() - started)::float8 * 1000;
    END LOOP;
    RETURN round((SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM unnest(spent) AS x)::numeric, 2);
END
$$;
CREATE FUNCTION rows_of(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    result bigint;
BEGIN
    EXECUTE query INTO result;
    RETURN result;
END
$$;
SELECT rpad('condition', 46) || ' ' || rpad('rows', 8) || ' ' || rpad('logical ms', 12) || ' ' || rpad('stored ms', 12) || ' ratio (at least 20)';
DO $$
BEGIN
    CREATE TEMP TABLE asked (condition text);
    INSERT INTO asked SELECT format('zip = %L AND age = %s', zip, age) FROM loaded WHERE id % 1000 = 1 LIMIT 2;
    INSERT INTO asked SELECT format('zip = %L AND education = %L AND occupation = %L', zip, education, occupation) FROM loaded WHERE id % 1000 = 500 LIMIT 1;
    INSERT INTO asked VALUES ('age = 3 AND education = ''education 1'''), ('zip = ''99999''');
END
$$;
SELECT rpad(condition, 46) || ' ' || rpad(found::text, 8) || ' ' || rpad(logical::text, 12) || ' ' || rpad(stored::text, 12) || ' ' || round(logical / stored, 1)
FROM (SELECT condition, rows_of('SELECT count(*) FROM stored_loaded WHERE ' || condition) AS found,
    median_ms('SELECT count(other) FROM view_loaded WHERE ' || condition, greatest(1, :rounds / 2)) AS logical,
    median_ms('SELECT count(other) FROM stored_loaded WHERE ' || condition, :rounds) AS stored FROM asked) AS q;
