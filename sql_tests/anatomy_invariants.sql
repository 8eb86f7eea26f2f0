-- Random taxonomies and distributions: every grouping keeps its promises, against oracles in plain SQL.
\set dir `echo "$PG_ABS_SRCDIR"`
\set random :dir '/data/random.sql'
\i :random
SET client_min_messages = warning;
SELECT seed_random(6);

CREATE TABLE node (id integer PRIMARY KEY, parent integer, depth integer);
CREATE TABLE row_of (id integer, sick text);
-- Every node with each of its ancestors, how far up that is, and on which level.
CREATE TABLE above (node text, ancestor integer, steps integer, depth integer);
-- The key that a row's group must not hold twice: the value itself, or from n = 2 on its ancestor n - 1 levels above
-- the first level that holds a value of the table.
CREATE TABLE key_for (n integer, id integer, key integer);

CREATE FUNCTION fill_oracle() RETURNS void LANGUAGE sql AS $$
    TRUNCATE above, key_for;
    WITH RECURSIVE climb (node, ancestor, steps) AS (
        SELECT id, id, 0 FROM node
        UNION ALL
        SELECT c.node, n.parent, c.steps + 1 FROM climb AS c JOIN node AS n ON n.id = c.ancestor
            WHERE n.parent IS NOT NULL)
    INSERT INTO above SELECT 'v' || c.node, c.ancestor, c.steps, n.depth FROM climb AS c
        JOIN node AS n ON n.id = c.ancestor;
    INSERT INTO key_for
    SELECT n, r.id, a.ancestor
    FROM (SELECT min(a.depth) AS depth FROM row_of JOIN above AS a ON node = sick AND steps = 0) AS first,
        generate_series(1, first.depth + 1) AS n, row_of AS r JOIN above AS a ON a.node = r.sick
    WHERE CASE n WHEN 1 THEN a.steps = 0 ELSE a.depth = first.depth - (n - 1) END;
$$;

-- A tree of so many nodes below its root, 0, and rows with values from that depth on, in the whole tree or at
-- its leaves, some of them frequent.
CREATE FUNCTION new_case(nodes integer, nrows integer, least_depth integer, leaves_only boolean) RETURNS void
    LANGUAGE plpgsql AS $$
DECLARE
    choice integer[];
    up integer;
BEGIN
    TRUNCATE node, row_of;
    DELETE FROM kanon.dgh WHERE name = 'random';
    INSERT INTO node VALUES (0, NULL, 0);
    FOR i IN 1 .. nodes LOOP
        up := CASE WHEN i <= 2 + nodes % 4 THEN 0 ELSE floor(i * next_random() * 0.6) END;
        INSERT INTO node SELECT i, id, depth + 1 FROM node WHERE id = up;
    END LOOP;
    PERFORM kanon.create_dgh('random');
    INSERT INTO kanon.dgh_edge SELECT 'random', 'v' || id, CASE parent WHEN 0 THEN '*' ELSE 'v' || parent END FROM node
        WHERE id > 0;
    up := floor(next_random() * 1000000);
    choice := ARRAY(SELECT id FROM node AS n
        WHERE depth >= least(least_depth, (SELECT max(depth) FROM node))
            AND (NOT leaves_only OR NOT EXISTS (SELECT FROM node AS c WHERE c.parent = n.id))
        ORDER BY hashint4(id + up), id);
    FOR i IN 1 .. nrows LOOP
        INSERT INTO row_of VALUES (i, 'v'
            || choice[1 + floor(power(next_random(), 1 + 0.4 * (nodes % 2)) * cardinality(choice))::integer]);
    END LOOP;
    PERFORM fill_oracle();
END
$$;

-- The largest l and n by brute force: all ways to split seven rows into groups.
CREATE TABLE partition AS
    WITH RECURSIVE grow (blocks) AS (
        SELECT '{1}'::integer[]
        UNION ALL
        SELECT blocks || b FROM grow, LATERAL generate_series(1, (SELECT max(x) + 1 FROM unnest(blocks) AS x)) AS b
            WHERE cardinality(blocks) < 7)
    SELECT row_number() OVER () AS number, blocks FROM grow WHERE cardinality(blocks) = 7;
CREATE TABLE block AS SELECT number, block, id::integer FROM partition, unnest(blocks) WITH ORDINALITY AS b (block, id);
SELECT count(*) FROM partition;
CREATE FUNCTION largest_l(n integer) RETURNS bigint LANGUAGE sql AS $$
    SELECT coalesce(max(smallest), 0) FROM (
        SELECT min(size) AS smallest FROM (
            SELECT number, count(*) AS size, count(DISTINCT key) AS keys
            FROM block JOIN key_for AS k USING (id) WHERE k.n = largest_l.n GROUP BY number, block) AS g
        GROUP BY number HAVING bool_and(size = keys)) AS p
$$;

DO $$
DECLARE
    found integer;
    most integer;
    cases integer := 0;
    wrong integer := 0;
    by_n integer[] := '{0,0,0,0,0,0}';
    largest bigint[];
BEGIN
    FOR i IN 1 .. 32 LOOP
        PERFORM new_case(20 + 2 * (i % 12), 7, 1 + i % 4, i % 2 = 0);
        largest := ARRAY(SELECT largest_l(n) FROM generate_series(1, (SELECT max(n) FROM key_for)) AS n);
        FOR l IN 2 .. 7 LOOP
            found := kanon.find_max_n('row_of', 'sick', 'random', l);
            SELECT coalesce(max(n), 0) INTO most FROM unnest(largest) WITH ORDINALITY AS f (largest, n)
                WHERE f.largest >= l;
            cases := cases + 1;
            by_n[most + 1] := by_n[most + 1] + 1;
            IF found <> most THEN
                wrong := wrong + 1;
            END IF;
        END LOOP;
    END LOOP;
    RAISE WARNING 'brute force: % cases, % wrong, with largest n of 0 to 3: %', cases, wrong, by_n[1:4];
    IF by_n[2] = 0 OR by_n[3] = 0 OR by_n[4] = 0 THEN
        RAISE EXCEPTION 'the cases do not try what they should';
    END IF;
END
$$;

-- Which rules a grouping breaks: each row once, groups of l rows, different values through all generalizations
-- up to n - 1, counted as the paper does and also from each value itself.
CREATE FUNCTION broken(l integer, n integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    broken text := '';
BEGIN
    IF (SELECT count(*) FROM grouped) <> (SELECT count(*) FROM row_of)
        OR EXISTS (SELECT FROM row_of AS r LEFT JOIN grouped AS g ON g.id = r.id::text AND g.sensitive = r.sick
            WHERE g.id IS NULL) THEN
        broken := broken || ' rows';
    END IF;
    IF EXISTS (SELECT FROM grouped GROUP BY grp HAVING count(*) < l)
        OR (SELECT count(DISTINCT grp) FROM grouped) <> (SELECT count(*) / l FROM row_of) THEN
        broken := broken || ' size';
    END IF;
    FOR i IN 1 .. n LOOP
        IF EXISTS (SELECT FROM grouped AS g JOIN key_for AS k ON k.n = i AND k.id::text = g.id GROUP BY grp
            HAVING count(*) <> count(DISTINCT key)) THEN
            broken := broken || ' n' || i;
        END IF;
        IF EXISTS (SELECT FROM grouped AS g JOIN above AS a ON a.node = g.sensitive AND a.steps = i - 1 GROUP BY grp
            HAVING count(*) <> count(DISTINCT a.ancestor)) THEN
            broken := broken || ' literally' || i;
        END IF;
    END LOOP;
    RETURN nullif(broken, '');
END
$$;

CREATE TABLE grouped (id text, grp integer, sensitive text, general text);

DO $$
DECLARE
    most integer;
    hinted integer;
    hint text;
    problem text;
    groupings integer := 0;
    refused integer := 0;
    uneven integer := 0;
    higher integer := 0;
BEGIN
    FOR i IN 1 .. 32 LOOP
        PERFORM new_case(15 + 2 * (i % 30), 20 + 7 * (i % 30), 1 + i % 4, i % 2 = 0);
        FOR l IN 2 .. 6 LOOP
            most := kanon.find_max_n('row_of', 'sick', 'random', l);
            higher := higher + (most > 1)::integer;
            DELETE FROM grouped;
            IF most > 0 THEN
                -- Plain anatomy promises n = 1.
                INSERT INTO grouped SELECT * FROM kanon.anatomy('row_of', 'id', 'sick', l, i);
                problem := broken(l, 1);
                IF problem IS NOT NULL THEN
                    RAISE EXCEPTION 'anatomy, case %, l %:%', i, l, problem;
                END IF;
                groupings := groupings + 1;
            ELSE
                -- The largest l that the message names works, the next one does not.
                BEGIN
                    PERFORM kanon.anatomy('row_of', 'id', 'sick', l, i);
                    RAISE EXCEPTION 'anatomy, case %, l %: not refused', i, l;
                EXCEPTION WHEN invalid_parameter_value THEN
                    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
                END;
                hinted := substring(hint FROM 'largest l that works is (\d+)');
                IF coalesce(hinted, 1) >= l OR hinted IS NOT NULL AND kanon.find_max_n('row_of', 'sick', 'random',
                    hinted) = 0
                    OR kanon.find_max_n('row_of', 'sick', 'random', coalesce(hinted, 1) + 1) > 0 THEN
                    RAISE EXCEPTION 'anatomy, case %, l %: %', i, l, hint;
                END IF;
                refused := refused + 1;
            END IF;
            FOR n IN 1 .. most LOOP
                DELETE FROM grouped;
                INSERT INTO grouped SELECT * FROM kanon.n_dependency('row_of', 'id', 'sick', 'random', l, n, i);
                problem := broken(l, n);
                IF problem IS NOT NULL THEN
                    RAISE EXCEPTION 'case %, l %, n %:%', i, l, n, problem;
                END IF;
                groupings := groupings + 1;
            END LOOP;
            BEGIN
                PERFORM kanon.n_dependency('row_of', 'id', 'sick', 'random', l, most + 1, i);
                RAISE EXCEPTION 'case %, l %, n %: not refused', i, l, most + 1;
            EXCEPTION WHEN invalid_parameter_value THEN
                refused := refused + 1;
            END;
        END LOOP;
        uneven := uneven + (SELECT (count(DISTINCT depth) > 1)::integer FROM row_of JOIN above ON node = sick
            AND steps = 0);
    END LOOP;
    RAISE WARNING '% groupings hold, % refused rightly; % with values on several levels, % with n above 1', groupings,
        refused, uneven, higher;
END
$$;

-- The share of n-dependent groups is never below plain anatomy's.
DO $$
DECLARE
    most integer;
    ours float8;
    plain float8;
    cases integer := 0;
    below integer := 0;
    above integer := 0;
BEGIN
    FOR i IN 1 .. 16 LOOP
        PERFORM new_case(20 + i, 100 + 10 * i, 2 + i % 3, true);
        FOR l IN 2 .. 5 LOOP
            most := kanon.find_max_n('row_of', 'sick', 'random', l);
            FOR n IN 1 .. most LOOP
                SELECT avg((error = 0)::integer) INTO ours FROM kanon.diversity_error('row_of', 'id', 'sick', 'random',
                    format('SELECT id, grp FROM kanon.n_dependency(''row_of'', ''id'', ''sick'', ''random'', %s, seed '
                        '=> %s)', l, i), n - 1);
                SELECT avg((error = 0)::integer) INTO plain FROM kanon.diversity_error('row_of', 'id', 'sick', 'random',
                    format('SELECT id, grp FROM kanon.anatomy(''row_of'', ''id'', ''sick'', %s, %s)', l, i), n - 1);
                cases := cases + 1;
                below := below + (ours < plain OR ours < 1)::integer;
                above := above + (ours > plain)::integer;
            END LOOP;
        END LOOP;
    END LOOP;
    RAISE WARNING 'of % cases % below anatomy, % above it', cases, below, above;
END
$$;

-- diversity_error against plain SQL, for groups that keep no rule.
DO $$
DECLARE
    cases integer := 0;
    wrong integer := 0;
BEGIN
    FOR i IN 1 .. 24 LOOP
        PERFORM new_case(5 + i, 60, 1 + i % 3, false);
        DELETE FROM grouped;
        INSERT INTO grouped SELECT id, floor(next_random() * 8), sick FROM row_of;
        FOR n IN 0 .. 4 LOOP
            WITH first AS (SELECT min(a.depth) AS depth FROM row_of JOIN above AS a ON node = sick AND steps = 0),
            expected AS (
                SELECT g.grp, count(DISTINCT a.node) AS div0, count(DISTINCT a.ancestor) AS divn
                FROM grouped AS g JOIN above AS a ON a.node = g.sensitive, first
                WHERE CASE WHEN n = 0 THEN a.steps = 0 ELSE a.depth = greatest(first.depth - n, 0) END GROUP BY g.grp)
            SELECT cases + 1, wrong + count(*) INTO cases, wrong
            FROM expected AS e FULL JOIN kanon.diversity_error('row_of', 'id', 'sick', 'random', 'grouped', n) AS d
                USING (grp)
            WHERE (e.div0, e.divn, (e.div0 - e.divn)::float8 / e.div0) IS DISTINCT FROM (d.div0, d.divn, d.error);
        END LOOP;
    END LOOP;
    RAISE WARNING 'diversity_error: % cases, % groups wrong', cases, wrong;
END
$$;
