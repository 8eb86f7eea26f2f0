-- The downcoding attack: what an attacker who knows the algorithm learns beyond the published values.
SET kanon.measure_views = off;
CREATE TABLE people (id int PRIMARY KEY, age int, illness text);
INSERT INTO people SELECT 2 * age + twin, age, 'flu' FROM generate_series(20, 27) age, generate_series(0, 1) twin
    UNION ALL VALUES (90, 28, 'mumps'), (91, 29, 'gout');
SELECT kanon.create_interval_dgh('ages', 0, '{10}');
SELECT kanon.create_anonymization_view('by_age', 'SELECT * FROM people', id => '{id}', quasi_ids => '{"age": "ages"}',
    sensitive => '{"illness": null}', k => 2);
-- With k = 2, eight ages are shown exactly and two rows as [20,30): they are 28 and 29 for certain.
SELECT age, count(*) FROM by_age GROUP BY age ORDER BY age::text;
SELECT * FROM kanon.downcoding('by_age');
-- At a level that is fixed beforehand, nobody's age is known better than it is shown.
SELECT kanon.create_anonymization_view('by_decade', 'SELECT * FROM people', id => '{id}',
    quasi_ids => '{"age": "ages"}', sensitive => '{"illness": null}', k => 2, levels => '{"age": [1, 1]}');
SELECT age, count(*) FROM by_decade GROUP BY age;
SELECT * FROM kanon.downcoding('by_decade');

-- Four rows as [20,30), where 28 and 29 remain.  With at most k - 1 = 2 of each, two would be 28 and two 29.  But three
-- are 28: they are of two people, or too much alike, or one of them asks for another k.  So nothing is certain.
CREATE TABLE member (n serial PRIMARY KEY, who text, age int, illness text, k int DEFAULT 3);
INSERT INTO member (who, age, illness) SELECT 'p' || 3 * age + twin, age, (ARRAY['flu', 'gout'])[1 + twin % 2]
    FROM generate_series(20, 27) age, generate_series(0, 2) twin
    UNION ALL VALUES ('a', 28, 'flu'), ('a', 28, 'flu'), ('b', 28, 'flu'), ('c', 29, 'gout');
UPDATE member SET k = 4 WHERE who = 'b';
SELECT kanon.create_anonymization_view('by_people', 'SELECT who, age, illness FROM member', id => '{who}',
    quasi_ids => '{"age": "ages"}', sensitive => '{"illness": null}', k => 3);
SELECT kanon.create_anonymization_view('by_illness', 'SELECT n, age, illness FROM member', id => '{n}',
    quasi_ids => '{"age": "ages"}', sensitive => '{"illness": null}', k => 3, l => 2);
SELECT kanon.create_anonymization_view('by_choice', 'SELECT n, age, illness FROM member', id => '{n}',
    quasi_ids => '{"age": "ages"}', sensitive => '{"illness": null}', k => 3,
    profile => '{"table": "member", "key": {"n": "n"}, "k": "k"}');
SELECT kanon.grant_access(current_user, 'care', 'ward');
SET kanon.purpose = 'care';
SET kanon.recipient = 'ward';
SELECT v, d."column", rows, narrowed, certain, example FROM unnest('{by_people,by_illness,by_choice}'::regclass[]) v,
    kanon.downcoding(v) d;

-- Beside the attack by brute force: random tables of three columns and all combinations of values that a row may have.
\set dir `echo "$PG_ABS_SRCDIR"`
\i :dir/data/random.sql
SELECT kanon.create_interval_dgh('threes', 0, '{3,9}');
SELECT kanon.create_dgh('letters');
INSERT INTO kanon.dgh_edge SELECT 'letters', edge[1], edge[2] FROM (SELECT string_to_array(unnest(
    '{a-vowel,e-vowel,i-vowel,b-soft,d-soft,p-hard,t-hard,soft-plosive,hard-plosive,vowel-*,plosive-*}'::text[]), '-')
    AS edge) e;
CREATE TABLE rows (id int PRIMARY KEY, c1 int, c2 text, c3 text);
CREATE TABLE way (col int, zero text, level int, label text); -- each value a column may have, on each level
CREATE TABLE shown (id int, step int, label text[], candidates int, inside int, left_ int[], whole_ int[], counted int);
CREATE TABLE labels (step int, v text[], label text[]);
CREATE INDEX ON labels (step, v);
CREATE FUNCTION below(n int) RETURNS int LANGUAGE sql AS $$ SELECT floor(n * next_random())::int $$;

CREATE FUNCTION fill_way() RETURNS void LANGUAGE sql AS $$
    DELETE FROM way;
    INSERT INTO way SELECT 1, a::text, l, kanon.generalize('threes', a::text, l)::text FROM
        (SELECT DISTINCT 9 * (c1 / 9) + i AS a FROM rows, generate_series(0, 8) i WHERE c1 IS NOT NULL) x,
        generate_series(0, 3) l;
    INSERT INTO way SELECT 2, b, l, kanon.generalize('letters', b, l)::text FROM
        (SELECT unnest('{a,e,i,b,d,p,t}'::text[]) AS b UNION SELECT c2 FROM rows WHERE c2 IS NOT NULL) x,
        generate_series(0, 3) l;
    INSERT INTO way SELECT DISTINCT 3, c3, l, CASE l WHEN 0 THEN c3 ELSE '*' END FROM rows, generate_series(0, 1) l
        WHERE c3 IS NOT NULL;
    INSERT INTO way SELECT col, 'null', l, CASE l WHEN 0 THEN 'null' ELSE '*' END FROM (
        SELECT 1 FROM rows HAVING bool_or(c1 IS NULL) UNION ALL SELECT 2 FROM rows HAVING bool_or(c2 IS NULL)
        UNION ALL SELECT 3 FROM rows HAVING bool_or(c3 IS NULL)) n (col), generate_series(0, 3) l;
    ANALYZE way;
$$;

-- Rows climb as the definition says; then the candidates of each published label are counted one by one.
-- Of a view with levels, first is the first step that publishes rows.
CREATE FUNCTION attack(k int, first int, limited bool) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    levels int[] := '{0,0,0}';
    s record;
    raised int[]; -- the column that each step raises, if from single values
BEGIN
    DELETE FROM shown;
    TRUNCATE labels;
    FOR s IN SELECT 0 AS step, NULL AS col UNION ALL
        SELECT step, right("column", 1)::int FROM kanon.generalization_sequence('view') ORDER BY step LOOP
        IF s.col IS NOT NULL THEN
            levels[s.col] := levels[s.col] + 1;
            raised[s.step] := CASE WHEN levels[s.col] = 1 AND s.step > first THEN s.col END;
        END IF;
        INSERT INTO labels SELECT s.step, ARRAY[x.zero, y.zero, z.zero], ARRAY[x.label, y.label, z.label]
            FROM way x, way y, way z WHERE (x.col, y.col, z.col) = (1, 2, 3)
                AND (x.level, y.level, z.level) = (levels[1], levels[2], levels[3]);
        INSERT INTO shown (id, step, label)
            SELECT id, s.step, label FROM (
                SELECT r.id, l.label, count(*) OVER (PARTITION BY l.label) AS people FROM rows r
                JOIN labels l ON l.step = s.step AND l.v = ARRAY[coalesce(c1::text, 'null'), coalesce(c2, 'null'),
                    coalesce(c3, 'null')]
                WHERE NOT EXISTS (SELECT FROM shown x WHERE x.id = r.id)) w
            WHERE people >= attack.k AND s.step >= first;
    END LOOP;
    -- Suppressed rows are at a step of their own, where one cell has everything.
    INSERT INTO labels SELECT 1000, v, '{*}' FROM labels WHERE step = 0;
    INSERT INTO shown (id, step, label) SELECT id, 1000, '{*}' FROM rows r
        WHERE NOT EXISTS (SELECT FROM shown x WHERE x.id = r.id);
    ANALYZE labels, shown;
    -- Combinations that are shown as such in a group of an earlier step are none of a later one.
    CREATE TEMP TABLE candidate ON COMMIT DROP AS
        SELECT l.step, l.label, l.v, NOT EXISTS (SELECT FROM labels e JOIN (SELECT DISTINCT step, label FROM shown) p
            USING (step, label) WHERE e.v = l.v AND e.step < l.step) AS possible
        FROM labels l JOIN (SELECT DISTINCT step, label FROM shown) p USING (step, label);
    UPDATE shown w SET inside = c.inside, candidates = c.candidates, left_ = c.left_, whole_ = c.whole_ FROM (
        SELECT step, label, count(*) AS inside, count(*) FILTER (WHERE possible) AS candidates,
            ARRAY[count(DISTINCT v[1]) FILTER (WHERE possible), count(DISTINCT v[2]) FILTER (WHERE possible),
                count(DISTINCT v[3]) FILTER (WHERE possible)] AS left_,
            ARRAY[count(DISTINCT v[1]), count(DISTINCT v[2]), count(DISTINCT v[3])] AS whole_
        FROM candidate GROUP BY 1, 2) c WHERE (c.step, c.label) = (w.step, w.label);
    -- If as many rows have been left over as there can be, k - 1 of each candidate, then that many have each.
    raised[1000] := CASE WHEN NOT limited THEN raised[array_upper(raised, 1)] END;
    UPDATE shown w SET counted = raised[w.step] FROM (SELECT step, label, count(*) AS rows FROM shown GROUP BY 1, 2) c
        WHERE (c.step, c.label) = (w.step, w.label) AND whole_[raised[w.step]] > 1
            AND c.rows = left_[raised[w.step]] * (k - 1);
    -- The attack never claims what is not true.
    PERFORM FROM shown w JOIN rows r USING (id) JOIN candidate c ON (c.step, c.label) = (w.step, w.label)
        AND c.v = ARRAY[coalesce(c1::text, 'null'), coalesce(c2, 'null'), coalesce(c3, 'null')] WHERE NOT c.possible;
    IF FOUND THEN
        RAISE EXCEPTION 'the true value is not a candidate';
    END IF;
    PERFORM FROM shown w JOIN rows r USING (id) WHERE counted IS NOT NULL
        GROUP BY w.step, w.label, CASE counted WHEN 1 THEN c1::text WHEN 2 THEN c2 ELSE c3 END HAVING count(*) <> k - 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the counts are others';
    END IF;
    DROP TABLE candidate;
END
$$;

CREATE FUNCTION certain(s shown, c int) RETURNS bool LANGUAGE sql IMMUTABLE AS $$
    SELECT s.left_[c] = 1 AND s.whole_[c] > 1 OR coalesce(s.counted = c, false)
$$;
CREATE FUNCTION narrowed(s shown, c int) RETURNS bool LANGUAGE sql IMMUTABLE AS $$
    SELECT s.left_[c] < s.whole_[c] OR coalesce(s.counted = c, false)
$$;
CREATE TABLE outcome (levels jsonb, fate text, per text, rows bigint, narrowed bigint, certain bigint, wrong bool);
DO $$
DECLARE
    k int;
    levels jsonb;
BEGIN
    PERFORM seed_random(7);
    FOR try IN 1 .. 24 LOOP
        DELETE FROM rows;
        INSERT INTO rows SELECT i, CASE WHEN below(20) > 0 OR try % 2 = 0 THEN below(9 + try) END,
            (string_to_array('a e i b d p t t p d odd', ' '))[1 + below(8 + try % 4)],
            CASE WHEN below(9) > 0 OR try % 3 > 0 THEN chr(117 + below(2)) END FROM generate_series(1, 4 * try) i;
        k := 2 + try % 3;
        levels := CASE try % 4 WHEN 0 THEN '{"c1": [1, 2], "c2": [0, 2]}'
            WHEN 1 THEN '{"c1": [1, 1], "c2": [1, 1], "c3": [0, 0]}' ELSE '{}' END;
        PERFORM fill_way();
        PERFORM kanon.create_anonymization_view('view', 'SELECT id, c1, c2, c3 FROM rows', id => '{id}',
            quasi_ids => '{"c1": "threes", "c2": "letters", "c3": null}', k => k, levels => levels);
        PERFORM attack(k, CASE try % 4 WHEN 0 THEN 1 WHEN 1 THEN 2 ELSE 0 END, levels <> '{}');
        INSERT INTO outcome
            SELECT levels, coalesce(b.fate, d.fate),
                CASE WHEN coalesce(b."column", d."column") IS NULL THEN 'row' ELSE 'column' END,
                d.rows, d.narrowed, d.certain,
                ROW (d.rows, d.narrowed, d.certain) IS DISTINCT FROM ROW (b.rows, b.narrowed, b.certain)
                    OR abs(d.candidates - b.candidates) > 1e-9 OR abs(d.share - d.narrowed / d.rows::float8) > 1e-9
            FROM kanon.downcoding('view') d
            FULL JOIN (SELECT CASE step WHEN 1000 THEN 'suppressed' ELSE 'group' END AS fate, NULL AS "column",
                    count(*) AS rows,
                    count(*) FILTER (WHERE narrowed(s, 1) OR narrowed(s, 2) OR narrowed(s, 3)) AS narrowed,
                    count(*) FILTER (WHERE certain(s, 1) OR certain(s, 2) OR certain(s, 3)) AS certain,
                    avg(candidates::float8 / inside) AS candidates
                FROM shown s GROUP BY 1
                UNION ALL
                SELECT CASE step WHEN 1000 THEN 'suppressed' ELSE 'group' END, 'c' || c, count(*),
                    count(*) FILTER (WHERE narrowed(s, c)), count(*) FILTER (WHERE certain(s, c)),
                    avg(left_[c]::float8 / whole_[c])
                FROM shown s, generate_series(1, 3) c GROUP BY 1, c) b
                ON b.fate || coalesce(b."column", '') = d.fate || coalesce(d."column", '');
        PERFORM kanon.drop_anonymization_view('view');
    END LOOP;
END
$$;
SELECT levels, fate, per, count(*) AS tried, sum(rows) AS rows, sum(narrowed) AS narrowed, sum(certain) AS certain,
    count(*) FILTER (WHERE wrong IS NOT FALSE) AS wrong
FROM outcome GROUP BY levels, fate, per ORDER BY levels, fate, per;

-- Values of other kinds: days, real numbers (intervals stand for them), and codes and words that occur.
CREATE TABLE visit (id int PRIMARY KEY, day date, weight numeric, zip text, sex text);
INSERT INTO visit SELECT i, date '2024-02-01' + i / 3, 50 + i / 6 * 1.5, (8001 + i / 4)::text, NULL
    FROM generate_series(0, 80) i
    UNION ALL VALUES (91, date '2024-02-28', 91, '8021', 'f'), (92, '2024-02-29', 92.5, '8022', 'm'),
        (93, NULL, 86, '8023', 'm'), (94, '2024-02-01', 96, '8001', NULL), (95, '2024-02-01', 96.5, '8001', NULL),
        (96, '2024-02-01', 98, '8001', NULL);
SELECT kanon.create_date_dgh('days', '{month}'), kanon.create_interval_dgh('kilos', 0, '{5,100}'),
    kanon.create_prefix_dgh('zips', 4);
SELECT kanon.create_anonymization_view('visit_' || key, format('SELECT id, %I FROM visit', key), id => '{id}',
    quasi_ids => jsonb_build_object(key, value), k => 3)
FROM jsonb_each('{"day": "days", "weight": "kilos", "zip": "zips", "sex": null}');
SELECT d.fate, d."column", d.rows, d.narrowed, d.certain, round(d.candidates::numeric, 3) AS candidates, d.example
FROM unnest('{visit_day,visit_weight,visit_zip,visit_sex}'::regclass[]) v, kanon.downcoding(v) d
WHERE d."column" IS NOT NULL;
