-- Levels between which quasi-identifiers are published: fixed ones reveal nothing of finer groups, by every plan.
CREATE TABLE people (id int PRIMARY KEY, age int, zip text, illness text);
INSERT INTO people SELECT i, 20 + i * i % 37, (4000 + i * 7 % 90)::text, 'flu' FROM generate_series(1, 300) i
    UNION ALL VALUES (301, 80, '9000', 'gout'), (302, NULL, '4001', 'gout'), (303, 30, NULL, 'gout'),
        (304, 100, '9100', 'gout'), (305, 120, '9200', 'gout'), (306, 140, '9300', 'gout');
CREATE INDEX ON people (illness);
CREATE INDEX ON people (zip, age);
ANALYZE people;
SELECT kanon.create_interval_dgh('ages', 0, '{5,20}'), kanon.create_prefix_dgh('zips', 4);
SELECT kanon.create_anonymization_view('free', 'SELECT * FROM people', id => '{id}',
    quasi_ids => '{"age": "ages", "zip": "zips"}', sensitive => '{"illness": null}', k => 4);
SELECT kanon.create_anonymization_view('fixed', 'SELECT * FROM people', id => '{id}',
    quasi_ids => '{"age": "ages", "zip": "zips"}', sensitive => '{"illness": null}', k => 4,
    levels => '{"age": [2, 2], "zip": [1, 1]}');
SELECT kanon.create_anonymization_view('between', 'SELECT * FROM people', id => '{id}',
    quasi_ids => '{"age": "ages", "zip": "zips"}', sensitive => '{"illness": null}', k => 4,
    levels => '{"age": [1, 2]}');

-- Each row is at the fixed levels with at least three others, or suppressed: counted by hand.
SELECT age, zip, count(*) FROM fixed GROUP BY 1, 2
EXCEPT
SELECT CASE WHEN n >= 4 THEN age ELSE '*' END, CASE WHEN n >= 4 THEN zip ELSE '*' END, sum(n)
FROM (SELECT coalesce(format('[%s,%s)', age / 20 * 20, age / 20 * 20 + 20), '*') AS age,
        coalesce(left(zip, 3) || '*', '*') AS zip, count(*) AS n
    FROM people GROUP BY 1, 2) c
GROUP BY 1, 2;
SELECT age, count(*) FROM fixed GROUP BY 1 ORDER BY age::text;
SELECT DISTINCT age FROM between EXCEPT SELECT DISTINCT age FROM free ORDER BY 1;
SELECT view, step, "column", level
FROM unnest('{free,fixed,between}'::regclass[]) view, kanon.generalization_sequence(view) ORDER BY 1, 2;
SELECT "column", lowest, highest FROM kanon.aview_columns('between') WHERE role = 'quasi';
SELECT line FROM regexp_split_to_table(kanon.policy('fixed'), E'\n') line WHERE line ~ 'level';
SELECT line FROM regexp_split_to_table(kanon.policy('between'), E'\n') line WHERE line ~ 'level';

-- Every plan gives the same rows; see also the tests aview_plans.
SET kanon.plan = 'anonymize_first';
CREATE TABLE first AS SELECT 'fixed' AS view, v::text FROM fixed v WHERE illness = 'flu'
    UNION ALL SELECT 'between', v::text FROM between v WHERE illness = 'flu';
SET kanon.plan = 'select_first';
SELECT view, count(*) FROM first GROUP BY view ORDER BY view;
(SELECT 'fixed' AS view, v::text FROM fixed v WHERE illness = 'flu'
    UNION ALL SELECT 'between', v::text FROM between v WHERE illness = 'flu') EXCEPT ALL SELECT * FROM first;
RESET kanon.plan;

-- What the attack learns: before, with levels that rows still climb through, and with fixed ones.
SELECT v AS view, d."column", d.rows, d.narrowed, d.certain, round(d.candidates::numeric, 3) AS candidates, d.example
FROM unnest('{free,between,fixed}'::regclass[]) v, kanon.downcoding(v) d WHERE d.fate = 'group';
-- What remains: a suppressed row is in no published cell.
SELECT "column", rows, narrowed, round(candidates::numeric, 3) AS candidates FROM kanon.downcoding('fixed')
WHERE fate = 'suppressed';
SELECT v AS view, published, suppressed, groups, round(ncp::numeric, 3) AS loss
FROM unnest('{free,between,fixed}'::regclass[]) v, kanon.quality(v);
SELECT v AS view, measure, severity, advice FROM unnest('{free,fixed}'::regclass[]) v, kanon.audit(v)
WHERE topic = 'minimality';

-- Levels from a sample.
CREATE VIEW sample AS SELECT * FROM people WHERE id % 3 = 0;
SELECT kanon.suggest_levels('sample', '{"age": "ages", "zip": "zips"}', 2);
SELECT kanon.suggest_levels('sample', '{"age": "ages", "zip": "zips"}', 2, suppress => 0.5);
SELECT kanon.suggest_levels('sample', '{"age": "ages", "zip": null}', 5, suppress => 0);
-- The share that they would suppress is at most the one asked for, 0.05; one level less would suppress more.
SELECT l AS level, round(sum(n) FILTER (WHERE n < 2) / sum(n), 3) AS suppressed
FROM generate_series(1, 2) l, LATERAL (SELECT count(*) AS n FROM sample GROUP BY age, left(zip, 4 - l)) c
GROUP BY l ORDER BY l;
\set SHOW_CONTEXT never
SELECT kanon.suggest_levels('sample', '{"age": "ages"}', 1000);
SELECT kanon.suggest_levels('sample', '{"size": "ages"}', 2);
SELECT kanon.suggest_levels('sample', '{"age": "sizes"}', 200);
SELECT kanon.suggest_levels('sample', '["age"]', 2);
SELECT kanon.suggest_levels('sample', '{"age": "ages"}', 0);
SELECT kanon.suggest_levels('sample', '{"age": "ages"}', 2, 1.5);

-- A hierarchy that gets more levels, and fewer than the view asks for: then it is shown at the root.
SELECT kanon.create_dgh('ills');
INSERT INTO kanon.dgh_edge VALUES ('ills', 'flu', 'cold'), ('ills', 'cold', 'any'), ('ills', 'gout', 'pain'),
    ('ills', 'pain', 'any');
SELECT kanon.create_anonymization_view('ill', 'SELECT id, illness FROM people', id => '{id}',
    quasi_ids => '{"illness": "ills"}', k => 4, levels => '{"illness": [1, 2]}');
SELECT illness, count(*) FROM ill GROUP BY 1 ORDER BY illness::text;
INSERT INTO kanon.dgh_edge VALUES ('ills', 'any', '*');
SELECT illness, count(*) FROM ill GROUP BY 1 ORDER BY illness::text;
DELETE FROM kanon.dgh_edge WHERE dgh = 'ills';
SELECT illness, count(*) FROM ill GROUP BY 1 ORDER BY illness::text;

-- What is refused.
CREATE FUNCTION try_levels(levels jsonb, k int DEFAULT 4, algorithm text DEFAULT 'datafly',
    materialized bool DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text;
BEGIN
    PERFORM kanon.create_anonymization_view('tried', 'SELECT * FROM people', id => '{id}',
        quasi_ids => '{"age": "ages", "zip": null}', sensitive => '{"illness": null}', k => k, algorithm => algorithm,
        materialized => materialized, levels => levels);
    RETURN 'created';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS said = MESSAGE_TEXT;
    RETURN SQLSTATE || ': ' || said;
END
$$;
SELECT levels, try_levels(levels) FROM unnest(ARRAY['[]', '3', '{"age": 2}', '{"age": [1]}', '{"age": [1, 2, 3]}',
    '{"age": [2, 1]}', '{"age": [-1, 1]}', '{"age": [0, 4]}', '{"age": [0.5, 1]}', '{"age": ["0", "1"]}',
    '{"age": {"from": 0}}', '{"age": null}', '{"age": [0, 99999999999]}', '{"zip": [0, 2]}', '{"illness": [0, 0]}',
    '{"size": [0, 0]}']::jsonb[]) levels;
SELECT try_levels('{"age": [1, 1]}', k => 1);
SELECT try_levels('{"age": [1, 1]}', algorithm => 'mondrian');
SELECT try_levels('{"age": [1, 1]}', materialized => true);
SELECT kanon.alter_anonymization_view('fixed', k => 1);
SELECT kanon.alter_anonymization_view('fixed', k => 9);
SELECT age, count(*) FROM fixed GROUP BY 1 ORDER BY age::text;
SELECT try_levels('{"age": [3, 3], "zip": [0, 0]}'), count(DISTINCT age) AS ages FROM fixed;

-- Where the attack is not known: stored groups, blocks; and other people's views.
SELECT kanon.create_anonymization_view('stored', 'SELECT id, age, illness FROM people', id => '{id}',
    quasi_ids => '{"age": "ages"}', sensitive => '{"illness": null}', k => 4, materialized => true);
SELECT kanon.create_anonymization_view('blocks', 'SELECT id, age, illness FROM people', id => '{id}',
    quasi_ids => '{"age": "ages"}', sensitive => '{"illness": null}', k => 4, block_size => 50);
SELECT kanon.downcoding('stored');
SELECT kanon.downcoding('blocks');
SELECT v AS view, measure, value, severity, advice FROM unnest('{stored,blocks}'::regclass[]) v, kanon.audit(v)
WHERE topic = 'minimality';
SELECT current_database() || '_reader' AS reader \gset
CREATE ROLE :"reader";
GRANT SELECT ON free TO :"reader";
SET ROLE :"reader";
SELECT kanon.downcoding('free');
RESET ROLE;
REVOKE ALL ON free FROM :"reader";
DROP ROLE :"reader";

-- By Mondrian, rows are in the smallest boxes when the view is made; once they are not, the boxes tell.
SELECT kanon.create_anonymization_view('boxes', 'SELECT id, age, illness FROM people', id => '{id}',
    quasi_ids => '{"age": null}', sensitive => '{"illness": null}', k => 60, algorithm => 'mondrian');
SELECT age, count(*) FROM boxes GROUP BY 1 ORDER BY age::text;
SELECT fate, "column", rows, narrowed, certain, candidates FROM kanon.downcoding('boxes');
DELETE FROM people WHERE age < 24;
SELECT age, count(*) FROM boxes GROUP BY 1 ORDER BY age::text;
SELECT fate, "column", rows, narrowed, certain, round(candidates::numeric, 4) AS candidates, example
FROM kanon.downcoding('boxes');
