-- The rows of a release come in random order: neither as they are stored, nor by their identifiers, nor group by group.
CREATE TABLE person (id integer, name text, age integer, x integer, value integer, word text);
INSERT INTO person SELECT i, to_char(i, 'FM00000'), i * 37 % 91, i * 53 % 89, i % 100, 'w' || i % 7
	FROM generate_series(1, 1000) AS i;
CREATE TABLE register AS SELECT 'r' || i AS name, i % 90 AS age, i % 80 AS x FROM generate_series(1, 300) AS i;

-- What the order of some rows tells.  Of 1,000 rows in random order one is expected where it is stored, and two beside
-- a neighbour; 25 are less likely than 1 in 10^17.  Groups are of some 10 rows, so that 10 rows are expected beside
-- one of their own group; 200 are impossibly many.
CREATE FUNCTION tells(release text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format($q$
		SELECT CASE WHEN count(*) < 900 THEN 'no rows'
			WHEN count(*) FILTER (WHERE at = rank) >= 25 THEN 'the stored order'
			WHEN count(*) FILTER (WHERE abs(rank - before) = 1) >= 25 THEN 'neighbours'
			WHEN abs(corr(at, rank)) > 0.23 THEN 'roughly the stored order'
			WHEN count(*) FILTER (WHERE grp = neighbour) >= 200 THEN 'groups'
			ELSE 'nothing' END
		FROM (SELECT at, rank, grp, lag(rank) OVER (ORDER BY at) AS before,
				lag(grp) OVER (ORDER BY at) AS neighbour
			FROM (SELECT at, grp, row_number() OVER (ORDER BY id) AS rank
				FROM (SELECT row_number() OVER () AS at, * FROM %s) AS numbered) AS ranked)
				AS neighbours$q$, release) INTO result;
	RETURN result;
END
$$;
SELECT tells('(SELECT name AS id, id % 100 AS grp FROM person) AS p') AS stored,
	tells('(SELECT name AS id, id % 100 AS grp FROM person ORDER BY id % 100, gen_random_uuid()) AS p') AS grouped,
	tells('(SELECT name AS id, id % 100 AS grp FROM person ORDER BY gen_random_uuid()) AS p') AS random;
SELECT kanon.create_dgh('words');
INSERT INTO kanon.dgh_edge SELECT 'words', 'w' || i, 'words' || i % 2 FROM generate_series(0, 6) AS i;
SELECT name, tells(format('kanon.%s', release)) FROM (VALUES
	('mondrian', $$mondrian('person', 'name', '{"age": null, "x": null}', 5)$$),
	('topdown', $$topdown('person', 'name', '{"age": null, "x": null}', 5)$$),
	('local_recoding', $$local_recoding('person', 'name', '{"age": null, "x": null}', 5)$$),
	('kja', $$kja('person', 'register', 'name', '{"age": null, "x": null}', 5)$$),
	('plain_k', $$plain_k('person', 'name', '{"age": null, "x": null}', 'value', 5)$$),
	('anatomy', $$anatomy('person', 'name', 'word', 3)$$),
	('n_dependency', $$n_dependency('person', 'name', 'word', 'words', 2)$$)) AS r (name, release);
SELECT name, tells(format('(SELECT *, id AS grp FROM kanon.%s) AS r', release)) FROM (VALUES
	('uncertain', $$uncertain('person', 'name', '{age,x}', 5)$$),
	('condense', $$condense('person', 'name', '{age,x}', 5)$$)) AS r (name, release);
-- With a seed, too, and not twice the same.
SELECT count(*) FILTER (WHERE a.id = b.id) < 25 AS "another order", count(*)
FROM (SELECT row_number() OVER () AS at, id FROM kanon.topdown('person', 'name', '{"age": null}', 5, seed => 7)) AS a
JOIN (SELECT row_number() OVER () AS at, id FROM kanon.topdown('person', 'name', '{"age": null}', 5, seed => 7)) AS b
	USING (at);
