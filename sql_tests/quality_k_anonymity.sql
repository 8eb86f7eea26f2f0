-- kanon.k_anonymity and kanon.violations on any relation: by hand, and against an oracle in plain SQL.
CREATE TABLE visit (age integer, town text, ill text, cost integer);
INSERT INTO visit VALUES (20, 'Rome', 'flu', 10), (20, 'Rome', 'flu', 20), (20, 'Rome', 'hiv', 30),
	(20, 'Rome', NULL, 40),
	(30, 'Oslo', 'flu', 10), (30, 'Oslo', 'ulcer', 40), (NULL, 'Oslo', 'hiv', 20), (NULL, 'Oslo', 'hiv', 30);

-- Three classes of 4, 2 and 2 rows; the unknown ages are one.
SELECT * FROM kanon.k_anonymity('visit', '{age,town}');
-- Illness: {flu 2, hiv 1, null 1}, {flu 1, ulcer 1}, {hiv 2}.  The last has one value: l is 1, its entropy 0.
-- Of all 8: flu 3, hiv 3, ulcer 1, null 1.  The last is 1 - 3/8 away, the second (1/2 - 3/8) + (1/2 - 1/8).
SELECT * FROM kanon.k_anonymity('visit', '{age,town}', 'ill');
-- Cost is ordered: 10, 20, 30, 40, two of each.  Class 1 is like all; class 2 has 10 and 40: (1/4 + 0 + 1/4) / 3.
SELECT rows, classes, k, l_distinct, l_entropy, round(t::numeric, 6) AS t
	FROM kanon.k_anonymity('visit', '{age,town}', 'cost');
SELECT * FROM kanon.k_anonymity('visit', '{ill}');
SELECT * FROM kanon.k_anonymity('visit', '{age,town,ill,cost}');

SELECT * FROM kanon.violations('visit', '{age,town}', 3) ORDER BY rows, class;
SELECT * FROM kanon.violations('visit', '{ill}', 2) ORDER BY rows, class;
SELECT count(*) FROM kanon.violations('visit', '{age,town}', 2);

-- Nothing there.
CREATE TABLE nothing (age integer, ill text);
SELECT * FROM kanon.k_anonymity('nothing', '{age}');
SELECT * FROM kanon.k_anonymity('nothing', '{age}', 'ill');

-- Values that say nothing in every column are suppressed rows: of no class.
CREATE TABLE published (age kanon.generalized, town kanon.generalized, ill text);
INSERT INTO published VALUES ('[20,30)', 'Rome', 'flu'), ('[20,30)', 'Rome', 'hiv'), ('*', 'Rome', 'flu'),
	('*', 'Rome', 'flu'),
	('*', '*', NULL), (NULL, 'Oslo', 'flu'), (NULL, 'Oslo', 'hiv');
SELECT * FROM kanon.k_anonymity('published', '{age,town}');
SELECT rows, classes, k, l_distinct, t FROM kanon.k_anonymity('published', '{age,town}', 'ill');
SELECT * FROM kanon.k_anonymity('published', '{age}');
SELECT * FROM kanon.violations('published', '{age,town}', 5) ORDER BY class;

-- Every kind of relation with rows: views, partitions, child tables, foreign tables.
CREATE TABLE parted (age integer, town text) PARTITION BY RANGE (age);
CREATE TABLE young PARTITION OF parted FOR VALUES FROM (0) TO (30);
CREATE TABLE old PARTITION OF parted FOR VALUES FROM (30) TO (100);
INSERT INTO parted SELECT 20 + i % 4 * 5, 'x' FROM generate_series(1, 40) i;
SELECT * FROM kanon.k_anonymity('parted', '{age}');
CREATE MATERIALIZED VIEW kept AS SELECT * FROM visit WHERE age IS NOT NULL;
SELECT * FROM kanon.k_anonymity('kept', '{age}');
CREATE VIEW "a ""view""" AS SELECT age AS "the age, ""really""", town AS "select" FROM visit;
SELECT * FROM kanon.k_anonymity('"a ""view"""', ARRAY['the age, "really"', 'select']);
SELECT * FROM kanon.violations('"a ""view"""', ARRAY['the age, "really"', 'select'], 3) ORDER BY class;

-- Values are equal if SQL's = says so: 1.0 and 1.00, but not two moments of a day; also for types that cannot be
-- hashed.
CREATE TABLE typed (n numeric, at timestamp, words tsvector, s numeric);
INSERT INTO typed VALUES (1.0, '2020-01-01 10:00', 'a b', 5), (1.00, '2020-01-01 11:00', 'b a', 5.0),
	(2, '2020-01-01 10:00', 'c', 7), (2, '2020-01-01 11:00', 'c', NULL);
SELECT classes, k, l_distinct, t FROM kanon.k_anonymity('typed', '{n}', 's');
SELECT classes, k, l_distinct FROM kanon.k_anonymity('typed', '{at}', 's');
SELECT classes, k, l_distinct FROM kanon.k_anonymity('typed', '{words}', 's');
SELECT classes, k, l_distinct FROM kanon.k_anonymity('typed', '{n}', 'words');

-- Errors.
SELECT * FROM kanon.k_anonymity('visit', '{}');
SELECT * FROM kanon.k_anonymity('visit', '{age,NULL}');
SELECT * FROM kanon.k_anonymity('visit', '{age,shoe}');
SELECT * FROM kanon.k_anonymity('visit', '{age}', 'shoe');
SELECT * FROM kanon.k_anonymity('visit', '{ctid}');
CREATE SEQUENCE numbers;
SELECT * FROM kanon.k_anonymity('numbers', '{last_value}');
SELECT * FROM kanon.k_anonymity(NULL, '{age}');

-- Random tables: k, l, entropy and t by an oracle that compares rows with rows.
SELECT setseed(0.3);
CREATE TABLE random_rows (run integer, a integer, b text, s text, n integer);
INSERT INTO random_rows SELECT run, floor(random() * (1 + run % 4)), nullif((random() * 2)::integer, 2)::text,
	nullif((random() * 3)::integer, 3)::text, floor(random() * 5)
	FROM generate_series(1, 25) run, generate_series(1, 3 * run);
CREATE TABLE one AS SELECT * FROM random_rows WHERE false;
CREATE FUNCTION oracle(OUT k bigint, OUT l bigint, OUT entropy float8, OUT t float8, OUT ordered float8)
	LANGUAGE sql AS $$
	WITH class AS (SELECT a, b FROM one GROUP BY a, b),
	member AS (SELECT c.a AS ca, c.b AS cb, o.* FROM class c JOIN one o ON o.a IS NOT DISTINCT FROM c.a
		AND o.b IS NOT DISTINCT FROM c.b),
	per AS (SELECT ca, cb, count(*) AS rows, count(DISTINCT s) AS values FROM member GROUP BY ca, cb),
	part AS (SELECT ca, cb, s, count(*)::float8 AS n, sum(count(*)) OVER (PARTITION BY ca, cb) AS all_n FROM member
		WHERE s IS NOT NULL GROUP BY ca, cb, s),
	entropies AS (SELECT exp(-sum(n / all_n * ln(n / all_n))) AS e FROM part GROUP BY ca, cb),
	value AS (SELECT s FROM one GROUP BY s),
	distance AS (SELECT p.ca, p.cb,
		sum(abs((SELECT count(*) FROM member m WHERE m.ca IS NOT DISTINCT FROM p.ca AND m.cb IS NOT DISTINCT FROM p.cb
		AND m.s IS NOT DISTINCT FROM v.s) / p.rows::float8
		- (SELECT count(*) FROM one o WHERE o.s IS NOT DISTINCT FROM v.s) / (SELECT count(*)
			FROM one)::float8)) / 2 AS d FROM per p, value v GROUP BY p.ca, p.cb),
	number AS (SELECT n FROM one GROUP BY n),
	steps AS (SELECT p.ca, p.cb, sum(abs((SELECT count(*) FROM member m WHERE m.ca IS NOT DISTINCT FROM p.ca
		AND m.cb IS NOT DISTINCT FROM p.cb AND m.n <= v.n) / p.rows::float8
		- (SELECT count(*) FROM one o WHERE o.n <= v.n) / (SELECT count(*)
			FROM one)::float8)) / greatest((SELECT count(*) FROM number) - 1, 1) AS d FROM per p,
			number v GROUP BY p.ca, p.cb)
	SELECT (SELECT min(rows) FROM per), (SELECT min(values) FROM per),
		CASE WHEN (SELECT min(values) FROM per) = 0 THEN 0 ELSE (SELECT min(e) FROM entropies) END,
		(SELECT max(d) FROM distance), (SELECT max(d) FROM steps)
$$;
DO $$
DECLARE
	asked record;
	numbers record;
	right_one record;
	wrong integer := 0;
BEGIN
	FOR i IN 1 .. 25 LOOP
		TRUNCATE one;
		INSERT INTO one SELECT * FROM random_rows r WHERE r.run = i;
		SELECT * INTO asked FROM kanon.k_anonymity('one', '{a,b}', 's');
		SELECT * INTO numbers FROM kanon.k_anonymity('one', '{a,b}', 'n');
		SELECT * INTO right_one FROM oracle();
		IF asked.k <> right_one.k OR asked.l_distinct <> right_one.l OR abs(asked.l_entropy - right_one.entropy) > 1e-9
			OR abs(asked.t - right_one.t) > 1e-9 OR abs(numbers.t - right_one.ordered) > 1e-9 THEN
			wrong := wrong + 1;
			RAISE NOTICE '%: % but %', i, asked, right_one;
		END IF;
	END LOOP;
	RAISE NOTICE '% wrong', wrong;
END
$$;
-- A relation that is gone.
SELECT kanon.k_anonymity(0::regclass, '{a}');
