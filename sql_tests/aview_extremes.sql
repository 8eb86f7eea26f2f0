-- Values at the ends of their types, and beyond the ends of other types: every plan gives the same answer, and none an
-- error.
-- What a view measures of itself is not the question here.
SET kanon.measure_views = off;
CREATE TABLE extreme (id int PRIMARY KEY, f float8, r real, n numeric, d date, ts timestamp, tz timestamptz, w int);
INSERT INTO extreme SELECT i,
	(ARRAY['1.7976931348623157e308', '-1.7976931348623157e308', '5', 'NaN', 'infinity']::float8[])[1 + i % 5],
	(ARRAY['3.4e38', '-3.4e38', '1', '-infinity']::real[])[1 + i % 4],
	(ARRAY['NaN', 'infinity', '1e400', '1e131000', '-2.5']::numeric[])[1 + i % 5],
	(ARRAY['5874897-12-31', '4713-01-01 BC', 'infinity', '2000-01-01']::date[])[1 + i % 4],
	(ARRAY['294276-12-31 23:59:59', '4713-01-01 BC', 'infinity', '2000-01-01 10:00']::timestamp[])[1 + i % 4],
	(ARRAY['294276-12-31 23:59:59+00', '4713-01-01 00:00+00 BC', '-infinity',
	'2000-01-01 10:00+00']::timestamptz[])[1 + i % 4],
	i FROM generate_series(1, 40) i;
CREATE INDEX ON extreme (w);
CREATE INDEX ON extreme (f);
CREATE INDEX ON extreme (ts);
ANALYZE extreme;
SELECT kanon.create_interval_dgh('wide', 0, '{1e308, 1e309}'), kanon.create_date_dgh('old', '{month,century}');

-- Return the answer of a plan; an error is an answer, too.
CREATE FUNCTION answer(plan text, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	PERFORM set_config('kanon.plan', plan, true);
	EXECUTE format('SELECT md5(string_agg(x::text, '' '' ORDER BY w)) FROM x WHERE %s', condition) INTO result;
	RETURN coalesce(result, 'no row');
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || left(SQLERRM, 100);
END
$$;
CREATE TABLE answers (view text, condition text, plan text, answer text);
DO $$
DECLARE
	asked record;
	q text;
BEGIN
	FOR asked IN SELECT * FROM (VALUES ('f', 'wide'), ('r', 'wide'), ('n', 'wide'), ('d', 'old'), ('ts', 'old'),
		('tz', 'old'), ('f', NULL), ('n', NULL), ('d', NULL), ('ts', NULL), ('tz', NULL)) AS c (q, dgh),
		unnest('{2,12,25}'::int[]) AS k, unnest('{cover,witness}'::text[]) AS match LOOP
		q := asked.q;
		PERFORM kanon.create_anonymization_view('x', format('SELECT id, %s, w FROM extreme', q), id => '{id}',
			quasi_ids => jsonb_build_object(q, asked.dgh), k => asked.k, match => asked.match, other => '{w}');
		INSERT INTO answers SELECT format('%s %s %s %s', q, asked.dgh, asked.k, asked.match), condition, plan,
			answer(plan, condition)
			FROM unnest(ARRAY['w IN (3, 4, 6)', q || ' > 5 AND w < 10', format('%s = ''5''', q),
				format('%s = ''infinity''', q), format('%s = ''NaN''', q), format('%s = timestamp ''infinity''', q),
				format('%s = timestamp ''-infinity''', q),
				format('%s = timestamptz ''294276-12-31''', q), format('%s <= date ''5874897-12-31''', q),
				format('%s >= 1e400', q)]) AS condition,
			-- The function knows no witnesses.
			unnest(CASE asked.match WHEN 'cover' THEN '{anonymize_first,select_first,function}'
				ELSE '{anonymize_first,select_first}' END::text[]) AS plan;
		DROP VIEW x;
	END LOOP;
END
$$;
SELECT count(*) AS answers, count(*) FILTER (WHERE answer <> 'no row') > 900 AS "with rows",
	count(DISTINCT answer) > 40 AS different FROM answers;
SELECT view, condition, array_agg(DISTINCT answer) AS answers FROM answers GROUP BY view,
	condition HAVING count(DISTINCT answer) > 1 OR min(answer) ~ ' ' AND min(answer) <> 'no row' ORDER BY view,
	condition;

-- Nor can how much was lost be measured on such a line: a cell with more than one value has lost everything.
SELECT kanon.create_anonymization_view('x',
	'SELECT id, CASE WHEN id <= 20 THEN n ELSE id END AS n FROM extreme WHERE n NOT IN (''NaN'', ''infinity'')',
	id => '{id}', quasi_ids => '{"n": null}', k => 5, algorithm => 'mondrian');
SELECT regexp_replace(n::text, '0{100,}', '0...0') AS n, count(*) FROM x GROUP BY x.n ORDER BY x.n;
SELECT groups, ncp FROM kanon.quality('x');
