-- Hierarchies that are computed: intervals of numbers, calendar units, prefixes.

-- Intervals: level i has the i-th width, counted from the origin; the last level is everything.
SELECT kanon.create_interval_dgh('age', 0, '{5,10,50}');
SELECT v, array_agg(p.value::text ORDER BY level)
    FROM unnest('{0,4,5,37,99,-1,-5,-6,37.5,4.999,1e2,007, 8 }'::text[]) WITH ORDINALITY u (v, n),
    kanon.dgh_path('age', v) p GROUP BY n, v ORDER BY n;
-- Values that are no numbers are not known; neither are infinite ones.
SELECT v, array_agg(p.value::text ORDER BY level)
    FROM unnest('{n/a,"",NaN,infinity,2001-01-01,1e5000,0x10,"[0,5)","[0,6)","[10,20)","(0,5)",*}'::text[]) WITH
    ORDINALITY u (v, n),
    kanon.dgh_path('age', v) p GROUP BY n, v ORDER BY n;
-- Widths and origins that are no integers, negative, large.
SELECT kanon.create_interval_dgh('fine', 0.25, '{0.5,1,10}'), kanon.create_interval_dgh('shifted', -3, '{7}'),
       kanon.create_interval_dgh('huge', 1e30, '{1e20,1e25}');
SELECT dgh, v, kanon.generalize(dgh, v, 1) FROM (VALUES
    ('fine', '0.25'), ('fine', '0.24'), ('fine', '0.7499'), ('fine', '0.75'), ('fine', '-1'), ('fine', '12.5'),
    ('shifted', '-3'), ('shifted', '-4'), ('shifted', '3'), ('shifted', '4'), ('shifted', '9223372036854775807'),
    ('shifted', '-9223372036854775808'),
    ('huge', '0'), ('huge', '-1'), ('huge', '1e30')) v (dgh, v);
-- Every level of every value is one of its intervals, holds the value and lies in the next level's.
DO $$
DECLARE
    number numeric;
    bad int := 0;
BEGIN
    PERFORM setseed(0.5);
    FOR i IN 1 .. 2000 LOOP
        number := round((random() * 2000 - 1000)::numeric, i % 4);
        bad := bad + (SELECT count(*) FROM (
            SELECT value::numrange AS range, lag(value::numrange) OVER (ORDER BY level) AS inner_range,
                   (ARRAY[0.5, 1, 10])[level] AS width
            FROM kanon.dgh_path('fine', number::text) WHERE level BETWEEN 1 AND 3) p
            WHERE NOT (range @> number AND upper(range) - lower(range) = width AND (lower(range) - 0.25) % width = 0
                       AND coalesce(inner_range <@ range, true)));
    END LOOP;
    RAISE NOTICE 'of 2000 numbers, % have a wrong interval', bad;
END
$$;

-- Dates.
SELECT kanon.create_date_dgh('birth', '{day,month,quarter,year,decade,century}'),
    kanon.create_date_dgh('year', '{YEAR}');
SELECT v, array_agg(p.value::text ORDER BY level)
    FROM unnest('{1968-07-29,2000-02-29,1999-12-31,0001-01-01,0044-03-15 BC,"29 July 1968",1968-07-29 '
        '23:59:59+02,5874897-12-31,4714-11-24 BC}'::text[]) WITH ORDINALITY u (v, n),
    kanon.dgh_path('birth', v) p GROUP BY n, v ORDER BY n;
SELECT kanon.generalize('year', '2024-02-29', 1), kanon.generalize('year', '2024-02-30', 1) AS "no such day",
    kanon.generalize('year', 'soon', 0), kanon.generalize('year', 'infinity', 1), kanon.generalize('year', '35', 1);
DO $$
DECLARE
    day date;
    bad int := 0;
BEGIN
    PERFORM setseed(0.5);
    FOR i IN 1 .. 1000 LOOP
        day := date '0001-01-01' + (random() * 1000000)::int;
        bad := bad + (SELECT count(*) FROM kanon.dgh_path('birth', day::text) p,
            LATERAL (SELECT (ARRAY['month', 'quarter', 'year'])[level] AS unit) u
            WHERE level BETWEEN 1 AND 3 AND value::daterange <>
                  daterange(date_trunc(unit, day)::date,
                      (date_trunc(unit, day) + ('1 ' || replace(unit, 'quarter', 'month') || '')::interval * CASE unit
                      WHEN 'quarter' THEN 3 ELSE 1 END)::date));
        bad := bad + (SELECT count(*) FROM kanon.dgh_path('birth', day::text) p WHERE level IN (4, 5)
            AND (NOT value::daterange @> day
                OR extract(year FROM lower(value::daterange))::int % (10 ^ (level - 3))::int <> 0
                 AND extract(year FROM lower(value::daterange)) > 1));
    END LOOP;
    RAISE NOTICE 'of 1000 dates, % levels are wrong', bad;
END
$$;

-- Prefixes: one character less per level, also of characters of several bytes.
SELECT kanon.create_prefix_dgh('zip', 5), kanon.create_prefix_dgh('letters', 3, '•'),
    kanon.create_prefix_dgh('one', 1, 'x');
SELECT dgh, v, array_agg(p.value::text ORDER BY level) FROM (VALUES
    (1, 'zip', '13053'), (2, 'zip', '1305'), (3, 'zip', '130533'), (4, 'zip', '130**'), (5, 'zip', '*****'),
    (6, 'zip', '1*0*3'), (7, 'zip', '1***3'),
    (8, 'letters', 'äöü'), (9, 'letters', 'äö•'), (10, 'letters', 'äö'), (11, 'letters', 'ab*'), (12, 'one', 'a'),
    (13, 'one', 'x'), (14, 'zip', '12.50'), (15, 'zip', '[1,2)')) v (n, dgh, v),
    kanon.dgh_path(dgh, v) p GROUP BY n, dgh, v ORDER BY n;

-- Distances follow the levels.
SELECT dgh, a, b, round(kanon.dgh_distance(dgh, a, b)::numeric, 3) AS distance FROM (VALUES
    ('age', '1', '1'), ('age', '1', '2'), ('age', '1', '7'), ('age', '1', '17'), ('age', '1', '70'),
    ('age', '1', '[0,10)'), ('age', '1', 'n/a'), ('age', '1', '1.0'),
    ('birth', '2000-01-01', '2000-01-02'), ('birth', '2000-01-01', '2000-12-02'), ('birth', '2000-01-01', '1999-12-31'),
    ('zip', '13053', '13054'), ('zip', '13053', '23053'), ('zip', '13***', '13053'), ('zip', '13053', 'x')) v (dgh, a,
    b);

-- Levels of NULL, and the height of each.
SELECT dgh, level, kanon.generalize(dgh, NULL, level), kanon.generalize(dgh, NULL, level) IS NULL AS "is null"
FROM (VALUES ('age', 0), ('age', 1), ('birth', 1), ('zip', 5)) v (dgh, level);
SELECT kanon.generalize('age', '5', 4), kanon.generalize('birth', '2000-01-01', 6), kanon.generalize('zip', '12345', 5),
    kanon.generalize('year', '2000-01-01', 2);

-- Definitions change in place, and are renamed.
UPDATE kanon.dgh SET widths = '{20}', origin = 5 WHERE name = 'age';
UPDATE kanon.dgh SET units = '{decade}' WHERE name = 'year';
UPDATE kanon.dgh SET name = 'postcode', mask = '#' WHERE name = 'zip';
SELECT kanon.generalize('age', '37', 1), kanon.generalize('year', '1968-07-29', 1),
    kanon.generalize('postcode', '13053', 2);
SELECT kanon.generalize('zip', '13053', 2);
