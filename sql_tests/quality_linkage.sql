-- Linking an A-view with an identified table, as an attacker would; against an oracle that joins rows with =.
\set dir `echo "$PG_ABS_SRCDIR"`
\set people :dir '/data/people.sql'
\i :people
\set SHOW_CONTEXT never
SET ROLE :"owner";
-- A register of all people, with some who are not in the view.
CREATE TABLE register AS SELECT DISTINCT name, age, zip, ward FROM person
	UNION ALL SELECT 'stranger ' || i, i, '7' || i, i FROM generate_series(10, 15) i UNION ALL SELECT 'unknown', NULL,
		NULL, NULL;

CREATE FUNCTION oracle(columns text[]) RETURNS TABLE (candidates bigint, people bigint) LANGUAGE plpgsql AS $$
BEGIN
	-- A missing value of the register could be anything; a published NULL is nothing else.
	RETURN QUERY EXECUTE (SELECT format('WITH found AS (SELECT r.ctid, count(p.age) FILTER (WHERE true) AS dummy,
			count(p.here) AS candidates FROM register r LEFT JOIN (SELECT true AS here, * FROM people
				WHERE NOT (%s)) p ON %s GROUP BY r.ctid)
		SELECT candidates, count(*) FROM found GROUP BY 1 ORDER BY 1',
		CASE WHEN columns <@ '{age,zip}' THEN string_agg(format('%I::text = ''*'' AND %I IS NOT NULL', c, c), ' AND ')
			ELSE 'false' END,
		string_agg(format('(r.%1$I IS NULL OR p.%1$I = r.%1$I)', c), ' AND ')) FROM unnest(columns) c);
END
$$;
CREATE FUNCTION compare(columns text[]) RETURNS TABLE (candidates bigint, people bigint, oracle bigint, fine boolean)
	LANGUAGE sql AS $$
	SELECT candidates, l.people, o.people, l.people IS NOT DISTINCT FROM o.people
	FROM kanon.linkage('people', 'register', columns) l FULL JOIN oracle(columns) o USING (candidates)
		ORDER BY candidates
$$;
SELECT count(*) > 3 AS several, bool_and(fine) AS fine FROM compare('{age,zip}');
SELECT count(*) > 3 AS several, bool_and(fine) AS fine FROM compare('{age}');
SELECT count(*) > 3 AS several, bool_and(fine) AS fine FROM compare('{zip}');
-- By quasi-identifiers alone every person is one of at least four; with a column that has no role, of fewer.
SELECT min(candidates) FILTER (WHERE candidates > 0) >= 4 AS safe,
	sum(people) = (SELECT count(*) FROM register) AS everybody, round(sum(share)::numeric, 6) AS share
	FROM kanon.linkage('people', 'register', '{age,zip}');
SELECT bool_and(fine) AS fine, min(candidates) FILTER (WHERE candidates > 0) < 4 AS unsafe
	FROM compare('{age,zip,ward}');
-- Strangers have no candidate.
SELECT candidates, people FROM kanon.linkage('people', 'register', '{zip}') WHERE candidates = 0;

-- The other side: the people that each group may be about.
SELECT sum(rows) = (SELECT count(*) FROM people WHERE NOT (age::text = '*' AND zip::text = '*')) AS rows,
	min(population) > 0 AS population FROM kanon.linked_groups('people', 'register', '{age,zip}');

-- Types need not agree: the attacker's values may be text.
CREATE VIEW as_text AS SELECT age::text AS age, zip::char(3) AS zip FROM register;
SELECT count(*) FROM (SELECT * FROM kanon.linkage('people', 'register', '{age,zip}') EXCEPT SELECT *
	FROM kanon.linkage('people', 'as_text', '{age,zip}')) AS different;

-- An empty register, an empty view, no columns.
SELECT * FROM kanon.linkage('people', (SELECT 'nobody'::regclass), '{age}');
CREATE TABLE nobody (age integer);
SELECT * FROM kanon.linkage('people', 'nobody', '{age}');
SELECT kanon.create_anonymization_view('none', 'SELECT age FROM nobody', quasi_ids => '{"age": "ages"}', k => 2);
SELECT * FROM kanon.linkage('none', 'register', '{age}');
SELECT * FROM kanon.linkage('people', 'register', '{}');
SELECT * FROM kanon.linkage('people', 'register', '{disease}');
\set end :dir '/data/people_end.sql'
\i :end
