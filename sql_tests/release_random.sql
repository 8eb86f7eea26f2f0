-- Randomly made tables of 1 to 20 columns of all kinds: groups are checked by
-- plain SQL, Mondrian's against an implementation by other means.
\set dir `echo "$PG_ABS_SRCDIR"`
\set random :dir '/data/random.sql'
\i :random
SET client_min_messages = warning;
SELECT kanon.import_dgh('town', '{"a;A;*","b;A;*","c;A;*","d;B;*","e;B;*","f;C;*"}');

-- A table with n rows; a column's kind goes with its number.
CREATE FUNCTION make_table(name text, n int, d int) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    kinds text[] := ARRAY['(next_random() * 5)::int', 'next_random()',
        '(date ''2000-01-01'' + (next_random() * 900)::int)',
        'substr(''abcdefx'', 1 + floor(next_random() * 7)::int, 1)', '7', '(next_random() * 3)::int::numeric / 3',
        'CASE WHEN next_random() < 0.7 THEN (next_random() * 50)::int END',
        'CASE WHEN next_random() < 0.8 THEN substr(''pqr'', 1 + floor(next_random() * 3)::int, 1) END'];
    columns text := '';
    quasi_ids jsonb := '{}';
BEGIN
    FOR i IN 1..d LOOP
        columns := columns || format(', %s AS c%s', kinds[1 + (i + n) % 8], i);
        quasi_ids := quasi_ids || jsonb_build_object('c' || i, CASE WHEN (i + n) % 8 = 3 THEN 'town' END);
    END LOOP;
    EXECUTE format('DROP TABLE IF EXISTS %I', name);
    EXECUTE format('CREATE TABLE %I AS SELECT i AS id%s, CASE
        WHEN next_random() < 0.9 THEN (next_random() * 3)::int END AS v
        FROM generate_series(1, %s) AS i', name, columns, n);
    RETURN quasi_ids;
END
$$;

-- Rows of the release "found" whose box does not cover their values in table t.
CREATE FUNCTION uncovered(d int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    conditions text := 'true';
    result bigint;
BEGIN
    FOR i IN 1..d LOOP
        conditions := conditions || format(' AND CASE WHEN t.c%1$s IS NULL THEN box[%1$s] IS NULL '
            'OR box[%1$s]::text = ''*''
            ELSE (box[%1$s] = t.c%1$s) IS TRUE END', i);
    END LOOP;
    EXECUTE format('SELECT count(*) FROM found JOIN t ON t.id::text = found.id WHERE NOT (%s)', conditions) INTO result;
    RETURN result;
END
$$;

CREATE TABLE found (id text, in_source bool DEFAULT true, grp int, sg int, box kanon.generalized[]);
CREATE TABLE again (LIKE found INCLUDING DEFAULTS);
CREATE TABLE tally (what text, tried int, wrong bigint);

CREATE FUNCTION note(what text, wrong bigint) RETURNS void LANGUAGE sql AS
    'INSERT INTO tally VALUES (what, 1, wrong)';

-- Check the promises of every release by grouping, for the rows of t.
CREATE FUNCTION check_groups(what text, k int, l int, d int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note(what || ': every row once',
        (SELECT count(*) FROM (SELECT id::text FROM t) AS t FULL JOIN (SELECT id FROM found WHERE in_source) AS f
            USING (id)
         WHERE t.id IS NULL OR f.id IS NULL) + (SELECT count(*) - count(DISTINCT id) FROM found));
    PERFORM note(what || ': groups of k',
        (SELECT count(*) FROM (SELECT FROM found GROUP BY grp HAVING count(*) < k) AS s));
    PERFORM note(what || ': one box per group',
        (SELECT count(*) FROM (SELECT FROM found GROUP BY grp HAVING count(DISTINCT box::text) > 1) AS s));
    PERFORM note(what || ': numbered from 1', (SELECT max(grp) - count(DISTINCT grp) FROM found));
    PERFORM note(what || ': rows in their boxes', uncovered(d));
    IF l IS NOT NULL THEN
        PERFORM note(what || ': l values', (SELECT count(*) FROM (SELECT FROM found JOIN t ON t.id::text = found.id
            GROUP BY grp HAVING count(DISTINCT v) < l) AS s));
    END IF;
END
$$;

-- Mondrian as it is defined, row set by row set.
CREATE FUNCTION oracle(ids int[], turn int, k int, l int, d int) RETURNS SETOF int[] LANGUAGE plpgsql AS $$
DECLARE
    n int := cardinality(ids);
    parts int[][];
    cut record;
    side record;
BEGIN
    FOR i IN 0..d - 1 LOOP
        FOR cut IN EXECUTE format(
            'WITH s AS (SELECT id, rank() OVER (ORDER BY c%1$s NULLS LAST) AS low, cume_dist() OVER (ORDER BY c%1$s
                NULLS LAST) AS upto,
                 row_number() OVER (ORDER BY c%1$s NULLS LAST) AS place FROM ordered WHERE id = ANY ($1)),
             middle AS (SELECT low - 1 AS below, round(upto * $2)::int AS notabove FROM s WHERE place = $2 / 2 + 1)
             SELECT c.size, (SELECT array_agg(id) FROM s WHERE low <= c.size) AS lower, (SELECT array_agg(id) FROM s
                 WHERE low > c.size) AS upper
             FROM (SELECT below AS size, 1 AS prio FROM middle UNION ALL SELECT notabove, 2 FROM middle) AS c
             WHERE c.size >= $3 AND $2 - c.size >= $3 ORDER BY abs(2 * c.size - $2), prio', (turn + i) % d + 1)
            USING ids, n, k
        LOOP
            SELECT count(DISTINCT v) FILTER (WHERE id = ANY (cut.lower)) AS lower,
                count(DISTINCT v) FILTER (WHERE id = ANY (cut.upper)) AS upper
            INTO side FROM t;
            IF l IS NULL OR (side.lower >= l AND side.upper >= l) THEN
                RETURN QUERY SELECT * FROM oracle(cut.lower, (turn + i + 1) % d, k, l, d);
                RETURN QUERY SELECT * FROM oracle(cut.upper, (turn + i + 1) % d, k, l, d);
                RETURN;
            END IF;
        END LOOP;
    END LOOP;
    RETURN NEXT ids;
END
$$;

-- t with words replaced by their places: the order in which Mondrian sees them.
CREATE FUNCTION make_ordered(quasi_ids jsonb, d int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    columns text := '';
BEGIN
    FOR i IN 1..d LOOP
        columns := columns || CASE WHEN quasi_ids ->> ('c'
            || i) = 'town' THEN format(', strpos(''abcdefx'', c%1$s) AS c%1$s', i)
            WHEN (SELECT atttypid = 'text'::regtype FROM pg_attribute WHERE attrelid = 't'::regclass AND attname = 'c'
                || i)
            THEN format(', c%1$s COLLATE "C" AS c%1$s', i) ELSE format(', c%s', i) END;
    END LOOP;
    DROP TABLE IF EXISTS ordered;
    EXECUTE 'CREATE TABLE ordered AS SELECT id' || columns || ' FROM t';
END
$$;

DO $$
DECLARE
    quasi_ids jsonb;
    n int;
    d int;
    k int;
    l int;
BEGIN
    PERFORM seed_random(42);
    FOR round IN 1..40 LOOP
        n := 1 + (next_random() * CASE WHEN round % 3 = 0 THEN 12 ELSE 150 END)::int;
        d := CASE round % 4 WHEN 0 THEN 20 WHEN 1 THEN 1 ELSE 1 + (next_random() * 7)::int END;
        k := CASE round % 5 WHEN 0 THEN n WHEN 1 THEN 1 ELSE 1 + (next_random() * least(n - 1, 12))::int END;
        quasi_ids := make_table('t', n, d);
        l := CASE WHEN round % 2 = 0 THEN least(2, (SELECT count(DISTINCT v) FROM t)) END;
        l := nullif(l, 0);

        TRUNCATE found;
        INSERT INTO found (id, grp, box) SELECT *
            FROM kanon.mondrian('t', 'id', quasi_ids, k, CASE WHEN l > 0 THEN 'v' END, l);
        PERFORM check_groups('mondrian', k, l, d);
        -- The same for every order of rows.
        TRUNCATE again;
        INSERT INTO again (id, grp, box)
        SELECT * FROM kanon.mondrian('SELECT * FROM t ORDER BY md5(id::text)', 'id', quasi_ids, k,
            CASE WHEN l > 0 THEN 'v' END, l);
        PERFORM note('mondrian: any order of rows', (SELECT count(*) FROM found JOIN again USING (id)
            WHERE (found.grp, found.box::text) IS DISTINCT FROM (again.grp, again.box::text)));
        IF n <= 80 OR round % 10 = 7 THEN
            PERFORM make_ordered(quasi_ids, d);
            PERFORM note('mondrian: as defined', (SELECT count(*) FROM
                (SELECT array_agg(id::int ORDER BY id::int) AS ids FROM found GROUP BY grp) AS f
                FULL JOIN (SELECT ARRAY(SELECT i FROM unnest(o) AS i ORDER BY i) AS ids
                           FROM oracle((SELECT array_agg(id) FROM t), 0, k, l, d) AS o) AS o USING (ids)
                WHERE f.ids IS NULL OR o.ids IS NULL));
        END IF;

        TRUNCATE found;
        INSERT INTO found (id, grp, box) SELECT *
            FROM kanon.mondrian('t', 'id', quasi_ids, k, CASE WHEN l > 0 THEN 'v' END, l, 'gain');
        PERFORM check_groups('mondrian by gain', k, l, d);

        TRUNCATE found;
        INSERT INTO found (id, grp, box) SELECT *
            FROM kanon.topdown('t', 'id', quasi_ids, k, CASE WHEN l > 0 THEN 'v' END, l, round);
        PERFORM check_groups('topdown', k, l, d);
        TRUNCATE again;
        INSERT INTO again (id, grp, box)
        SELECT * FROM kanon.topdown('SELECT * FROM t ORDER BY md5(id::text)', 'id', quasi_ids, k,
            CASE WHEN l > 0 THEN 'v' END, l, round);
        PERFORM note('topdown: any order of rows', (SELECT count(*) FROM found JOIN again USING (id)
            WHERE (found.grp, found.box::text) IS DISTINCT FROM (again.grp, again.box::text)));

        TRUNCATE found;
        INSERT INTO found (id, grp, box) SELECT *
            FROM kanon.local_recoding('t', 'id', quasi_ids, k, CASE WHEN l > 0 THEN 'v' END, l,
            CASE WHEN round % 2 = 0 THEN 8192 ELSE 30 END);
        PERFORM check_groups('local recoding', k, l, d);
        TRUNCATE again;
        INSERT INTO again (id, grp, box) SELECT * FROM kanon.local_recoding('SELECT * FROM t ORDER BY md5(id::text)',
            'id', quasi_ids, k,
            CASE WHEN l > 0 THEN 'v' END, l, CASE WHEN round % 2 = 0 THEN 8192 ELSE 30 END);
        PERFORM note('local recoding: any order of rows', (SELECT count(*) FROM found JOIN again USING (id)
            WHERE (found.grp, found.box::text) IS DISTINCT FROM (again.grp, again.box::text)));
    END LOOP;
END
$$;
SELECT what, sum(tried) AS tried, sum(wrong) AS wrong FROM tally GROUP BY what ORDER BY what COLLATE "C";
