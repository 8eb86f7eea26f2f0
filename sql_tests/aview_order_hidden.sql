-- A row whose owner hides a quasi-identifier must not come beside the rows of its group, which show it: neither with
-- witnesses, whose groups are read one by one, nor from blocks or parts.
SET client_min_messages = warning;
SELECT kanon.create_interval_dgh('tens', 0, '{10, 50}'), kanon.create_prefix_dgh('zips', 4);
CREATE TABLE person (id integer PRIMARY KEY, age integer, zip text, token integer);
INSERT INTO person SELECT i, i % 100, to_char(1000 + i % 400 * 10, 'FM0000'), i FROM generate_series(1, 40000) AS i;
CREATE INDEX ON person (age, zip);
CREATE TABLE choice AS SELECT id, 'care' AS purpose, 'ward' AS recipient, 5 AS k, id % 3 > 0 AS shows FROM person;
ALTER TABLE choice ADD PRIMARY KEY (id, purpose, recipient);
VACUUM ANALYZE person, choice;
SELECT kanon.grant_access(current_user, 'care', 'ward');
SET kanon.purpose = care;
SET kanon.recipient = ward;
SELECT kanon.create_anonymization_view(name, 'SELECT id, age, zip, token FROM person', id => '{id}',
	quasi_ids => '{"age": "tens", "zip": "zips"}', sensitive => '{"token": null}', k => 5, match => match,
	block_size => size, materialized => materialized,
	profile => '{"table": "choice", "key": {"id": "id"}, "k": "k", "purpose": "purpose",
		"recipient": "recipient", "disclose": {"zip": "shows"}}')
FROM (VALUES ('cover', 'cover', NULL::integer, false), ('witness', 'witness', NULL, false),
	('blocks', 'cover', 500, false), ('stored', 'witness', NULL, true)) AS v (name, match, size, materialized);

-- Guess a zip that is hidden from the last one shown before it.  By chance that is right for one row in 400, or in 4 of
-- the rows of an age; of 130 rows it is right for three fifths less often than 1 time in 10^15.
CREATE FUNCTION guessed(name text, condition text DEFAULT 'age < 90') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hidden integer;
	guessed integer;
BEGIN
	EXECUTE format($q$
		SELECT count(*), count(*) FILTER (WHERE p.zip = g.guess)
		FROM (SELECT token, zip,
				(max(ARRAY[at::text, zip::text]) FILTER (WHERE zip IS NOT NULL) OVER (ORDER BY at))[2] AS guess
			FROM (SELECT to_char(row_number() OVER (), 'FM00000') AS at, token, zip FROM %I WHERE %s) AS numbered) AS g
		JOIN person AS p USING (token) WHERE g.zip IS NULL$q$, name, condition) INTO hidden, guessed;
	RETURN CASE WHEN hidden < 130 THEN 'little is hidden' WHEN guessed >= hidden * 0.6 THEN 'guessed'
		ELSE 'by chance' END;
END
$$;
SELECT view, guessed(view) FROM unnest('{cover,witness,blocks,stored}'::text[]) AS view;
SET kanon.plan = select_first;
SELECT view, guessed(view) FROM unnest('{cover,witness,blocks,stored}'::text[]) AS view;
SELECT guessed('witness', 'age = 7');
SET kanon.plan = anonymize_first;
SELECT view, guessed(view) FROM unnest('{cover,witness,blocks,stored}'::text[]) AS view;
SET kanon.plan = function;
SELECT view, guessed(view) FROM unnest('{cover,witness,blocks,stored}'::text[]) AS view;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT view, guessed(view) FROM unnest('{cover,witness}'::text[]) AS view;
RESET kanon.plan;
RESET work_mem;
RESET hash_mem_multiplier;
-- The same rows by each way: groups of witnesses, and their number.
SET kanon.plan = select_first;
CREATE TABLE found AS SELECT age, zip, token FROM witness WHERE age = 7 AND zip = '1070';
SET kanon.plan = anonymize_first;
SELECT count(*) > 5 AS "some", count(*) FILTER (WHERE zip IS NULL) > 0 AS "hidden",
	(SELECT count(*) FROM (SELECT age::text, zip::text, token FROM witness WHERE age = 7 AND zip = '1070'
		EXCEPT ALL SELECT age::text, zip::text, token FROM found) AS missing) AS missing FROM found;
