-- Reading, beside GROUP BY and scan of the same rows; the hard case; growth with rows.
SELECT draw('hard', :rows, 0.3);
CREATE TABLE five AS SELECT id + g * :rows AS id, age, education, marital, occupation, workclass, race, salary FROM few, generate_series(0, 4) AS g;
ALTER TABLE five ADD PRIMARY KEY (id);
VACUUM ANALYZE hard, five;
SELECT look('view_five', 'SELECT * FROM five', '{age,education,marital,occupation,workclass,race}', 5),
    look('view_hard', 'SELECT * FROM hard', '{age,education,marital,occupation,workclass,race,sex,country}', 5);

SELECT look('kept_' || t, 'SELECT id, age, education, marital, occupation, workclass, race, salary FROM ' || t,
        '{age,education,marital,occupation,workclass,race}', 5, 'keep_order => true'),
    look('mixed_' || t, 'SELECT id, age, education, marital, occupation, workclass, race, salary FROM ' || t,
        '{age,education,marital,occupation,workclass,race}', 5) FROM unnest('{few,many}'::text[]) AS t;

INSERT INTO query SELECT format('%s %s', v, t), format('SELECT * FROM %s_%s', v, t)
FROM unnest('{few,many}'::text[]) AS t, unnest('{kept,mixed}'::text[]) AS v;
INSERT INTO query VALUES
    ('few group', 'SELECT age, education, marital, occupation, workclass, race, count(*) FROM few GROUP BY 1, 2, 3, 4, 5, 6'),
    ('few scan', 'SELECT * FROM few'),
    ('few read', 'SELECT * FROM view_few'),
    ('few aggregate', 'SELECT education, count(*) FROM view_few GROUP BY education'),
    ('many group', 'SELECT age, education, marital, occupation, workclass, race, count(*) FROM many GROUP BY 1, 2, 3, 4, 5, 6'),
    ('many read', 'SELECT * FROM view_many'),
    ('many aggregate', 'SELECT education, count(*) FROM view_many GROUP BY education'),
    ('hard group', 'SELECT age, education, marital, occupation, workclass, race, sex, country, count(*) FROM hard GROUP BY 1, 2, 3, 4, 5, 6, 7, 8'),
    ('hard read', 'SELECT * FROM view_hard');
CALL measure(:rounds);
SELECT put('read', 'distinct combinations, few', (SELECT count(*) FROM (SELECT DISTINCT age, education, marital, occupation, workclass, race FROM few) AS d), '');
SELECT put('read', 'full read / GROUP BY, few combinations', ms('few read') / ms('few group'), 'x', '<= 1.3');
SELECT put('read', 'full read / plain scan, few combinations', ms('few read') / ms('few scan'), 'x');
SELECT put('read', format('full read in random order / in the stored order, %s combinations', t), ms('mixed ' || t) / ms('kept ' || t), 'x', '<= 1.15')
FROM unnest('{few,many}'::text[]) AS t;
SELECT put('read', 'aggregate / full read, few combinations', ms('few aggregate') / ms('few read'), 'x', '<= 1.5');
SELECT put('read', 'distinct combinations, many', (SELECT count(*) FROM (SELECT DISTINCT age, education, marital, occupation, workclass, race FROM many) AS d), '');
SELECT put('read', 'full read / GROUP BY, many combinations', ms('many read') / ms('many group'), 'x', '<= 1.5');
SELECT put('read', 'aggregate / full read, many combinations', ms('many aggregate') / ms('many read'), 'x', '<= 1.5');
SELECT put('hard', 'distinct combinations of 8 columns, 30 % of cells redrawn', (SELECT count(*) FROM (SELECT DISTINCT age, education, marital, occupation, workclass, race, sex, country FROM hard) AS d), '');
SELECT put('hard', 'full read', ms('hard read') / 1000, 's', CASE WHEN :rows = 1000000 THEN '<= 3' ELSE '' END);
SELECT put('hard', 'full read / GROUP BY', ms('hard read') / ms('hard group'), 'x', '');
SELECT put('hard', 'normalized NCP', loss('view_hard', '{age,education,marital,occupation,workclass,race,sex,country}'), '');

-- Growth with rows, of one shape.
CREATE TABLE size (rows int);
INSERT INTO size VALUES (:rows / 100), (:rows / 10), (:rows);
DO $$
DECLARE
    n int;
BEGIN
    FOR n IN SELECT rows FROM size LOOP
        PERFORM look('grown_' || n, format('SELECT id, age, education, marital, occupation, workclass, race, salary FROM few WHERE id <= %s', n), '{age,education,marital,occupation,workclass,race}', 5);
        INSERT INTO query VALUES (format('grown %s', n), format('SELECT * FROM grown_%s', n));
    END LOOP;
END
$$;
INSERT INTO query VALUES (format('grown %s', 5 * :rows), 'SELECT * FROM view_five');
INSERT INTO size VALUES (5 * :rows);
CALL measure(least(:rounds, 3));
DO $$
DECLARE
    n int;
BEGIN
    FOR n IN SELECT rows FROM size ORDER BY 1 LOOP
        PERFORM put('growth', format('full read of %s rows, per row', n), 1e6 * ms(format('grown %s', n)) / n, 'ns');
    END LOOP;
END
$$;
SELECT put('growth', 'time per row, largest / a fifth of it', ms(format('grown %s', 5 * :rows)) / ms(format('grown %s', :rows)) / 5, 'x', '<= 1.3');
