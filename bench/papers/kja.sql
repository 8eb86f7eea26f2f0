-- The functions of kja.sh: they measure releases, and store the results in tables.
SET client_min_messages = warning;

CREATE TABLE bench_default (data text, mt int, ratio int, k int, d int);
CREATE TABLE bench_result (data text, what text, value int, algorithm text, method text, ncp float8, dm float8, error float8, ms float8);
CREATE TABLE bench_boxes (grp int, sg int, members float8, own float8, box kanon.generalized[]);

-- The microdata is the first rows of the public table: rows are independent.
CREATE PROCEDURE bench_uni(mt int, ratio int) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM setseed(0.123);
    CREATE TABLE uni AS SELECT i AS id, random() AS c1, random() AS c2, random() AS c3, random() AS c4, random() AS c5, random() AS c6
        FROM generate_series(1, mt * ratio) AS i;
    CREATE TABLE skew AS SELECT id, c1 ^ 4 AS c1, c2 ^ 4 AS c2, c3 ^ 4 AS c3, c4 ^ 4 AS c4, c5 ^ 4 AS c5, c6 ^ 4 AS c6 FROM uni;
    ANALYZE uni, skew;
END
$$;

CREATE PROCEDURE bench_adult() LANGUAGE plpgsql AS $$
BEGIN
    PERFORM setseed(0.123);
    CREATE TABLE mixed AS SELECT row_number() OVER (ORDER BY random()) AS number, * FROM adult;
    ALTER TABLE mixed DROP COLUMN id;
    ALTER TABLE mixed RENAME COLUMN number TO id;
END
$$;

CREATE FUNCTION bench_columns(data text, d int) RETURNS jsonb LANGUAGE sql AS $$
    SELECT CASE WHEN data <> 'Adult' THEN (SELECT jsonb_object_agg('c' || i, NULL) FROM generate_series(1, d) AS i)
        ELSE (SELECT jsonb_object_agg(name, name) FROM kanon.dgh) END
$$;

CREATE FUNCTION bench_source(data text, rows int) RETURNS text LANGUAGE sql AS $$
    SELECT format('SELECT * FROM %s WHERE id <= %s', CASE data WHEN 'Adult' THEN 'mixed' ELSE lower(data) END, rows)
$$;

-- The release as a query giving id, grp, box, and for KJA in_source and sg.
CREATE FUNCTION bench_release(s bench_default, algorithm text, method text) RETURNS text LANGUAGE sql AS $$
    SELECT CASE method
        WHEN 'conventional' THEN format('SELECT *, true AS in_source, grp AS sg FROM kanon.%s(%L, ''id'', %L, %s)',
            algorithm, bench_source(s.data, s.mt), bench_columns(s.data, s.d), s.k)
        ELSE format('SELECT * FROM kanon.kja(%L, %L, ''id'', %L, %s, %L, %L)', bench_source(s.data, s.mt),
            bench_source(s.data, s.mt * s.ratio), bench_columns(s.data, s.d), s.k, algorithm, method) END
$$;

-- The settings with one of them replaced.
CREATE FUNCTION bench_setting(s bench_default, what text, value int) RETURNS bench_default LANGUAGE sql AS $$
    SELECT (s.data, s.mt, CASE what WHEN 'ratio' THEN value ELSE s.ratio END, CASE what WHEN 'k' THEN value ELSE s.k END,
        CASE what WHEN 'd' THEN value ELSE s.d END)::bench_default
$$;

CREATE PROCEDURE bench_sweep(data text, what text, list int[]) LANGUAGE plpgsql AS $$
DECLARE
    s bench_default;
    quality record;
    algorithm text;
    method text;
    start timestamptz;
BEGIN
    FOR i IN 1..cardinality(list) LOOP
        SELECT (bench_setting(b, what, list[i])).* INTO s FROM bench_default AS b WHERE b.data = bench_sweep.data;
        FOREACH algorithm IN ARRAY ARRAY['mondrian', 'topdown'] LOOP
            FOREACH method IN ARRAY ARRAY['conventional', 'direct', 'refinement'] LOOP
                start := clock_timestamp();
                SELECT * INTO quality FROM kanon.release_quality(bench_source(s.data, s.mt), 'id', bench_columns(s.data, s.d),
                    bench_release(s, algorithm, method));
                INSERT INTO bench_result VALUES (data, what, list[i], algorithm, method, 100 * quality.ncp_normalized, quality.dm / s.mt, NULL,
                    1000 * extract(epoch FROM clock_timestamp() - start));
            END LOOP;
        END LOOP;
        COMMIT;
    END LOOP;
END
$$;

CREATE FUNCTION bench_loss(data text, what text)
RETURNS TABLE (value int, algorithm text, ncp numeric, ncp_direct numeric, ncp_refined numeric, ncp_gain_direct text, ncp_gain_refined text,
    dm numeric, dm_direct numeric, dm_refined numeric) LANGUAGE sql AS $$
    SELECT c.value, c.algorithm, round(c.ncp::numeric, 2), round(d.ncp::numeric, 2), round(r.ncp::numeric, 2),
        round((c.ncp / d.ncp)::numeric, 2) || 'x', round((c.ncp / r.ncp)::numeric, 2) || 'x',
        round(c.dm::numeric, 1), round(d.dm::numeric, 1), round(r.dm::numeric, 1)
    FROM bench_result AS c JOIN bench_result AS d USING (data, what, value, algorithm) JOIN bench_result AS r USING (data, what, value, algorithm)
    WHERE c.method = 'conventional' AND d.method = 'direct' AND r.method = 'refinement' AND c.error IS NULL AND d.error IS NULL AND r.error IS NULL
        AND c.data = bench_loss.data AND c.what = bench_loss.what
    ORDER BY c.algorithm, c.value
$$;

-- Ranges of so many percent of the space, and how many microdata rows are in each; from 10 on they are asked for.
CREATE FUNCTION bench_queries(percent int, s bench_default) RETURNS TABLE (lo numeric[], hi numeric[], actual bigint) LANGUAGE plpgsql AS $$
DECLARE
    side numeric := power(percent / 100.0, 1.0 / s.d);
    conditions text := 'true';
BEGIN
    PERFORM setseed(0.77);
    FOR i IN 1..s.d LOOP
        conditions := conditions || format(' AND c%1$s >= q.lo[%1$s] AND c%1$s < q.hi[%1$s]', i);
    END LOOP;
    RETURN QUERY EXECUTE format('WITH q AS MATERIALIZED (SELECT ARRAY(SELECT (random() * (1 - $1))::numeric FROM generate_series(1, $2) WHERE n > 0) AS lo, n
            FROM generate_series(1, 100) AS n),
        r AS MATERIALIZED (SELECT lo, ARRAY(SELECT x + $1 FROM unnest(lo) AS x) AS hi FROM q)
        SELECT q.lo, q.hi, (SELECT count(*) FROM (%s) AS mt WHERE %s) FROM r AS q', bench_source(s.data, s.mt), conditions)
    USING side, s.d;
END
$$;

-- kanon.kja_count over the groups of a release, for all ranges at once.
CREATE PROCEDURE bench_errors(data text, what text, list int[]) LANGUAGE plpgsql AS $$
DECLARE
    s bench_default;
    algorithm text;
    method text;
    mean float8;
BEGIN
    FOR i IN 1..cardinality(list) LOOP
        SELECT (bench_setting(b, what, list[i])).* INTO s FROM bench_default AS b WHERE b.data = bench_errors.data;
        FOREACH algorithm IN ARRAY ARRAY['mondrian', 'topdown'] LOOP
            FOREACH method IN ARRAY ARRAY['conventional', 'direct', 'refinement'] LOOP
                IF what <> 'range' OR i = 1 THEN
                    EXECUTE format('CREATE TABLE bench_boxes_%s_%s AS SELECT grp, sg, count(*) AS members, count(*) FILTER (WHERE in_source) AS own, box
                        FROM (%s) AS release GROUP BY grp, sg, box', algorithm, method, bench_release(s, algorithm, method));
                END IF;
                EXECUTE format('WITH sensitive AS MATERIALIZED (SELECT sg, sum(own) / sum(members) AS share FROM bench_boxes_%1$s_%2$s GROUP BY sg),
                    boxes AS MATERIALIZED (SELECT b.box, b.members * s.share AS weight FROM bench_boxes_%1$s_%2$s AS b JOIN sensitive AS s USING (sg))
                    SELECT avg(abs(actual - estimate) / actual) FROM (SELECT q.actual,
                        (SELECT sum(weight * kanon.box_share(box, q.lo, q.hi)) FROM boxes) AS estimate FROM bench_queries($1, $2) AS q) AS e
                    WHERE actual >= 10', algorithm, method)
                INTO mean USING CASE what WHEN 'range' THEN list[i] ELSE 10 END, s;
                INSERT INTO bench_result VALUES (data, 'error by ' || what, list[i], algorithm, method, NULL, NULL, 100 * mean, NULL);
                IF what <> 'range' OR i = cardinality(list) THEN
                    EXECUTE format('DROP TABLE bench_boxes_%s_%s', algorithm, method);
                END IF;
            END LOOP;
        END LOOP;
        COMMIT;
    END LOOP;
END
$$;

CREATE FUNCTION bench_error(data text, what text)
RETURNS TABLE (value int, algorithm text, conventional numeric, direct numeric, refined numeric) LANGUAGE sql AS $$
    SELECT value, algorithm, round(max(error) FILTER (WHERE method = 'conventional')::numeric, 2),
        round(max(error) FILTER (WHERE method = 'direct')::numeric, 2), round(max(error) FILTER (WHERE method = 'refinement')::numeric, 2)
    FROM bench_result WHERE bench_result.data = bench_error.data AND bench_result.what = 'error by ' || bench_error.what
    GROUP BY value, algorithm ORDER BY algorithm, value
$$;
