-- Publishing a k-join-anonymous release, attacking it, and counting in it.
SELECT setseed(0.3);
CREATE TABLE register AS SELECT i AS id, (random() * 60)::int AS age, (random() * 99)::int AS zip
    FROM generate_series(1, 3000) AS i;
CREATE TABLE patients AS SELECT *, (ARRAY['flu', 'cold', 'angina', 'hiv'])[1 + id / 10 % 4]::varchar(9) AS disease
    FROM register WHERE id % 10 = 0;
SELECT kanon.publish_kja('ward', 'patients', 'register', 'id', '{"age": null, "zip": null}', 5, sensitive => 'disease',
    l => 3);

-- Boxes and sensitive group; sensitive group and value: nothing else.
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute AS a
    JOIN pg_class AS c ON c.oid = a.attrelid
WHERE c.relname LIKE 'ward%' AND a.attnum > 0 ORDER BY c.relname, a.attnum;

-- The promises of a k-join-anonymous release, checked on the two tables alone.
SELECT (SELECT count(*) FROM ward_si) = (SELECT count(*) FROM patients) AS all_values,
    (SELECT bool_and(n >= 5) FROM (SELECT count(*) AS n FROM ward_jat GROUP BY age, zip, sg) AS s) AS groups_of_k,
    (SELECT bool_and(n >= 5) FROM (SELECT count(*) AS n FROM ward_si GROUP BY sg) AS s) AS values_of_k,
    (SELECT bool_and(n >= 3) FROM (SELECT count(DISTINCT value) AS n FROM ward_si GROUP BY sg) AS s) AS values_of_l,
    (SELECT count(DISTINCT sg) FROM ward_jat) = (SELECT count(DISTINCT sg) FROM ward_si) AS same_groups,
    (SELECT count(*) FROM ward_jat) < (SELECT count(*) FROM register) AS register_not_republished;

-- The linking attack: an attacker with the register finds every patient among at least k rows, with at least l
-- diseases.
WITH matches AS (SELECT p.id, j.sg, count(*) AS rows FROM patients AS p JOIN ward_jat AS j ON j.age = p.age
    AND j.zip = p.zip GROUP BY p.id, j.sg)
SELECT count(DISTINCT id) AS found, bool_and(rows >= 5) AS among_k,
    bool_and((SELECT count(DISTINCT value) FROM ward_si AS s WHERE s.sg = m.sg) >= 3) AS with_l
FROM matches AS m;

-- The attack by place: rows of microdata are written first, or together.  Published twice, only the order differs.
SELECT kanon.publish_kja('twice', 'patients', 'register', 'id', '{"age": null, "zip": null}', 5, sensitive => 'disease',
    l => 3);
SELECT (SELECT array_agg((age, zip, sg)::text ORDER BY ctid)
    FROM ward_jat) = (SELECT array_agg((age, zip, sg)::text ORDER BY ctid) FROM twice_jat) AS same_order,
    (SELECT array_agg((age, zip, sg)::text ORDER BY age, zip, sg)
        FROM ward_jat) = (SELECT array_agg((age, zip, sg)::text ORDER BY age, zip, sg) FROM twice_jat) AS same_rows,
    (SELECT array_agg(value ORDER BY ctid) FROM ward_si) = (SELECT array_agg(value ORDER BY ctid)
        FROM twice_si) AS same_value_order;

-- Counts: the whole of it is exact, a part near the truth, nothing where nothing is.
SELECT kanon.kja_count('ward_jat', 'ward_si', '{NULL,NULL}', '{NULL,NULL}') AS all_of_it,
    (SELECT count(*) FROM patients);
SELECT abs(kanon.kja_count('ward_jat', 'ward_si', '{10,20}', '{40,80}') / (SELECT count(*) FROM patients WHERE age >= 10
    AND age < 40 AND zip >= 20 AND zip < 80) - 1) < 0.1 AS near;
SELECT kanon.kja_count('ward_jat', 'ward_si', '{100,NULL}', '{200,NULL}') AS nothing;

-- The example of section 3.3: six rows in two boxes, four values, a range over the second box.
CREATE TABLE fig_jat AS SELECT x::kanon.generalized AS x, y::kanon.generalized AS y, 1 AS sg
FROM (VALUES ('[0,1]', '[0,2]'), ('[1,3]', '[3,4]')) AS v (x, y), generate_series(1, 3);
CREATE TABLE fig_si AS SELECT 1 AS sg, v AS value FROM unnest('{v1,v1,v2,v2}'::text[]) AS v;
SELECT kanon.kja_count('fig_jat', 'fig_si', '{0,2.5}', '{4,4}');
-- And a conventional release, where every row is microdata: 2/3 of four rows and 1/3 of three.
CREATE TABLE fig_at AS SELECT x::kanon.generalized AS x, y::kanon.generalized AS y, sg
FROM (VALUES ('[0,3]', '[0,6]', 1, 4), ('[0,9]', '[2,4]', 2, 3)) AS v (x, y, sg, n), generate_series(1, n);
CREATE TABLE fig_at_si AS SELECT sg, 'v' AS value FROM fig_at;
SELECT round(kanon.kja_count('fig_at', 'fig_at_si', '{0,2}', '{3,6}')::numeric, 6);

-- Shares of single boxes: numbers, dates by day, leaves by number or by position, null, everything.
SELECT kanon.import_dgh('age', '{"1;young;*","2;young;*","3;old;*","4;old;*"}');
SELECT kanon.import_dgh('town', '{"a;A;*","b;A;*","c;A;*","d;B;*","e;B;*","f;C;*"}');
SELECT kanon.box_share('{"[0,10]"}', '{5}', '{20}') AS half, kanon.box_share('{"7"}', '{7}', '{8}') AS point,
    kanon.box_share('{"7"}', '{6}', '{7}') AS beside,
    kanon.box_share('{"[2000-01-01,2000-01-11]"}', '{0}', '{5}') AS days,
    kanon.box_share(ARRAY[kanon.generalize('age', '3', 1)], '{3}', '{4}') AS leaf,
    kanon.box_share(ARRAY[kanon.generalize('town', 'e', 1)], '{4}', '{6}') AS position,
    kanon.box_share(ARRAY[NULL]::kanon.generalized[], '{0}', '{1}') AS of_null,
    kanon.box_share(ARRAY[NULL]::kanon.generalized[], '{NULL}', '{NULL}') AS unbounded,
    kanon.box_share(ARRAY[kanon.generalize('age', '3', 2)], '{1}', '{3}') AS root,
    kanon.box_share('{"*"}', '{1}', '{3}') AS everything;
SELECT kanon.box_share('{"Bonn"}', '{1}', '{3}');
SELECT kanon.box_share('{"[0,10]"}', '{1,2}', '{3,4}');

-- Names and types are kept as they are; nulls, too.
CREATE SCHEMA "Out";
CREATE TABLE odd AS SELECT i AS "I d", i AS "X y", CASE WHEN i > 1 THEN (i / 2.0)::numeric(5,1) END AS "S v"
    FROM generate_series(1, 8) AS i;
SELECT kanon.publish_kja('"Out"."My release"', 'odd', 'SELECT i AS "I d", i AS "X y" FROM generate_series(1, 20) AS i',
    'I d', '{"X y": null}', 2,
    'topdown', 'refinement', 7, 'S v');
SELECT a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute AS a
    WHERE a.attrelid IN ('"Out"."My release_jat"'::regclass, '"Out"."My release_si"'::regclass)
AND a.attnum > 0 ORDER BY a.attrelid, a.attnum;
SELECT count(*), count(value), sum(value) FROM "Out"."My release_si";
SELECT kanon.publish_kja('"Out"."My release"', 'odd', 'odd', 'I d', '{"X y": null}', 2, sensitive => 'S v');

-- A source that never gives the same rows twice is read once.
SELECT kanon.publish_kja('once', 'SELECT * FROM patients WHERE random() < 0.5', 'register', 'id',
    '{"age": null, "zip": null}', 5, sensitive => 'disease');
SELECT kanon.kja_count('once_jat', 'once_si', '{NULL,NULL}', '{NULL,NULL}') = (SELECT count(*)
    FROM once_si) AS consistent;

-- A temporary table of the same name does not receive the published rows.
CREATE TEMPORARY TABLE shade_si (sg int, value text);
SELECT kanon.publish_kja('shade', 'patients', 'register', 'id', '{"age": null, "zip": null}', 5,
    sensitive => 'disease');
SELECT (SELECT count(*) FROM pg_temp.shade_si) AS caught, (SELECT count(*) FROM public.shade_si) AS published;

-- The caller's own rights, for tables and for creating them.
CREATE ROLE release_publish_clerk;
GRANT SELECT ON ward_jat, ward_si TO release_publish_clerk;
SET ROLE release_publish_clerk;
SELECT kanon.kja_count('ward_jat', 'ward_si', '{NULL,NULL}', '{NULL,NULL}');
SELECT kanon.kja_count('twice_jat', 'twice_si', '{NULL,NULL}', '{NULL,NULL}');
SELECT kanon.publish_kja('mine', 'patients', 'register', 'id', '{"age": null, "zip": null}', 5, sensitive => 'disease');
RESET ROLE;
DROP OWNED BY release_publish_clerk;
DROP ROLE release_publish_clerk;
