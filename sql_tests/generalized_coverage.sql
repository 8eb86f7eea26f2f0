-- kanon.coverage: the share of a value that lies in a range or on one value, if all that it stands for is equally
-- likely.
\pset null '(null)'
SELECT kanon.import_dgh('ages', ARRAY['20;[20,30);*', '25;[20,30);*', '29;[20,30);*', '30;[30,40);*', '?;?;*']),
    kanon.import_dgh('disease', '{ulcer;stomach;*,gastritis;stomach;*,flu;lung;*}'),
       kanon.import_dgh('days', ARRAY['2000-01-01;first;*', '2000-06-01;first;*', '2001-01-01;second;*']),
       kanon.create_prefix_dgh('zip', 5), kanon.create_prefix_dgh('bullet', 3, '•'), kanon.create_prefix_dgh('code', 3);

-- Intervals, by length; a single one is in or out.
SELECT v, lo, hi, kanon.coverage(v::kanon.generalized, lo, hi) FROM (VALUES
    ('[20,30)', 20::float8, 30::float8), ('[20,30)', 25, 30), ('[20,30)', 0, 22.5), ('[20,30)', 22, 24),
    ('[20,30)', 30, 40), ('[20,30)', 10, 20), ('[20,30]', 29, 31), ('[20,30)', 40, 10), ('25', 20, 30), ('25', 25, 26),
    ('25', 20, 25), ('25', 26, 30), ('[20,)', 20, 30), ('(,20)', 0, 5),
    ('[1.5,2.5)', 2, 3), ('[20,30)', 25, 'infinity'), ('[20,30)', '-infinity', 25), ('[1,1e30)', 0, 1),
    ('5.5', 5, 6)) v (v, lo, hi);
SELECT v, x, kanon.coverage(v::kanon.generalized, x) FROM (VALUES ('[20,30)', 20), ('[20,30)', 25.5), ('[20,30)', 30),
    ('[20,30]', 30), ('[20,30)', 19.9), ('25', 25), ('25', 24), ('[0.1,0.6)', 0.3), ('[20,)', 30)) v (v, x);
SELECT v, lo, hi, kanon.coverage(v::kanon.generalized, lo::date, hi::date)
    FROM (VALUES ('[2000-01-01,2001-01-01)', '2000-01-01', '2000-07-01'),
    ('[2000-01-01,2001-01-01)', '1990-01-01', 'infinity'), ('2000-01-01', '2000-01-01', '2000-01-02'),
    ('2000-01-01', '2000-01-02', '2000-01-03')) v (v, lo, hi);
SELECT kanon.coverage('[2001-01-01,2002-01-01)'::kanon.generalized, date '2001-05-05') * 365 AS "a day of a year",
    kanon.coverage('[20,30)'::kanon.generalized, '20', '25') AS "as text",
    kanon.coverage('[20,30)'::kanon.generalized, '[25,35)'::text) AS "another interval",
    kanon.coverage('[2000-01-01,2000-01-11)'::kanon.generalized, '1 Jan 2000', '6 Jan 2000') AS "dates as text";

-- Nodes, by leaves: in the order of their values, as numbers, dates or text.
SELECT v, lo, hi, kanon.coverage(kanon.generalized(v, 'ages'), lo, hi)
    FROM (VALUES ('[20,30)', 20, 30), ('[20,30)', 25, 30), ('[20,30)', 25, 29), ('*', 20, 30), ('*', 0, 1000),
    ('?', 0, 1000), ('30', 30, 31), ('30', 29, 30), ('31', 31, 32), ('9', 5, 10), ('009', 10, 90)) v (v, lo, hi);
SELECT v, lo, hi, kanon.coverage(kanon.generalized(v, 'disease'), lo, hi)
    FROM (VALUES ('stomach', 'g', 'h'), ('stomach', 'a', 'z'), ('*', 'f', 'g'), ('lung', 'g', 'z'),
    ('plague', 'a', 'z')) v (v, lo, hi);
SELECT kanon.coverage(kanon.generalized('first', 'days'), date '2000-01-01', date '2000-02-01') AS days,
    kanon.coverage(kanon.generalized('*', 'days'), date '2000-06-01', 'infinity') AS "all days";
SELECT v, x, kanon.coverage(kanon.generalized(v, 'disease'), x)
    FROM (VALUES ('stomach', 'ulcer'), ('stomach', 'flu'), ('stomach', 'stomach'), ('stomach', '*'), ('*', 'ulcer'),
    ('*', 'stomach'), ('ulcer', 'ulcer'), ('ulcer', 'stomach'), ('stomach', 'plague'), ('plague', 'plague'),
    ('plague', 'pest')) v (v, x);

-- Codes, by the digits that are masked.
SELECT v, x, kanon.coverage(kanon.generalized(v, 'zip'), x)
    FROM (VALUES ('130**', '13053'), ('130**', '1305*'), ('130**', '130**'), ('130**', '13***'), ('130**', '14850'),
    ('13053', '13053'), ('130**', 'x'), ('130**', '*')) v (v, x);
SELECT v, lo, hi, kanon.coverage(kanon.generalized(v, 'zip'), lo, hi)
    FROM (VALUES ('130**', 13000, 13050), ('130**', 0, 99999), ('130**', 14000, 15000), ('13053', 13053, 13054),
    ('013**', 1300, 1325), ('1****', 10000, 15000)) v (v, lo, hi);
SELECT kanon.coverage(kanon.generalized('12•', 'bullet'), 120, 125) AS "a mask of three bytes",
    kanon.coverage(kanon.generalized('1••', 'bullet'), '123'::text) AS "one of a hundred",
    kanon.coverage(kanon.generalized('ab*', 'code'), 1, 2) AS "no digits",
    kanon.coverage(kanon.generalized('abc', 'code'), 'abc', 'abd') AS "one word";

-- The coverage of a value that cannot be measured is NULL; values that cannot be compared are an error.
SELECT kanon.coverage('*'::kanon.generalized, 1, 2), kanon.coverage(kanon.generalize('zip', '12345', 5), 1, 2),
    kanon.coverage('word'::kanon.generalized, 'a', 'z') AS "a word",
    kanon.coverage('word'::kanon.generalized, 'word'::text), kanon.coverage(NULL, 1, 2);
SELECT kanon.coverage(numrange(0, 1e400)::kanon.generalized, 1, 2) AS "beyond all doubles",
    kanon.coverage(numrange(-1e308, 1e308)::kanon.generalized, 0, 1) AS "too long",
    kanon.coverage('[20,30)'::kanon.generalized, '25', '1e400') AS "a bound beyond",
    kanon.coverage('[20,30)'::kanon.generalized, '[25,1e400)'::text) AS "of an interval",
    kanon.coverage('[20,30)'::kanon.generalized, '1e400'::text) AS outside;
SELECT kanon.coverage('[20,30)'::kanon.generalized, '[25,NaN]'::text);
SELECT kanon.coverage('[20,30)'::kanon.generalized, 'a', 'b');
SELECT kanon.coverage('[20,30)'::kanon.generalized, 'NaN', 30);
SELECT kanon.coverage('[20,30)'::kanon.generalized, date '2000-01-01', date '2001-01-01');
SELECT kanon.coverage(kanon.generalized('130**', 'zip'), 'a', 'b');

-- Shares of a partition of the line add up to one.
SELECT count(*) AS values, count(*) FILTER (WHERE abs(total - 1) > 1e-9) AS "not one" FROM (
    SELECT x, sum(kanon.coverage(x, lo, lo + 5)) AS total
        FROM (SELECT kanon.generalized(v, d) AS x FROM (VALUES ('[20,30)', 'ages'), ('30', 'ages'), ('130**', 'zip'),
        ('13053', 'zip')) v (v, d) UNION ALL SELECT format('[%s,%s)', i, i * 2 + 1)::kanon.generalized
        FROM generate_series(0, 50) i) v,
    generate_series(0, 20000, 5) lo GROUP BY x) t;
-- An estimate of a count is exact where the boxes are.
SELECT kanon.create_interval_dgh('ten', 0, '{10}');
SELECT sum(kanon.coverage(kanon.generalize('ten', i::text, 1), 20, 40)) AS estimate,
    count(*) FILTER (WHERE i >= 20 AND i < 40) AS count FROM generate_series(0, 99) i;
