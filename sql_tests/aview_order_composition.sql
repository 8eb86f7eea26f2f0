-- Two views of one table must not be composed by the order of their rows: row number n of the one is another person
-- than row number n of the other, and neither is the n-th row of the table, whatever the source and the plan.
SET client_min_messages = warning;
SELECT kanon.create_interval_dgh('years', 0, '{5, 25, 100}'), kanon.create_prefix_dgh('zips', 4);

-- Stored in the order of place.  The token tells in the test who is who: a sensitive column is published as it is.
CREATE TABLE person (id integer PRIMARY KEY, place integer, age integer, zip text, token integer, ward integer);
INSERT INTO person SELECT i, i, i % 50, to_char(1000 + i * 7 % 60, 'FM0000'), i, i % 2
	FROM generate_series(1, 1000) AS i;
CREATE INDEX ON person (age);
CREATE INDEX ON person (zip, ward);
CREATE TABLE parted (LIKE person) PARTITION BY RANGE (place);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (500);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (500) TO (2000);
INSERT INTO parted SELECT * FROM person;
CREATE TABLE detail AS SELECT id, repeat(md5(id::text), 10) AS detail FROM person;
ALTER TABLE detail ADD PRIMARY KEY (id);
CREATE TABLE choice AS SELECT id, 3 + id % 3 AS k, 'care' AS purpose, 'ward' AS recipient FROM person;
ALTER TABLE choice ADD PRIMARY KEY (id, purpose, recipient);
VACUUM ANALYZE person, parted, detail, choice;
CREATE FUNCTION people() RETURNS SETOF person LANGUAGE sql VOLATILE ROWS 1000 AS 'SELECT * FROM person';

-- Two views of each source: by age, and by zip.
CREATE FUNCTION two_views(name text, query text, arguments text DEFAULT 'k => 5') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	quasi text;
BEGIN
	FOREACH quasi IN ARRAY '{age,zip}'::text[] LOOP
		EXECUTE format('SELECT kanon.create_anonymization_view(%L, %L, id => ''{id}'', quasi_ids => %L,
			sensitive => ''{"token": null}'', %s)', name || '_' || quasi, format(query, quasi),
			jsonb_build_object(quasi, CASE quasi WHEN 'age' THEN 'years' ELSE 'zips' END), arguments);
	END LOOP;
END
$$;
SELECT two_views('plain', 'SELECT id, %s, token FROM person');
SELECT two_views('parts', 'SELECT id, %s, token FROM parted');
SELECT two_views('sorted', 'SELECT id, %s, token FROM person ORDER BY id');
SELECT two_views('joined', 'SELECT id, %s, token FROM person JOIN detail USING (id)');
SELECT two_views('called', 'SELECT id, %s, token FROM people()');
SELECT two_views('blocks', 'SELECT id, %s, token FROM person', 'k => 5, block_size => 100');
SELECT two_views('stored', 'SELECT id, %s, token FROM person', 'k => 5, materialized => true');
SELECT two_views('tree', 'SELECT id, %s, token FROM person', 'k => 5, algorithm => ''mondrian''');
SELECT two_views('asked', 'SELECT id, %s, token FROM person', 'k => 5, match => ''witness''');
SELECT two_views('chosen', 'SELECT id, %s, token FROM person',
	$$k => 5, profile => '{"table": "choice", "key": {"id": "id"}, "k": "k", "purpose": "purpose",
		"recipient": "recipient"}'$$);
SELECT kanon.grant_access(current_user, 'care', 'ward');
SET kanon.purpose = care;
SET kanon.recipient = ward;
-- In no group: the identifiers alone are hidden.
SELECT kanon.create_anonymization_view('bare_' || quasi, 'SELECT id, token FROM person', id => '{id}',
	sensitive => '{"token": null}', k => 0) FROM unnest('{age,zip}'::text[]) AS quasi;
SELECT two_views('kept', 'SELECT id, %s, token FROM person', 'k => 5, keep_order => true');

-- What the order of some rows tells: n rows in an order, each with the place where it is stored.  In a random order one
-- row is expected where it is stored and two beside their neighbours; 25 or more are less likely than 1 in 10^17.  The
-- correlation of the orders is above 7 / sqrt(n) less often than 1 in 10^11.
CREATE FUNCTION tells(places integer[]) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN count(*) <> cardinality(places) OR count(*) < 100 THEN 'no rows'
		WHEN count(*) FILTER (WHERE at = rank) >= 25 THEN 'the stored order'
		WHEN count(*) FILTER (WHERE abs(rank - neighbour) = 1) >= 25 THEN 'neighbours'
		WHEN abs(corr(at, rank)) > 7 / sqrt(count(*)) THEN 'roughly the stored order'
		ELSE 'nothing' END
	FROM (SELECT at, rank, lag(rank) OVER (ORDER BY at) AS neighbour
		FROM (SELECT at, row_number() OVER (ORDER BY place) AS rank
			FROM unnest(places) WITH ORDINALITY AS p (place, at)) AS ranked) AS neighbours
$$;
SELECT tells(ARRAY(SELECT place FROM person)) AS stored,
	tells(ARRAY(SELECT place FROM person ORDER BY place > 500, gen_random_uuid())) AS halves,
	tells(ARRAY(SELECT (place + 500) % 1000 FROM person)) AS shifted,
	tells(ARRAY(SELECT place FROM person ORDER BY gen_random_uuid())) AS random;
CREATE FUNCTION rows_of(name text, condition text) RETURNS integer[] LANGUAGE plpgsql AS $$
DECLARE
	rows integer[];
BEGIN
	EXECUTE format('SELECT array_agg(token) FROM %I WHERE %s', name, condition) INTO rows;
	RETURN rows;
END
$$;
-- The order of a view's rows, read with a condition; it differs from that of the other view's rows, too: how many
-- people have the same row number in both?  One is expected; fewer than 25 are chance.
CREATE FUNCTION order_of(name text, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	a integer[] := rows_of(name || '_age', condition);
	b integer[] := rows_of(name || '_zip', condition);
	same integer;
BEGIN
	SELECT count(*) INTO same FROM unnest(a, b) AS t (x, y) WHERE x = y;
	RETURN format('%s, %s; %s', tells(a), tells(b),
		CASE WHEN same >= 25 THEN same || ' pairs' ELSE 'no pairs beyond chance' END);
END
$$;
CREATE TABLE source (n integer GENERATED ALWAYS AS IDENTITY, name text);
INSERT INTO source (name)
	SELECT unnest('{plain,parts,sorted,joined,called,blocks,stored,tree,asked,chosen,bare}'::text[]);

-- The whole views.
SELECT name, order_of(name, 'true') FROM source ORDER BY n;
-- Selected rows, by each plan, in order of an index, too.
SET kanon.plan = anonymize_first;
SELECT name, order_of(name, 'token > 100') FROM source ORDER BY n;
SET kanon.plan = select_first;
SELECT name, order_of(name, 'token > 100') FROM source ORDER BY n;
SET kanon.plan = function;
SELECT name, order_of(name, 'true') FROM source ORDER BY n;
RESET kanon.plan;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT name, order_of(name, 'true') FROM source ORDER BY n;
RESET enable_seqscan;
RESET enable_bitmapscan;
-- By parallel workers, if there are any.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT name, order_of(name, 'true') FROM source ORDER BY n;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;
-- Groups of witnesses, found first or last.
SET kanon.plan = select_first;
SELECT tells(rows_of('asked_age', 'age < 20'));
SET kanon.plan = anonymize_first;
SELECT tells(rows_of('asked_age', 'age < 20'));
RESET kanon.plan;

-- An owner who wants the stored order gets it, and hears what it tells.
SELECT order_of('kept', 'true'), order_of('kept', 'token > 100');
SELECT view, measure, severity, right(advice, 46) AS advice FROM unnest('{kept_age,plain_age}'::regclass[]) AS view,
	LATERAL kanon.audit(view) WHERE topic = 'order';
-- Not an order that a plan makes.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET kanon.plan = select_first;
SELECT kanon.create_anonymization_view('kept_index', 'SELECT id, age, token, zip, ward FROM person', id => '{id}',
	quasi_ids => '{"age": "years"}', sensitive => '{"token": null, "zip": null}', k => 5, keep_order => true);
SELECT tells(ARRAY(SELECT token FROM kept_index WHERE zip > '0')) AS token,
	tells(ARRAY(SELECT zip::integer * 1000 + token FROM kept_index WHERE zip > '0')) AS zip;
RESET kanon.plan;
RESET enable_seqscan;
RESET enable_bitmapscan;
-- The order that the view's query asks for, however it is read.
SELECT kanon.create_anonymization_view('kept_sorted', 'SELECT id, age, token FROM person ORDER BY zip, id',
	id => '{id}', quasi_ids => '{"age": "years"}', sensitive => '{"token": null}', k => 5, keep_order => true);
SELECT array_agg(token) = (SELECT array_agg(token ORDER BY zip, id) FROM person) AS "sorted" FROM kept_sorted;
DO LANGUAGE kanon $$ CREATE ANONYMIZATION_VIEW kept_word ON SELECT id, age, token FROM person WITH KEEP_ORDER
	ANONYMIZATION_ID id ANONYMIZATION_QUASI_ID age DGH_NAME years ANONYMIZATION_SENSITIVE_ATTR token K 5 $$;
SELECT tells(ARRAY(SELECT token FROM kept_word));
-- Blocks one after the other, but not the order of identifiers within them.
SELECT two_views('kept_blocks', 'SELECT id, %s, token FROM person', 'k => 5, block_size => 100, keep_order => true');
SELECT tells(ARRAY(SELECT token FROM kept_blocks_age)) <> 'nothing' AS "in blocks",
	tells(ARRAY(SELECT token FROM kept_blocks_age WHERE token BETWEEN 101 AND 200)) AS block;

-- The first rows are any rows: of 60 times, the first row is one of the first 10 of the table at most once or twice;
-- 15 times is less likely than 1 in 10^15.
CREATE FUNCTION first_rows(name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	token integer;
	early integer := 0;
BEGIN
	FOR i IN 1 .. 60 LOOP
		EXECUTE format('SELECT token FROM %I LIMIT 1', name) INTO token;
		early := early + (token <= 10)::integer;
	END LOOP;
	RETURN CASE WHEN early >= 15 THEN 'early rows' ELSE 'any rows' END;
END
$$;
SELECT name, first_rows(name || '_age') FROM source WHERE name IN ('plain', 'sorted', 'blocks', 'bare', 'stored')
	ORDER BY n;
SELECT first_rows('kept_age');
BEGIN;
DECLARE a CURSOR FOR SELECT token FROM plain_age;
DECLARE b CURSOR FOR SELECT token FROM plain_age;
CREATE FUNCTION fetched(name text) RETURNS integer[] LANGUAGE plpgsql AS $$
DECLARE
	cursor refcursor := name;
	token integer;
	result integer[];
BEGIN
	LOOP
		FETCH cursor INTO token;
		EXIT WHEN NOT FOUND;
		result := result || token;
	END LOOP;
	RETURN result;
END
$$;
SELECT tells(a), tells(b), count(*) FILTER (WHERE x = y) < 25 AS "independent"
FROM fetched('a') AS a, fetched('b') AS b, LATERAL unnest(a, b) AS t (x, y) GROUP BY a, b;
COMMIT;
-- Rescans.
SELECT tells(ARRAY(SELECT token FROM (SELECT token, g FROM generate_series(1, 2) AS g,
	LATERAL (SELECT token, g AS same FROM plain_age OFFSET 0) AS v) AS t WHERE g = n)) FROM generate_series(1, 2) AS n;

-- Cells: where all rows of a cell are the same, they come together, and cells in any order.
SELECT kanon.create_anonymization_view('cells', 'SELECT id, place FROM person', id => '{id}',
	quasi_ids => '{"place": "years"}', k => 5);
SELECT tells(ARRAY(SELECT lower(place::int8range)::integer FROM (SELECT DISTINCT ON (place) place, at
	FROM (SELECT place, row_number() OVER () AS at FROM cells) AS numbered WHERE place::text <> '*' ORDER BY place, at)
	AS firsts ORDER BY at));

-- Rows beyond work_mem; and classes beyond it, so that they are recoded in parts.
CREATE TABLE many (id integer, x integer, y integer, token integer, filler text);
INSERT INTO many SELECT i, i * 7919 % 20000, i * 104729 % 20000, i, repeat('x', 100)
	FROM generate_series(1, 20000) AS i;
ANALYZE many;
SELECT kanon.create_interval_dgh('many', 0, '{10, 100, 1000}');
SELECT kanon.create_anonymization_view(name, 'SELECT id, x, y, token, filler FROM many', id => '{id}',
	quasi_ids => quasi, sensitive => '{"token": null, "filler": null}', k => 5)
FROM (VALUES ('many_rows', '{"x": "many"}'::jsonb), ('many_classes', '{"x": "many", "y": "many"}')) AS v (name, quasi);
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT view, tells(rows), cardinality(rows), (SELECT sum(token) FROM unnest(rows) AS token)
FROM (SELECT 'rows' AS view, array_agg(token) AS rows FROM many_rows WHERE filler IS NOT NULL
	UNION ALL SELECT 'classes', array_agg(token) FROM many_classes WHERE filler IS NOT NULL
	UNION ALL SELECT 'selected', array_agg(token) FROM many_rows WHERE token > 4000 AND filler IS NOT NULL) AS v;
RESET work_mem;
RESET hash_mem_multiplier;
