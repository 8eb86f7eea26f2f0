-- Called by tools/bench after bench/lib.sql, with :rows and :rounds.
\o /dev/null
SELECT set_config('bench.rows', :'rows', false), set_config('bench.rounds', :'rounds', false) \g /dev/null
SELECT draw('few', :rows, 0.01), draw('many', :rows, 0.4), draw('hard', :rows, 0.3) \g /dev/null
CREATE INDEX ON few (other);
CREATE INDEX ON few (age, education, occupation, marital, workclass, race);
CREATE TABLE five AS SELECT id + g * :rows AS id, age, education, marital, occupation, workclass, race, salary FROM few, generate_series(0, 4) AS g;
ALTER TABLE five ADD PRIMARY KEY (id);
VACUUM ANALYZE;
SELECT look('view_' || t, 'SELECT id, age, education, marital, occupation, workclass, race, salary' || CASE t WHEN 'few' THEN ', other' ELSE '' END || ' FROM ' || t,
    '{age,education,marital,occupation,workclass,race}', 5) FROM unnest('{few,many,five}'::text[]) AS t \g /dev/null
SELECT look('view_hard', 'SELECT * FROM hard', '{age,education,marital,occupation,workclass,race,sex,country}', 5) \g /dev/null

-- Information loss of published rows: the share of a hierarchy's leaves that a value covers beyond itself, over rows and columns.
CREATE TABLE leaf (dgh text, label text);
INSERT INTO leaf SELECT d, split_part(line, ';', 1) FROM unnest('{age,education,marital,occupation,workclass,race,sex,country}'::text[]) AS d, kanon.export_dgh(d) AS line;
CREATE FUNCTION loss(view text, columns text[]) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    name text;
    sum float8 := 0;
    one float8;
BEGIN
    FOREACH name IN ARRAY columns LOOP
        EXECUTE format('SELECT sum(rows * greatest((SELECT count(*) FROM leaf WHERE dgh = %2$L AND label = v) - 1, 0)::float8 / ((SELECT count(*) FROM leaf WHERE dgh = %2$L) - 1)) / sum(rows)
            FROM (SELECT %1$I AS v, count(*) AS rows FROM %3$I GROUP BY 1) AS g', name, name, view) INTO one;
        sum := sum + one;
    END LOOP;
    RETURN sum / cardinality(columns);
END
$$;

-- Reading.
INSERT INTO query VALUES
    ('few group', 'SELECT age, education, marital, occupation, workclass, race, count(*) FROM few GROUP BY 1, 2, 3, 4, 5, 6'),
    ('few scan', 'SELECT * FROM few'),
    ('few read', 'SELECT * FROM view_few'),
    ('few aggregate', 'SELECT education, count(*) FROM view_few GROUP BY education'),
    ('many group', 'SELECT age, education, marital, occupation, workclass, race, count(*) FROM many GROUP BY 1, 2, 3, 4, 5, 6'),
    ('many read', 'SELECT * FROM view_many'),
    ('many aggregate', 'SELECT education, count(*) FROM view_many GROUP BY education'),
    ('hard group', 'SELECT age, education, marital, occupation, workclass, race, sex, country, count(*) FROM hard GROUP BY 1, 2, 3, 4, 5, 6, 7, 8'),
    ('hard read', 'SELECT * FROM view_hard');
CALL measure(:rounds);
SELECT put('read', 'distinct combinations, few', (SELECT count(*) FROM (SELECT DISTINCT age, education, marital, occupation, workclass, race FROM few) AS d), '');
SELECT put('read', 'full read / GROUP BY, few combinations', ms('few read') / ms('few group'), 'x', '<= 1.3');
SELECT put('read', 'full read / plain scan, few combinations', ms('few read') / ms('few scan'), 'x');
SELECT put('read', 'aggregate / full read, few combinations', ms('few aggregate') / ms('few read'), 'x', '<= 1.5');
SELECT put('read', 'distinct combinations, many', (SELECT count(*) FROM (SELECT DISTINCT age, education, marital, occupation, workclass, race FROM many) AS d), '');
SELECT put('read', 'full read / GROUP BY, many combinations', ms('many read') / ms('many group'), 'x', '<= 1.5');
SELECT put('read', 'aggregate / full read, many combinations', ms('many aggregate') / ms('many read'), 'x', '<= 1.5');
SELECT put('hard', 'distinct combinations of 8 columns, 30 % of cells redrawn', (SELECT count(*) FROM (SELECT DISTINCT age, education, marital, occupation, workclass, race, sex, country FROM hard) AS d), '');
SELECT put('hard', 'full read', ms('hard read') / 1000, 's', CASE WHEN :rows = 1000000 THEN '<= 3' ELSE '' END);
SELECT put('hard', 'full read / GROUP BY', ms('hard read') / ms('hard group'), 'x', '');
SELECT put('hard', 'normalized NCP', loss('view_hard', '{age,education,marital,occupation,workclass,race,sex,country}'), '');

-- Growth with rows, of one shape.
CREATE TABLE size (rows int);
INSERT INTO size VALUES (:rows / 100), (:rows / 10), (:rows);
DO $$
DECLARE
    n int;
BEGIN
    FOR n IN SELECT rows FROM size LOOP
        PERFORM look('grown_' || n, format('SELECT id, age, education, marital, occupation, workclass, race, salary FROM few WHERE id <= %s', n), '{age,education,marital,occupation,workclass,race}', 5);
        INSERT INTO query VALUES (format('grown %s', n), format('SELECT * FROM grown_%s', n));
    END LOOP;
END
$$;
INSERT INTO query VALUES (format('grown %s', 5 * :rows), 'SELECT * FROM view_five');
INSERT INTO size VALUES (5 * :rows);
CALL measure(least(:rounds, 3));
DO $$
DECLARE
    n int;
BEGIN
    FOR n IN SELECT rows FROM size ORDER BY 1 LOOP
        PERFORM put('growth', format('full read of %s rows, per row', n), 1e6 * ms(format('grown %s', n)) / n, 'ns');
    END LOOP;
END
$$;
SELECT put('growth', 'time per row, largest / a fifth of it', ms(format('grown %s', 5 * :rows)) / ms(format('grown %s', :rows)) / 5, 'x', '<= 1.3');

-- Figures 14 and 15: the two plans over selectivity, and the planner's choice between them.
CREATE TABLE asked (rows int, condition text);
INSERT INTO asked SELECT s, format('other < %s', greatest(s / 10, 1)) FROM unnest('{10,100,1000,10000,100000}'::int[]) AS s WHERE s <= :rows / 10;
INSERT INTO query SELECT format('%s %s', plan, rows), 'SELECT * FROM view_few WHERE ' || condition, jsonb_build_object('kanon.plan', plan)
    FROM asked, unnest('{select_first,anonymize_first,auto}'::text[]) AS plan;
CALL measure(least(:rounds, 3));
DO $$
DECLARE
    n int;
BEGIN
    FOR n IN SELECT rows FROM asked ORDER BY 1 LOOP
        PERFORM put('crossover', format('%s rows: anonymize first / select first', n), ms('anonymize_first ' || n) / ms('select_first ' || n), 'x', CASE WHEN n = 10 AND current_setting('bench.rows')::int = 1000000 THEN '>= 50' ELSE '' END);
        PERFORM put('crossover', format('%s rows: planner''s choice / the better plan', n), ms('auto ' || n) / least(ms('anonymize_first ' || n), ms('select_first ' || n)), 'x', '<= 1.2');
    END LOOP;
END
$$;

-- Figures 11 to 13: blocks, of one k and of many (a tenth of the people asks for 50, the others for 2 to 4).
CREATE TABLE choices AS SELECT id, CASE WHEN id % 10 = 0 THEN 50 ELSE 2 + id % 3 END AS k, 'research'::text AS purpose, 'university'::text AS recipient FROM few WHERE id <= :rows / 5;
ALTER TABLE choices ADD PRIMARY KEY (id);
ANALYZE choices;
SELECT kanon.grant_access(current_user, 'research', 'university') \g /dev/null
SET kanon.purpose = 'research';
SET kanon.recipient = 'university';
DO $$
DECLARE
    n int;
    rows int := current_setting('bench.rows')::int / 5;
    asked text := 'CASE WHEN id % 10 = 0 THEN 50 ELSE 2 + id % 3 END';
    source text := format('SELECT id, age, education, marital, occupation, workclass, race, salary, %s AS asked FROM few WHERE id <= %s', asked, rows);
BEGIN
    FOREACH n IN ARRAY ARRAY [1000, 10000, 0] LOOP
        PERFORM look('single_' || n, source, '{age,education,marital,occupation,workclass,race}', 50, nullif(n, 0));
        PERFORM look('multi_' || n, source, '{age,education,marital,occupation,workclass,race}', 50, nullif(n, 0),
            '{"table": "choices", "key": {"id": "id"}, "k": "k", "purpose": "purpose", "recipient": "recipient"}');
        INSERT INTO query VALUES ('single ' || n, 'SELECT * FROM single_' || n), ('multi ' || n, 'SELECT * FROM multi_' || n);
    END LOOP;
END
$$;
CALL measure(least(:rounds, 3));
-- The paper's k-deviation, per row: how many more share its group than it asked for.  Suppressed rows share nothing.
CREATE FUNCTION deviation(view text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    result float8;
BEGIN
    EXECUTE format('SELECT sum(n::float8 * n - asked) / sum(n) FROM (SELECT count(*) AS n, sum(asked) AS asked FROM %I
        WHERE concat(age, education, marital, occupation, workclass, race) <> ''******'' GROUP BY age, education, marital, occupation, workclass, race) AS g', view) INTO result;
    RETURN result;
END
$$;
DO $$
DECLARE
    n int;
    kind text;
    columns text[] := '{age,education,marital,occupation,workclass,race}';
    size text;
BEGIN
    FOREACH n IN ARRAY ARRAY [1000, 10000, 0] LOOP
        size := CASE n WHEN 0 THEN 'whole' ELSE n::text END;
        FOREACH kind IN ARRAY '{single,multi}'::text[] LOOP
            PERFORM put('blocks', format('%s-k, block %s: full read', kind, size), ms(format('%s %s', kind, n)), 'ms');
            PERFORM put('blocks', format('%s-k, block %s: k-deviation per row', kind, size), deviation(format('%s_%s', kind, n)), '');
            PERFORM put('blocks', format('%s-k, block %s: normalized NCP', kind, size), loss(format('%s_%s', kind, n), columns), '');
        END LOOP;
    END LOOP;
END
$$;

-- Figures 16 and 17: joins with a table by another column, over its size; joins of two views by AVLIKE.
CREATE TABLE visit AS SELECT i AS visit, (i * 7919) % (:rows / 10) AS other FROM generate_series(1, 1000) AS i;
ANALYZE visit;
INSERT INTO query SELECT format('join %s %s', plan, n), format('SELECT * FROM visit JOIN view_few USING (other) WHERE visit <= %s', n), jsonb_build_object('kanon.plan', plan)
    FROM unnest('{1,10,100,1000}'::int[]) AS n, unnest('{select_first,anonymize_first,auto}'::text[]) AS plan;
CREATE TABLE left_side AS SELECT id, age, 1000 + (random() * 8999)::int AS zip FROM few WHERE id <= :rows / 10;
CREATE TABLE right_side AS SELECT id, age, 1000 + (random() * 8999)::int AS zip FROM many WHERE id <= :rows / 100;
ALTER TABLE left_side ADD PRIMARY KEY (id);
ALTER TABLE right_side ADD PRIMARY KEY (id);
ANALYZE left_side, right_side;
SELECT kanon.create_interval_dgh('ages', 0, '{5, 20}'), kanon.create_interval_dgh('zips', 0, '{10, 100, 1000}') \g /dev/null
SELECT kanon.create_anonymization_view('view_' || t, 'SELECT * FROM ' || t, id => '{id}', quasi_ids => '{"age": "ages", "zip": "zips"}', k => 3) FROM unnest('{left_side,right_side}'::text[]) AS t \g /dev/null
INSERT INTO query VALUES
    ('avlike join', 'SELECT count(*) FROM view_left_side l JOIN view_right_side r ON l.age = r.age AND l.zip = r.zip'),
    ('left', 'SELECT * FROM view_left_side'), ('right', 'SELECT * FROM view_right_side'),
    ('hash join', 'SELECT count(*) FROM left_side l JOIN right_side r ON l.age = r.age AND l.zip = r.zip');
CALL measure(least(:rounds, 3));
DO $$
DECLARE
    n int;
BEGIN
    FOREACH n IN ARRAY '{1,10,100,1000}'::int[] LOOP
        PERFORM put('join', format('with %s rows by a column: anonymize first / select first', n), ms('join anonymize_first ' || n) / ms('join select_first ' || n), 'x');
        PERFORM put('join', format('with %s rows by a column: planner''s choice / the better plan', n), ms('join auto ' || n) / least(ms('join anonymize_first ' || n), ms('join select_first ' || n)), 'x', '<= 1.2');
    END LOOP;
END
$$;
SELECT put('join', format('by AVLIKE, %s x %s rows / hash join of raw columns and both reads', :rows / 10, :rows / 100), ms('avlike join') / (ms('hash join') + ms('left') + ms('right')), 'x', '<= 5');

-- Releases, beside a sort of the same rows.
CREATE TABLE released AS SELECT * FROM few WHERE id <= :rows / 50;
CREATE TABLE point AS SELECT id, random() * 100 AS a, random() * 10 AS b, age::float8 AS c FROM few WHERE id <= :rows / 500;
ANALYZE released, point;
INSERT INTO query VALUES
    ('sort', 'SELECT * FROM released ORDER BY age, education, marital, occupation, workclass, race, id'),
    ('sort points', 'SELECT * FROM point ORDER BY a, b, c'),
    ('mondrian', $q$SELECT * FROM kanon.mondrian('released', 'id', '{"age": "age", "education": "education", "occupation": "occupation"}', 5)$q$),
    ('local_recoding', $q$SELECT * FROM kanon.local_recoding('released', 'id', '{"age": "age", "education": "education", "occupation": "occupation"}', 5)$q$),
    ('kja', $q$SELECT * FROM kanon.kja('SELECT * FROM released WHERE id % 10 = 0', 'released', 'id', '{"age": "age", "education": "education", "occupation": "occupation"}', 5)$q$),
    ('anatomy', $q$SELECT * FROM kanon.anatomy('SELECT id, occupation FROM released', 'id', 'occupation', 3)$q$),
    ('topdown', $q$SELECT * FROM kanon.topdown('SELECT * FROM released WHERE id % 10 = 0', 'id', '{"age": "age", "education": "education"}', 5)$q$),
    ('uncertain', $q$SELECT * FROM kanon.uncertain('point', 'id', '{a,b,c}', 10)$q$),
    ('condense', $q$SELECT * FROM kanon.condense('point', 'id', '{a,b,c}', 10)$q$);
CALL measure(least(:rounds, 3));
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY '{mondrian,local_recoding,kja,anatomy,topdown,uncertain,condense}'::text[] LOOP
        PERFORM put('release', name || ' / sort of the same rows', ms(name) / ms(CASE WHEN name IN ('uncertain', 'condense') THEN 'sort points' ELSE 'sort' END), 'x');
    END LOOP;
END
$$;
