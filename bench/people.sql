-- People for the benchmarks where the Adult data is not there, with hierarchies of the same shape.
CREATE EXTENSION IF NOT EXISTS kanon;
SELECT setseed(0.25) \g /dev/null
CREATE TABLE people AS
    SELECT CASE WHEN random() < 0.5 THEN 'Male' ELSE 'Female' END AS sex,
           17 + (random() * random() * 70)::int AS age,
           'race ' || (random() ^ 3 * 4)::int AS race,
           'marital ' || (random() ^ 2 * 6)::int AS marital,
           'education ' || (random() ^ 2 * 15)::int AS education,
           'country ' || (random() ^ 5 * 40)::int AS country,
           'workclass ' || (random() ^ 3 * 7)::int AS workclass,
           'occupation ' || (random() * 13)::int AS occupation,
           CASE WHEN random() < 0.25 THEN '>50K' ELSE '<=50K' END AS salary
    FROM generate_series(1, 30000);
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY '{education,marital,occupation,workclass,race,sex,country}'::text[] LOOP
        EXECUTE format('SELECT kanon.import_dgh(%L, array_agg(DISTINCT format(''%%s;%%s;*'', %I, ''some '' || (ascii(right(%I, 1)) - 48) / 3)))
            FROM people', name, name, name);
    END LOOP;
    PERFORM kanon.import_dgh('age', array_agg(format('%s;%s-%s;%s-%s;*', a, a / 5 * 5, a / 5 * 5 + 4, a / 20 * 20, a / 20 * 20 + 19) ORDER BY a))
        FROM generate_series(0, 100) AS a;
END
$$;
