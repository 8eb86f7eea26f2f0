-- Thousands of mutated statements: each is understood or refused with an error that the user can act on,
-- and none leaves anything behind.
CREATE TABLE person (id int, zip text, age int, disease text);
INSERT INTO person SELECT i, 'z' || i % 3, 20 + i % 4, (ARRAY['flu', 'ulcer'])[1 + i % 2] FROM generate_series(1, 12) i;
SELECT kanon.create_dgh('d');
INSERT INTO kanon.dgh_edge VALUES ('d', 'flu', 'lung'), ('d', 'ulcer', 'stomach');
SELECT kanon.create_anonymization_view('v', 'SELECT * FROM person', id => '{id}', k => 2, other => '{*}');

-- A random statement, changed at random places: pieces taken out, put in, doubled, exchanged with another statement's.
CREATE FUNCTION mutant(changes int) RETURNS text LANGUAGE plpgsql AS $f$
DECLARE
	statements text[] := ARRAY[
		'CREATE DGH e', 'DROP DGH d', 'INSERT INTO DGH d asthma, lung-disease',
		'INSERT INTO DGH d (asthma, ''lung''), (88***, *)',
		'CREATE DGH e; INSERT INTO DGH e a, b; DROP DGH e', 'DROP ANONYMIZATION_VIEW v',
		'DROP ANONYMIZATION_VIEW public."v"',
		'CREATE ANONYMIZATION_VIEW w ON SELECT * FROM person WITH ANONYMIZATION_ID id ANONYMIZATION_QUASI_ID zip, age '
			'ANONYMIZATION_SENSITIVE_ATTR disease DGH_NAME d K 2',
		'CREATE ANONYMIZATION_VIEW w ON WITH p AS (SELECT * FROM person) SELECT id, disease '
			'FROM p WITH ANONYMIZATION_QUASI_ID disease DGH_NAME d K 2 L 2 T 0.5 MATCH witness ALGORITHM datafly;',
		'CREATE MATERIALIZED ANONYMIZATION_VIEW "W" ON SELECT id, $$WITH K$$ AS t '
			'FROM person WITH id REFERENCES person(id, age)',
		'CREATE ANONYMIZATION_VIEW w ON SELECT zip, count(*) AS n FROM person GROUP BY zip /* WITH */ -- K' || chr(10)
			|| 'WITH K 0 BLOCK_SIZE 5'];
	words text[] := ARRAY[' ', ',', ';', '(', ')', '''', '"', '$$', '$x$', '--', '/*', '*/', '*', '.', '-', '\', E'\n',
		E'\t', E'\u00a0', 'é', '漢', '𝄞', '&', '%', '$1', ':=',
		' CREATE ', ' DROP ', ' INSERT ', ' INTO ', ' DGH ', ' ANONYMIZATION_VIEW ', ' MATERIALIZED ', ' ON ', ' WITH ',
		' ANONYMIZATION_ID ',
		' ANONYMIZATION_QUASI_ID ', ' ANONYMIZATION_SENSITIVE_ATTR ', ' DGH_NAME ', ' REFERENCES ', ' K ', ' L ', ' T ',
		' MATCH ', ' ALGORITHM ', ' BLOCK_SIZE ',
		' 0 ', ' 1 ', ' -2 ', ' 2147483648 ', ' 1e400 ', ' .5', '0x', ' d ', ' v ', ' id', ' zip', ' NULL ', ' AS ',
		' SELECT ', ' FROM person ', 'U&"', 'E''\', repeat('x', 70), repeat('(', 50)];
	code text := statements[1 + floor(random() * array_length(statements, 1))];
	other text;
	at int;
	span int;
BEGIN
	FOR i IN 1 .. changes LOOP
		at := 1 + floor(random() * (length(code) + 1));
		span := floor(random() * random() * 20);
		CASE floor(random() * 6)
			WHEN 0 THEN code := overlay(code PLACING '' FROM at FOR span);
			WHEN 1 THEN code := overlay(code PLACING words[1 + floor(random() * array_length(words, 1))] FROM at FOR 0);
			WHEN 2 THEN code := overlay(code PLACING words[1 + floor(random() * array_length(words, 1))]
				FROM at FOR span);
			WHEN 3 THEN code := overlay(code PLACING repeat(substr(code, at, span), 2) FROM at FOR span);
			WHEN 4 THEN code := overlay(code PLACING chr(1 + floor(random() * 300)::int) FROM at FOR 1);
			ELSE
				other := statements[1 + floor(random() * array_length(statements, 1))];
				code := left(code, at) || substr(other, 1 + floor(random() * length(other))::int);
		END CASE;
	END LOOP;
	RETURN code;
END $f$;

-- Return the outcome of a block of code, and undo its effects.
CREATE FUNCTION outcome(code text) RETURNS text LANGUAGE plpgsql AS $f$
BEGIN
	EXECUTE format('DO LANGUAGE kanon %L', code);
	RAISE EXCEPTION USING ERRCODE = 'K0000';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $f$;

-- Errors may come from the grammar (42601), or concern the arguments: names, numbers, hierarchies, the query.
CREATE TABLE result (code text, state text);
SELECT setseed(0.7);
SET client_min_messages = error;
INSERT INTO result SELECT code, outcome(code)
	FROM (SELECT mutant(i % 5) AS code FROM generate_series(1, 6000) i OFFSET 0) AS m;
RESET client_min_messages;
SELECT count(*) AS blocks, count(*) FILTER (WHERE state = '42601') > 3000 AS refused,
	count(*) FILTER (WHERE state = 'K0000') > 500 AS understood,
	count(*) FILTER (WHERE state NOT IN ('42601', 'K0000')) > 200 AS impossible
	FROM result;
SELECT state, code FROM result WHERE state !~ '^(42|22|23|0A|3F|2B|21|K0)' ORDER BY code;

-- Parsing starts over each time, and nothing is left.
SELECT (SELECT count(*) FROM kanon.aview) AS views, (SELECT count(*) FROM kanon.dgh) AS hierarchies,
	(SELECT count(*) FROM kanon.dgh_edge) AS edges;
DO LANGUAGE kanon $$ CREATE DGH e; INSERT INTO DGH e a, b; DROP ANONYMIZATION_VIEW v;
	CREATE ANONYMIZATION_VIEW v ON SELECT * FROM person WITH ANONYMIZATION_ID id ANONYMIZATION_QUASI_ID zip K 4 $$;
SELECT zip, count(*) FROM v GROUP BY zip ORDER BY zip;
