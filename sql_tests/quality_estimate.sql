-- Counts with an error bar.
\set dir `echo "$PG_ABS_SRCDIR"`
\set people :dir '/data/people.sql'
\i :people
\set SHOW_CONTEXT never
SET ROLE :"owner";
-- Shares of 1, 1/2 (twice), 0: two rows are expected, variance 1/2, at least one, at most three.
SELECT round(((e).estimate)::numeric, 6) AS estimate, round((e).error::numeric, 6) AS error,
	round((1.959964 * sqrt(0.5))::numeric, 6) AS by_hand, (e).low, (e).high
	FROM (SELECT kanon.estimate_count(s) AS e FROM unnest('{1,0.5,0.5,0}'::float8[]) s) x;
-- A row of which nothing is known counts as the others do, and may be wrong as a whole.
SELECT kanon.estimate_count(s) FROM unnest('{1,1,NULL}'::float8[]) s;
SELECT kanon.estimate_count(s) FROM unnest('{NULL}'::float8[]) s;
SELECT kanon.estimate_count(s) FROM unnest('{}'::float8[]) s;
SELECT kanon.estimate_count(1.5);
SELECT kanon.estimate_count('NaN');
SELECT kanon.estimate_add('{0,0,0,0,0,0}', 1);
SELECT kanon.estimate_add(NULL, 1);
CREATE AGGREGATE from_nothing(float8) (SFUNC = kanon.estimate_add, STYPE = float8[]);
SELECT from_nothing(1);
SELECT kanon.estimate_final('{1}');

-- On a view, by conditions or by coverage.  The product is unknown where the coverage is, also for rows without the
-- flu;
-- conditions count these out.
SELECT e.* FROM kanon.estimate_count('people', '{"age": [30, 40], "disease": "flu"}') e;
SELECT (kanon.estimate_count(kanon.coverage(age, 30, 40) * (disease IS NOT DISTINCT FROM 'flu')::integer)).*
	FROM people;
SELECT count(*) FROM person WHERE age >= 30 AND age < 40 AND disease = 'flu';
SELECT e.* FROM kanon.estimate_count('people', '{"ward": [3, 5]}') e;
SELECT count(*) FROM person WHERE ward >= 3 AND ward < 5;
SELECT round(e.estimate::numeric, 9) AS estimate, round(e.error::numeric, 9) AS error, low,
	high FROM kanon.estimate_count('people', '{"zip": "013"}') e;
SELECT ward, (kanon.estimate_count(kanon.coverage(age, 20, 40))).estimate > 0 AS some FROM people WHERE ward < 3
	GROUP BY ward ORDER BY ward;

-- The truth is within the bounds always, and within the bar nearly always.
SELECT count(*) FILTER (WHERE truth.n NOT BETWEEN e.low AND e.high) AS "out of bounds",
	count(*) FILTER (WHERE abs(truth.n - e.estimate) > e.error) <= 3 AS "bar holds"
FROM generate_series(20, 65, 3) AS lo,
	kanon.estimate_count('people', jsonb_build_object('age', jsonb_build_array(lo, lo + 7))) e,
	LATERAL (SELECT count(*) AS n FROM person WHERE age >= lo AND age < lo + 7) truth;

-- Errors, and names that are SQL.
SELECT kanon.estimate_count('people', '{}');
SELECT kanon.estimate_count('people', '[1]');
SELECT kanon.estimate_count('people', '{"shoe": 1}');
SELECT kanon.estimate_count('people', '{"age": [1, 2, 3]}');
SELECT kanon.estimate_count('people', '{"age": [1, null]}');
SELECT kanon.estimate_count('people', '{"age": null}');
-- Which row the error names is chance.
DO $do$
BEGIN
	PERFORM kanon.estimate_count('people', $${"age": "1') OR (true"}$$);
EXCEPTION WHEN OTHERS THEN
	RAISE NOTICE '%', regexp_replace(SQLERRM, '"\[[0-9]+,[0-9]+\)"$', '"..."');
END
$do$;
SELECT kanon.estimate_count('people', $${"age) OR (true": 1}$$);
-- With the caller's rights.
SET ROLE :"analyst";
SELECT kanon.estimate_count('people', '{"age": [30, 40]}');
RESET ROLE;
GRANT SELECT ON people TO :"analyst";
SET ROLE :"analyst";
SELECT estimate > 0 AS some FROM kanon.estimate_count('people', '{"age": [30, 40]}');
\set end :dir '/data/people_end.sql'
\i :end
