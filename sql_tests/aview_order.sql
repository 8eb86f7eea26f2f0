-- Rows that come in the order of identifiers or raw values say whose they are: no order that the source or kanon makes
-- may come through.
CREATE TABLE person (name text PRIMARY KEY, age integer, place integer);
-- Written in an order of its own; place is the rank of the name.
INSERT INTO person SELECT 'p' || lpad(i::text, 4, '0'), i % 50, i FROM generate_series(1, 400) AS i ORDER BY md5(i::text);
SELECT kanon.create_interval_dgh('tens', 0, '{10}');

-- How much the order of a view's rows says about the names: neighbours in the right order.  Half of them by chance, 399 if sorted.
CREATE FUNCTION in_order(view text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ascents integer;
BEGIN
	EXECUTE format('SELECT count(*) FROM (SELECT place > lag(place) OVER () AS up FROM %s) o WHERE up', view) INTO ascents;
	RETURN CASE WHEN ascents BETWEEN 130 AND 270 THEN 'no order' ELSE 'sorted' END;
END
$$;
SELECT in_order('(SELECT * FROM person ORDER BY name) s'), in_order('person');

SELECT kanon.create_anonymization_view('sorted', 'SELECT * FROM person ORDER BY name', id => '{name}', quasi_ids => '{"age": "tens"}', k => 3);
SELECT kanon.create_anonymization_view('top', 'SELECT * FROM person ORDER BY name LIMIT 1000', id => '{name}', quasi_ids => '{"age": "tens"}', k => 3);
SELECT kanon.create_anonymization_view('firsts', 'SELECT DISTINCT ON (name) * FROM person ORDER BY name', id => '{name}', quasi_ids => '{"age": "tens"}', k => 3);
SELECT kanon.create_anonymization_view('united', 'SELECT * FROM person WHERE place < 200 UNION ALL SELECT * FROM person WHERE place >= 200 ORDER BY name', id => '{name}', quasi_ids => '{"age": "tens"}', k => 3);
SELECT kanon.create_anonymization_view('blocks', 'SELECT * FROM person', id => '{name}', quasi_ids => '{"age": "tens"}', k => 3, block_size => 400);
SELECT kanon.create_anonymization_view('few', 'SELECT * FROM person', id => '{name}', quasi_ids => '{"age": "tens"}', k => 3, block_size => 100);
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
SELECT g, count(*), count(DISTINCT place) FROM generate_series(1, 3) g, LATERAL (SELECT place, g AS same FROM few OFFSET 0) s GROUP BY g ORDER BY g;
