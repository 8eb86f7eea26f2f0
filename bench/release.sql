-- Releases, each beside the sort, or the GROUP BY and the sort, of the same rows.
CREATE TABLE point AS SELECT id, random() AS a, random() AS b, random() AS c, random() AS d FROM few;
ALTER TABLE point ADD PRIMARY KEY (id);
CREATE TABLE ill AS SELECT id, age, education, occupation, 'sick' || floor(50 * power(random(), 1.2))::int AS sick, floor(50 * random())::int AS pay FROM few;
ALTER TABLE ill ADD PRIMARY KEY (id);
VACUUM ANALYZE point, ill;
SELECT kanon.import_dgh('sickness', array_agg(format('sick%s;class%s;*', i, i / 5) ORDER BY i)) FROM generate_series(0, 49) AS i;
-- The statement to run over a number of rows of a table, not fewer than k needs, and the query to compare it with.
CREATE TABLE release (place int GENERATED ALWAYS AS IDENTITY, name text, rows int, fewest int, source text, quasi jsonb, query text, base text);
INSERT INTO release (name, rows, fewest, source, quasi, query, base)
SELECT name, :rows / part, CASE WHEN name LIKE '%1 \% microdata' THEN 5000 ELSE 50 END, source, quasi, query, base
FROM (VALUES ('point', '{"a": null, "b": null, "c": null, "d": null}'::jsonb, 'SELECT * FROM (<source>) AS s ORDER BY a, b, c, d'),
             ('ill', '{"age": "age", "education": "education", "occupation": "occupation"}'::jsonb, 'SELECT * FROM (<source>) AS s ORDER BY sick')) AS s (source, quasi, base)
JOIN (VALUES
    ('mondrian', 'point', 2, $$kanon.mondrian('<source>', 'id', '<quasi>', 50)$$),
    ('mondrian by gain', 'point', 5, $$kanon.mondrian('<source>', 'id', '<quasi>', 50, split => 'gain')$$),
    ('topdown', 'point', 20, $$kanon.topdown('<source>', 'id', '<quasi>', 50)$$),
    ('local_recoding, blocks of 2048', 'point', 25, $$kanon.local_recoding('<source>', 'id', '<quasi>', 50, block_size => 2048)$$),
    ('kja mondrian direct, 1 % microdata', 'point', 2, $$kanon.kja('SELECT * FROM (<source>) AS s WHERE id % 100 = 0', '<source>', 'id', '<quasi>', 50)$$),
    ('kja mondrian refinement, 1 % microdata', 'point', 2, $$kanon.kja('SELECT * FROM (<source>) AS s WHERE id % 100 = 0', '<source>', 'id', '<quasi>', 50, 'mondrian', 'refinement')$$),
    ('kja topdown direct, 1 % microdata', 'point', 5, $$kanon.kja('SELECT * FROM (<source>) AS s WHERE id % 100 = 0', '<source>', 'id', '<quasi>', 50, 'topdown')$$),
    ('kja topdown refinement, 1 % microdata', 'point', 5, $$kanon.kja('SELECT * FROM (<source>) AS s WHERE id % 100 = 0', '<source>', 'id', '<quasi>', 50, 'topdown', 'refinement')$$),
    ('plain_k expc', 'ill', 100, $$kanon.plain_k('<source>', 'id', '<quasi>', 'pay', 15)$$),
    ('plain_k gnof', 'ill', 500, $$kanon.plain_k('<source>', 'id', '<quasi>', 'pay', 15, method => 'gnof')$$),
    ('plain_k gof', 'ill', 500, $$kanon.plain_k('<source>', 'id', '<quasi>', 'pay', 15, method => 'gof')$$),
    ('outliers', 'ill', 20, $$kanon.outliers('<source>', 'id', '<quasi>', 'pay', 0.8, 0.85)$$),
    ('anatomy', 'ill', 2, $$kanon.anatomy('<source>', 'id', 'sick', 4)$$),
    ('n_dependency', 'ill', 2, $$kanon.n_dependency('<source>', 'id', 'sick', 'sickness', 4)$$),
    ('uncertain gaussian', 'point', 100, $$kanon.uncertain('<source>', 'id', '{a,b,c,d}', 10)$$),
    ('uncertain uniform', 'point', 100, $$kanon.uncertain('<source>', 'id', '{a,b,c,d}', 10, 'uniform')$$),
    ('condense', 'point', 100, $$kanon.condense('<source>', 'id', '{a,b,c,d}', 10)$$)) AS r (name, source, part, query) USING (source);
-- The rows of a release, or of its sort, for so many rows.
CREATE FUNCTION ask(query text, r release, rows int) RETURNS text LANGUAGE sql AS $$
    SELECT replace(replace(query, '<source>', format('SELECT * FROM %s WHERE id <= %s', r.source, rows)), '<quasi>', r.quasi::text)
$$;
INSERT INTO query SELECT DISTINCT format('sort %s %s', source, r.rows), ask(base, r, r.rows) FROM release r;
INSERT INTO query SELECT DISTINCT format('count %s', r.rows), format('SELECT sick, count(*) FROM ill WHERE id <= %s GROUP BY sick', r.rows) FROM release r WHERE source = 'ill';
INSERT INTO query SELECT format('%s %s', name, n), 'SELECT * FROM ' || ask(query, r, n) FROM release r, LATERAL (VALUES (r.rows), (r.rows / 4), (r.rows / 16)) AS v (n) WHERE n >= fewest ORDER BY place, n;
CALL measure(1);
SELECT put('release', format('%s, %s rows / %s', name, r.rows, CASE source WHEN 'ill' THEN 'GROUP BY and sort' ELSE 'sort' END),
        ms(format('%s %s', name, r.rows)) / (ms(format('sort %s %s', source, r.rows)) + CASE source WHEN 'ill' THEN ms('count ' || r.rows) ELSE 0 END), 'x'),
    put('release', format('%s: time for 4 times the rows', name), ms(format('%s %s', name, r.rows)) / ms(format('%s %s', name, r.rows / 4)), 'x')
FROM release r ORDER BY place;
-- Nothing quadratic, that would be 16; inside a block local_recoding is.
SELECT put('growth', format('%s: time per row, %s rows / %s rows', name, r.rows, r.rows / 16), ms(format('%s %s', name, r.rows)) / ms(format('%s %s', name, r.rows / 16)) / 16, 'x', '<= 4')
FROM release r WHERE r.rows / 16 >= CASE WHEN name LIKE '%blocks of 2048' THEN 2048 ELSE fewest END ORDER BY place;
