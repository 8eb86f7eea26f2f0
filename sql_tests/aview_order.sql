-- Rows that come in the order of identifiers or raw values tell the person that they belong to: no order that the
-- source or kanon makes may come through.
SET kanon.measure_views = off;
CREATE TABLE person (name text PRIMARY KEY, age integer, place integer);
-- Written in an order of its own; place is the rank of the name.
INSERT INTO person SELECT 'p' || lpad(i::text, 4, '0'), i % 50, i FROM generate_series(1, 400) AS i
	ORDER BY md5(i::text);
SELECT kanon.create_interval_dgh('tens', 0, '{10}');

-- How much the order of a view's rows says about the names: neighbours in the right order.  Half of them by chance, 399
-- if sorted.
CREATE FUNCTION in_order(view text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ascents integer;
BEGIN
	EXECUTE format('SELECT count(*) FROM (SELECT place > lag(place) OVER () AS up FROM %s) o WHERE up',
		view) INTO ascents;
	RETURN CASE WHEN ascents BETWEEN 130 AND 270 THEN 'no order' ELSE 'sorted' END;
END
$$;
SELECT in_order('(SELECT * FROM person ORDER BY name) s'), in_order('person');

SELECT kanon.create_anonymization_view('sorted', 'SELECT * FROM person ORDER BY name', id => '{name}',
	quasi_ids => '{"age": "tens"}', k => 3, other => '{place}');
SELECT kanon.create_anonymization_view('top', 'SELECT * FROM person ORDER BY name LIMIT 1000', id => '{name}',
	quasi_ids => '{"age": "tens"}', k => 3, other => '{place}');
SELECT kanon.create_anonymization_view('firsts', 'SELECT DISTINCT ON (name) * FROM person ORDER BY name',
	id => '{name}', quasi_ids => '{"age": "tens"}', k => 3, other => '{place}');
SELECT kanon.create_anonymization_view('united',
	'SELECT * FROM person WHERE place < 200 UNION ALL SELECT * FROM person WHERE place >= 200 ORDER BY name',
	id => '{name}', quasi_ids => '{"age": "tens"}', k => 3, other => '{place}');
SELECT kanon.create_anonymization_view('blocks', 'SELECT * FROM person', id => '{name}', quasi_ids => '{"age": "tens"}',
	k => 3, block_size => 400, other => '{place}');
SELECT kanon.create_anonymization_view('few', 'SELECT * FROM person', id => '{name}', quasi_ids => '{"age": "tens"}',
	k => 3, block_size => 100, other => '{place}');
SELECT view, in_order(view), in_order(format('(SELECT * FROM %s WHERE place > 0) s', view)) AS selected
FROM unnest('{sorted, top, firsts, united, blocks, few}'::text[]) AS view;
-- Not with a known seed, either: the same twice would be no chance.
SELECT setseed(0.5);
SELECT string_agg(place::text, ' ') AS once FROM top \gset
SELECT setseed(0.5);
SELECT string_agg(place::text, ' ') = :'once' AS "the same again" FROM top;
-- The same rows in any order.
SELECT count(*), count(DISTINCT place), min(n) FROM (SELECT place, count(*) OVER (PARTITION BY age) AS n FROM few) s;
SET kanon.plan = function;
SELECT in_order('blocks'), in_order('top');
RESET kanon.plan;
-- Cursors that go back see the same rows again.
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT place FROM blocks;
MOVE 10 IN c;
FETCH 1 FROM c \gset once_
MOVE BACKWARD ALL IN c;
FETCH ABSOLUTE 11 FROM c \gset again_
SELECT :once_place = :again_place AS "the same again";
COMMIT;
-- Rescans.
SELECT g, count(*), count(DISTINCT place) FROM generate_series(1, 3) g,
	LATERAL (SELECT place, g AS same FROM few OFFSET 0) s GROUP BY g ORDER BY g;

-- Nor may an order that a plan makes, which settings open to every role choose between. How far apart do rows come that
-- have something in common that is not published? Almost all the way by chance.
CREATE FUNCTION spread(rows text, common text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	spread numeric;
BEGIN
	EXECUTE format('SELECT avg((last - first) / n::numeric) FROM (SELECT max(at) AS last, min(at) AS first,
		sum(count(*)) OVER () AS n
		FROM (SELECT row_number() OVER () AS at, * FROM %s) r GROUP BY %s) c', rows, common) INTO spread;
	RETURN CASE WHEN spread > 0.7 THEN 'no order' ELSE 'in order' END;
END
$$;
-- The age once more, and a number of the person, without a role: to see how much the order would tell.
CREATE TABLE visit (id integer, age integer, ward integer, raw integer, who integer);
INSERT INTO visit SELECT i % 400, i % 1000, i % 5, i % 1000, i % 400 FROM generate_series(1, 8000) AS i
	ORDER BY md5(i::text);
CREATE INDEX ON visit (ward, age);
CREATE INDEX ON visit (age) INCLUDE (id, ward, raw, who);
CREATE TABLE by_age (LIKE visit) PARTITION BY RANGE (age);
SELECT format('CREATE TABLE by_age_%s PARTITION OF by_age FOR VALUES FROM (%s) TO (%s)', n, n * 100, n * 100 + 100)
	FROM generate_series(0, 9) AS n \gexec
INSERT INTO by_age SELECT * FROM visit;
CREATE TABLE note AS SELECT id, string_agg(md5(id::text || n), '') AS note FROM generate_series(0, 399) AS id,
	generate_series(1, 30) AS n GROUP BY id;
VACUUM ANALYZE visit, by_age, note;
SELECT kanon.create_interval_dgh('halves', 0, '{500}');
SELECT kanon.create_anonymization_view(name, query, id => '{id}', quasi_ids => '{"age": "halves"}', k => 30,
	other => '{*}')
FROM (VALUES ('visits', 'SELECT * FROM visit'), ('parted', 'SELECT * FROM by_age'),
	('joined', 'SELECT visit.*, note FROM visit JOIN note USING (id)')) AS v(name, query);
SELECT kanon.create_anonymization_view('asked', 'SELECT * FROM visit', id => '{id}', quasi_ids => '{"age": "halves"}',
	k => 30, match => 'witness', other => '{ward, raw, who}');
SELECT spread('(SELECT * FROM visit ORDER BY age) s', 'raw / 50') AS sorted, spread('visit', 'raw / 50') AS stored;
-- By an index.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT spread('(SELECT * FROM visit WHERE ward = 3) s', 'raw / 50') AS "as it is",
    spread('(SELECT raw FROM visits WHERE ward = 3) s', 'raw / 50') AS selected,
    spread('(SELECT age, raw FROM visits) s', 'raw / 50') AS all,
    spread('(SELECT raw FROM asked WHERE age = 77) s', 'raw / 50') AS asked;
SET kanon.plan = anonymize_first;
SELECT spread('(SELECT raw FROM visits WHERE ward = 3) s', 'raw / 50') AS selected,
	spread('(SELECT raw FROM asked WHERE age = 77) s', 'raw / 50') AS asked;
SET kanon.plan = select_first;
SELECT spread('(SELECT raw FROM visits WHERE ward = 3) s', 'raw / 50') AS selected,
	spread('(SELECT raw FROM asked WHERE age = 77) s', 'raw / 50') AS asked;
SET kanon.plan = function;
SELECT spread('(SELECT age, raw FROM visits) s', 'raw / 50') AS all;
RESET kanon.plan;
RESET enable_seqscan;
RESET enable_bitmapscan;
-- By partitions.
SELECT spread('by_age', 'raw / 50') AS "as it is", spread('parted', 'raw / 50');
-- By the batches of a join.
SET work_mem = '64kB';
SET enable_mergejoin = off;
SET enable_nestloop = off;
SELECT spread('(SELECT visit.*, note FROM visit JOIN note USING (id)) s', 'who, note') AS "as it is",
	spread('joined', 'who, note');
RESET enable_mergejoin;
RESET enable_nestloop;
RESET work_mem;
-- By parts, where classes outgrow memory: most rows are published in cells that are larger than a part's.
CREATE TABLE spot (id integer, x integer, y integer, fine integer);
INSERT INTO spot SELECT i, i % 200, i * 7919 / 200 % 500, i % 200 / 10 * 100 + i * 7919 / 200 % 500 / 10
	FROM generate_series(1, 20000) AS i ORDER BY md5(i::text);
ANALYZE spot;
SELECT kanon.create_interval_dgh('tens or all', 0, '{10}');
SELECT kanon.create_anonymization_view('spots', 'SELECT * FROM spot', id => '{id}',
	quasi_ids => '{"x": "tens or all", "y": "tens or all"}', k => 150, other => '{fine}');
SET work_mem = '64kB';
SELECT spread('spots', 'fine');
RESET work_mem;
-- Rows that are wider than work_mem are shuffled, too.
SELECT kanon.create_anonymization_view('wide',
	'SELECT id, age, repeat(note, 80) AS wide FROM visit JOIN note USING (id) WHERE ward = 3 AND raw < 300',
	id => '{id}', quasi_ids => '{"age": "halves"}', k => 30, other => '{wide}');
SET work_mem = '64kB';
SELECT count(*), count(DISTINCT wide), min(length(wide)) FROM wide;
RESET work_mem;
