-- People like those of a census, as in Figure 7 of the paper: the same columns with as many values, most of them near the
-- usual ones and some far from them. The sensitive column is the salary class.
CREATE FUNCTION bench_leaf(name text, place int) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT name || ' ' || lpad(place::text, 2, '0') $$;
-- A hierarchy of so many leaves, in groups of so many.
CREATE FUNCTION bench_dgh(name text, leaves int, members int) RETURNS void LANGUAGE sql AS $$
    SELECT kanon.import_dgh(name, array_agg(format('%s;some %s %s;*', bench_leaf(name, i), name, i / members) ORDER BY i)) FROM generate_series(0, leaves - 1) AS i
$$;
SELECT bench_dgh('education', 17, 4), bench_dgh('marital', 6, 3), bench_dgh('race', 9, 3), bench_dgh('workclass', 10, 4), bench_dgh('country', 83, 12) \g /dev/null
-- The usual place, or with some probability any other from 0 to last.
CREATE FUNCTION bench_place(last int, usual int, other float8) RETURNS int LANGUAGE sql VOLATILE AS
    $$ SELECT CASE WHEN random() < other THEN floor((last + 1) * random())::int ELSE usual END $$;
SELECT setseed(0.42) \g /dev/null
CREATE TABLE census AS
    SELECT id, age, CASE WHEN random() < 0.52 THEN 'female' ELSE 'male' END AS gender, bench_leaf('education', education) AS education,
           bench_leaf('marital', bench_place(5, 2, 0.4)) AS marital, bench_leaf('race', bench_place(8, 3, 0.15)) AS race,
           bench_leaf('workclass', bench_place(9, 5, 0.25)) AS workclass, bench_leaf('country', bench_place(82, 40, 0.1)) AS country,
           least(50, greatest(1, (education * 0.5 + 30 * (random() + random()) / 2 + age / 6.0 * random())::int)) AS salary
    FROM (SELECT id, 17 + least(77, (78 * (random() + random() + random()) / 3 * random() ^ 0.3)::int) AS age,
                 least(16, (17 * (random() + random() + random() + random()) / 4)::int) AS education
          FROM generate_series(1, :rows) AS id) AS people;
ALTER TABLE census ADD PRIMARY KEY (id);
VACUUM ANALYZE census;
