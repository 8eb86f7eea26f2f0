-- Figures 16 and 17: joins with a table by another column, over its size; joins of two views by AVLIKE.
CREATE TABLE visit AS SELECT i AS visit, (i * 7919) % (:rows / 10) AS other FROM generate_series(1, 10000) AS i;
ANALYZE visit;
INSERT INTO query SELECT format('join %s %s', plan, n), format('SELECT * FROM visit JOIN view_few USING (other) WHERE visit <= %s', n), jsonb_build_object('kanon.plan', plan)
    FROM unnest('{1,10,100,1000,10000}'::int[]) AS n, unnest('{select_first,anonymize_first,auto}'::text[]) AS plan;
CREATE TABLE left_side AS SELECT id, age, 1000 + (random() * 8999)::int AS zip FROM few WHERE id <= :rows / 10;
CREATE TABLE right_side AS SELECT id, age, 1000 + (random() * 8999)::int AS zip FROM many WHERE id <= :rows / 100;
ALTER TABLE left_side ADD PRIMARY KEY (id);
ALTER TABLE right_side ADD PRIMARY KEY (id);
ANALYZE left_side, right_side;
SELECT kanon.create_interval_dgh('ages', 0, '{5, 20}'), kanon.create_interval_dgh('zips', 0, '{10, 100, 1000}');
SELECT kanon.create_anonymization_view('view_' || t, 'SELECT * FROM ' || t, id => '{id}', quasi_ids => '{"age": "ages", "zip": "zips"}', k => 3) FROM unnest('{left_side,right_side}'::text[]) AS t;
INSERT INTO query VALUES
    ('avlike join', 'SELECT count(*) FROM view_left_side l JOIN view_right_side r ON l.age = r.age AND l.zip = r.zip'),
    ('avlike left join', 'SELECT count(*) FROM view_left_side l LEFT JOIN view_right_side r ON l.age = r.age AND l.zip = r.zip'),
    ('avlike anti join', 'SELECT count(*) FROM view_left_side l WHERE NOT EXISTS (SELECT FROM view_right_side r WHERE l.age = r.age AND l.zip = r.zip)'),
    ('left', 'SELECT * FROM view_left_side'), ('right', 'SELECT * FROM view_right_side'),
    ('hash join', 'SELECT count(*) FROM left_side l JOIN right_side r ON l.age = r.age AND l.zip = r.zip'),
    ('wide hash join', 'SELECT count(*) FROM left_side l JOIN right_side r ON l.age = r.age AND l.zip / 1000 = r.zip / 1000');
CALL measure(least(:rounds, 3));
DO $$
DECLARE
    n int;
BEGIN
    FOREACH n IN ARRAY '{1,10,100,1000,10000}'::int[] LOOP
        PERFORM put('join', format('with %s rows by a column: anonymize first / select first', n), ms('join anonymize_first ' || n) / ms('join select_first ' || n), 'x');
        PERFORM put('join', format('with %s rows by a column: planner''s choice / the better plan', n), ms('join auto ' || n) / least(ms('join anonymize_first ' || n), ms('join select_first ' || n)), 'x', '<= 1.2');
    END LOOP;
END
$$;
SELECT put('join', format('%s by AVLIKE, %s x %s rows / hash join of raw columns and both reads', kind, :rows / 10, :rows / 100), ms(name) / (ms('hash join') + ms('left') + ms('right')), 'x', '<= 5')
FROM (VALUES ('inner', 'avlike join'), ('left', 'avlike left join'), ('anti', 'avlike anti join')) AS v (kind, name);
-- Generalized values match more: beside a hash join of raw columns that has about as many rows, being coarser.
SELECT put('join', format('rows for each of the left side, %s', what), count / (:rows / 10.0), '')
FROM (SELECT 'by AVLIKE', count(*) FROM view_left_side l JOIN view_right_side r ON l.age = r.age AND l.zip = r.zip
    UNION ALL SELECT 'raw', count(*) FROM left_side l JOIN right_side r ON l.age = r.age AND l.zip = r.zip
    UNION ALL SELECT 'raw, by age and the first digit of zip', count(*) FROM left_side l JOIN right_side r ON l.age = r.age AND l.zip / 1000 = r.zip / 1000) AS v (what, count);
SELECT put('join', 'inner by AVLIKE / hash join by age and the first digit of zip and both reads', ms('avlike join') / (ms('wide hash join') + ms('left') + ms('right')), 'x');

-- Growth: per row of both sides and of the result, which grows with either.
CREATE TABLE joined (rows int, work bigint);
DO $$
DECLARE
    most int := current_setting('bench.rows')::int / 10;
    n int;
BEGIN
    FOREACH n IN ARRAY ARRAY[most / 100, most / 10, most] LOOP
        PERFORM kanon.create_anonymization_view(format('grown_left_%s', n), format('SELECT * FROM left_side WHERE id <= %s', n), id => '{id}', quasi_ids => '{"age": "ages", "zip": "zips"}', k => 3);
        PERFORM kanon.create_anonymization_view(format('grown_right_%s', n), format('SELECT * FROM right_side WHERE id <= %s', n / 10), id => '{id}', quasi_ids => '{"age": "ages", "zip": "zips"}', k => 3);
        INSERT INTO query VALUES (format('grown join %s', n), format('SELECT count(*) FROM grown_left_%1$s l JOIN grown_right_%1$s r ON l.age = r.age AND l.zip = r.zip', n));
        EXECUTE format('INSERT INTO joined SELECT %1$s, %1$s + %1$s / 10 + count(*) FROM grown_left_%1$s l JOIN grown_right_%1$s r ON l.age = r.age AND l.zip = r.zip', n);
    END LOOP;
END
$$;
CALL measure(least(:rounds, 3));
SELECT put('growth', format('AVLIKE join of %s x %s rows, per row read and joined', rows, rows / 10), 1e6 * ms(format('grown join %s', rows)) / work, 'ns') FROM joined ORDER BY rows;
