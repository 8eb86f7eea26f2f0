-- AVLIKE of intervals and decimal numbers with numerics, against PostgreSQL's ranges: fractions, bounds, huge and odd
-- numbers.
SELECT setseed(0.6) \g /dev/null
SELECT kanon.create_interval_dgh('tens', 0, '{10, 100}'),
    kanon.create_interval_dgh('halves', 0, '{0.5, 2.5}') \g /dev/null
CREATE TABLE number AS SELECT DISTINCT v FROM (
    SELECT round((random() * 300 - 150)::numeric, (random() * 3)::int) AS v FROM generate_series(1, 150)
    UNION ALL SELECT v::numeric FROM
        unnest('{0,-0.5,0.5,9.999,10,10.0,10.01,-10,-10.000,99.5,100,'
            '2.50,1e-20,-1e-20,1e30,1e30,-1e30,1e30}'::numeric[]) AS v
    UNION ALL SELECT v::numeric FROM
        unnest('{9223372036854775807,9223372036854775807.5,9223372036854775808,-9223372036854775808,'
            '-9223372036854775808.5,-9223372036854775809,123456789012345678901234567890.5}'::text[]) AS v) AS n;
-- Published values and the ranges that they are.
CREATE TABLE published AS
    SELECT g, g::numrange AS r FROM number, unnest('{tens,halves}'::text[]) AS dgh, generate_series(0, 2) AS level,
        kanon.generalize(dgh, v::text, level) AS g WHERE abs(v) < 1e9 AND g::text <> '*'
    UNION ALL SELECT t::kanon.generalized, t::numrange
        FROM unnest('{"[1,5]","(1,5)","[1.5,5]","(1.5,2.5]","(,7)","[7,)","(,7.5]","[7.25,)","[-9223372036854775808,'
            '9223372036854775807]"}'::text[]) AS t
    UNION ALL SELECT v::text::kanon.generalized, numrange(v, v, '[]') FROM number;
-- A single number covers itself only, an interval all that is in it.
SELECT g, v, g = v AS kanon, r @> v AS range FROM published, number WHERE (g = v) IS DISTINCT FROM (r @> v)
    OR (v = g) IS DISTINCT FROM (r @> v) OR kanon.avlike(g, v) IS DISTINCT FROM (r @> v) ORDER BY 1, 2;
SELECT count(*) > 100000 AS pairs, count(*) FILTER (WHERE g = v) > 2000 AS alike FROM published, number;
-- With constants, which are read once per scan, as with columns; with other spellings of them.
SELECT (SELECT count(*) FROM published WHERE g = 10.0) = (SELECT count(*) FROM published WHERE r @> 10.0) AS whole,
    (SELECT count(*) FROM published WHERE g = 10.010) = (SELECT count(*) FROM published WHERE r @> 10.01) AS fraction,
    (SELECT count(*) FROM published WHERE 1e30 = g) = (SELECT count(*) FROM published WHERE r @> 1e30) AS huge,
    (SELECT count(*) FROM published WHERE g = -0.50) = (SELECT count(*) FROM published WHERE r @> -0.5) AS negative;
-- A text that is no number matches no number; NaN and infinity only everything, and intervals that have no bound there.
SELECT v, array_agg(t ORDER BY t) FILTER (WHERE t::kanon.generalized = v)
    FROM unnest('{NaN,Infinity,-Infinity,7.5}'::numeric[]) AS v,
    unnest('{*,word,"[7,)","(,8)","[1,9)",2001-05-05,7.50}'::text[]) AS t GROUP BY v ORDER BY v;
