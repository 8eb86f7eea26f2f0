-- Where the query of an A-view ends: at the WITH of the clauses and nowhere else.
CREATE TABLE person (id int, zip text, seen timestamp DEFAULT '2020-02-02', n int DEFAULT 0);
INSERT INTO person (id, zip) SELECT i, 'z' || i % 2 FROM generate_series(1, 10) i;

-- Makes the same A-view by statement and by function, and says whether they agree; else the error.
CREATE FUNCTION same(query text, clauses text DEFAULT 'K 2') RETURNS text LANGUAGE plpgsql
	SET client_min_messages = error AS $f$
DECLARE
	by_statement text;
	by_function text;
BEGIN
	EXECUTE format('DO LANGUAGE kanon %L', format('CREATE ANONYMIZATION_VIEW s ON %s WITH %s', query,
		regexp_replace(clauses, ';*$', ' ANONYMIZATION_OTHER *\&')));
	PERFORM kanon.create_anonymization_view('f', query, k => 2, other => '{*}');
	by_statement := regexp_replace(pg_get_viewdef('s'::regclass), $$kanon.scan\('\d+'$$, 'scan(');
	by_function := regexp_replace(pg_get_viewdef('f'::regclass), $$kanon.scan\('\d+'$$, 'scan(');
	DROP VIEW s, f;
	RETURN CASE WHEN by_statement = by_function THEN 'same' ELSE by_statement END;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $f$;

SELECT query, same(query) FROM (VALUES
	('SELECT * FROM person'),
	('(SELECT * FROM person)'),
	('TABLE person'),
	('VALUES (1, 2), (3, 4)'),
	('WITH a AS (SELECT * FROM person) SELECT * FROM a'),
	('WITH k AS (SELECT * FROM person) SELECT * FROM k'),
	('WITH t (anonymization_id) AS (SELECT id FROM person) SELECT * FROM t'),
	('WITH match AS MATERIALIZED (SELECT id FROM person) SELECT * FROM match'),
	('WITH anonymization_id AS (SELECT id FROM person), l AS (TABLE anonymization_id) SELECT * FROM l'),
	('WITH RECURSIVE k (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < 3) SELECT * FROM k'),
	('WITH a AS (WITH k AS (SELECT 1 AS one) SELECT * FROM k) SELECT * FROM a'),
	('SELECT (WITH anonymization_quasi_id AS (SELECT 1 AS n) SELECT n FROM anonymization_quasi_id) AS n'),
	('SELECT * FROM generate_series(1, 3) WITH ORDINALITY AS g (n, o)'),
	('SELECT * FROM person ORDER BY zip FETCH FIRST 3 ROWS WITH TIES'),
	('SELECT seen::timestamp with time zone FROM person'),
	('SELECT id AS with FROM person'),
	('SELECT id AS k, zip AS anonymization_id FROM person AS t'),
	('SELECT ''WITH K 5; ('' AS s'),
	('SELECT ''it''''s WITH K 5'' AS s'),
	('SELECT E''it\''s WITH K 5'' AS s'),
	('SELECT U&''d\0061ta WITH K 5'' AS s'),
	('SELECT $$ WITH K 5; $$ AS s'),
	('SELECT $a$ $b$ '' WITH ANONYMIZATION_ID x $b$ $a$ AS s'),
	('SELECT ''a''
	'' WITH K 5'' AS s'),
	('SELECT 1 AS "a"" WITH K 5; ("'),
	('SELECT 1 AS n -- WITH K 5; (''
	'),
	('SELECT 1 AS n /* WITH K 5; ( /* nested */ WITH K 6 */'),
	('/* first */ SELECT 1 AS n'),
	('SELECT count(*) FILTER (WHERE id > 1) AS n FROM person GROUP BY zip HAVING count(*) > 1'),
	('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY id) AS p FROM person'),
	('SELECT a.id, b.zip FROM person a JOIN person b ON a.id = b.id'),
	('SELECT id FROM person WHERE id = ANY (ARRAY[1, 2]) OR zip ~ ''^z[0-1]$'''),
	('SELECT (id).zip AS zip FROM (SELECT person AS id FROM person) x'),
	('SELECT 1 AS "K" UNION SELECT 2 ORDER BY 1 LIMIT 1'),
	-- No SELECT, or not one.
	('SELECT 1 AS n; SELECT 2 AS n'), (''), ('-- none
	'), ('DELETE FROM person RETURNING id'), ('SELECT 1 AS n INTO TABLE x'), ('SELECT'), ('SELECT FROM person'),
	('WITH d AS (DELETE FROM person RETURNING id) SELECT * FROM d'),
	('SELECT (1 AS n'), ('SELECT 1) AS n'), ('SELECT ''1 AS n'), ('SELECT $$1 AS n'), ('SELECT "1 AS n'),
	('SELECT 1 /* AS n'), ('SELECT 1 WITH'), ('SELECT 1 WITH K')
) AS t (query);

-- Clauses that can follow.
SELECT clauses, same('SELECT id AS k FROM person', clauses) FROM (VALUES
	('K 2'), ('k 2'), ('/* */ K -- 3
	2'), ('MATCH cover K 2'), ('ALGORITHM datafly K 2'), ('"k" REFERENCES t (k)'), ('k REFERENCES t (k)'),
		('any_name REFERENCES t (k)'),
	('ANONYMIZATION_ID'), ('ANONYMIZATION_IDENTIFIER k K 2'), ('K'), ('K AS (2)'), ('L (2)'), ('WITH K 2'),
	('RECURSIVE K 2')
) AS t (clauses);

-- Strings follow the session's settings, as in the query itself.
SET standard_conforming_strings = off; SET escape_string_warning = off;
SELECT same(E'SELECT ''\\'' WITH K 5'' AS s');
RESET standard_conforming_strings;
SELECT same(E'SELECT ''\\'' AS s');
RESET escape_string_warning;

-- Queries made of such pieces at random: the statement always takes the function's query.
SELECT setseed(0.42);
DO $test$
DECLARE
	ctes text[] := ARRAY['', '', 'WITH k AS (SELECT 1 AS one) ',
		'with anonymization_id (match) as (select 1) /* WITH K 2 */ ',
		'WITH RECURSIVE t AS (VALUES (1)), algorithm AS (TABLE t) ', E'WITH "l" AS (SELECT '')'') -- WITH K 2;\n'];
	items text[] := ARRAY['id', 'zip', '''WITH K 5''', '$x$;WITH ANONYMIZATION_ID a$x$', E'E''\\'' WITH L 2''',
		'(WITH k AS (SELECT 1) TABLE k)',
		'seen::timestamp with time zone', '/* WITH T 1 */ n', E'n -- ;WITH K 5\n',
		'(SELECT max(p.id) FROM (SELECT * FROM person) AS p)',
		'(ARRAY[1, 2])[n]', '$$''$$', 'U&''\0028''', 'cast(n AS varchar(3))', 'CASE WHEN n > 0 THEN '';'' END'];
	aliases text[] := ARRAY['a', 'with', 'k', '"WITH K 5"', '"a""; WITH ("', 'anonymization_id', 'match'];
	sources text[] := ARRAY['person', 'person AS t', 'person k, generate_series(1, 2) WITH ORDINALITY',
		'(SELECT * FROM person) AS "with"',
		'person JOIN LATERAL (SELECT 1 AS x) match ON true'];
	tails text[] := ARRAY['', ' WHERE id > 0', ' ORDER BY 1 FETCH FIRST 2 ROWS WITH TIES', ' /* ; */',
		E' -- WITH K 5\n', ' LIMIT 5 OFFSET 1'];
	clauses text[] := ARRAY['K 2', 'k 2', 'MATCH cover K 2', E'-- x\n K 2', 'K 2 ALGORITHM datafly', 'K 2;;',
		'K 2 /* WITH K 3 */'];
	query text;
	answer text;
	made int := 0;
BEGIN
	FOR i IN 1 .. 200 LOOP
		query := ctes[1 + floor(random() * array_length(ctes, 1))] || 'SELECT '
			|| (SELECT string_agg(items[1 + floor(random() * array_length(items, 1))] || ' AS ' || alias, ', ')
				FROM (SELECT DISTINCT aliases[1 + floor(random() * array_length(aliases, 1))] AS alias
					FROM generate_series(1, 1 + i % 4)) AS a)
			|| ' FROM ' || sources[1 + floor(random() * array_length(sources, 1))]
			|| tails[1 + floor(random() * array_length(tails, 1))];
		answer := same(query, clauses[1 + floor(random() * array_length(clauses, 1))]);
		IF answer = 'same' THEN
			made := made + 1;
		ELSE
			RAISE NOTICE '%: %', query, answer;
		END IF;
	END LOOP;
	RAISE NOTICE 'the same % times', made;
END $test$;
