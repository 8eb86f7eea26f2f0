-- anatomy_count: estimates from the two tables alone.
CREATE TABLE qit (age integer, sex text, zip text, grp integer);
CREATE TABLE st (grp integer, value text, count integer);
INSERT INTO qit VALUES (23, 'M', '11000', 1), (27, 'M', '13000', 1), (35, 'M', '59000', 1), (59, 'M', '12000', 1),
    (61, 'F', '54000', 2), (65, 'F', '25000', 2), (65, 'F', '25000', 2), (70, 'F', '30000', 2), (NULL, 'F', '30000', 2);
INSERT INTO st VALUES (1, 'pneumonia', 2), (1, 'dyspepsia', 2), (2, 'flu', 1), (2, 'gastritis', 1),
    (2, 'bronchitis', 2), (2, 'pneumonia', 1);

-- Two of four men, half of whose group has pneumonia: 2 * 2/4.
SELECT kanon.anatomy_count('qit', 'st', 'age < 30', '{pneumonia}');
SELECT kanon.anatomy_count('qit', 'st', 'age >= 65', '{pneumonia,bronchitis}');
SELECT kanon.anatomy_count('qit', 'st', 'true', '{pneumonia,pneumonia}');
SELECT kanon.anatomy_count('qit', 'st', 'false', '{pneumonia}');
SELECT kanon.anatomy_count('qit', 'st', 'true', '{measles}');
SELECT kanon.anatomy_count('qit', 'st', 'true', '{}');
SELECT kanon.anatomy_count('qit', 'st', 'true', '{NULL}');
SELECT kanon.anatomy_count('qit', 'st', NULL, '{pneumonia}');

-- Plain conditions of many forms.
SELECT kanon.anatomy_count('qit', 'st', p, '{pneumonia,flu}') AS estimate, p FROM unnest(ARRAY[
    $$age BETWEEN 20 AND 40 AND sex = 'M' OR zip LIKE '3%'$$, 'age IN (23, 65)', 'age = ANY (''{23,65}'')',
    'age IS NULL', 'NOT (age > 30)',
    $$qit.age > 30 AND upper(qit.sex) = 'F'$$, 'CASE WHEN age > 60 THEN sex = ''F'' END', 'age > 30 -- everyone above',
    'NULL', $$zip::integer % 2 = 0$$]) AS p;

-- Nothing but plain conditions over quasi-identifiers.
\set SHOW_CONTEXT never
SELECT kanon.anatomy_count('qit', 'st', 'grp = 1', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'age > 1 AND qit.grp = 1', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'qit IS NOT NULL', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'ctid IS NOT NULL', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'EXISTS (SELECT FROM pg_authid)', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'age IN (SELECT 23)', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'random() < 0.5', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'pg_sleep(0) IS NULL', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'count(*) > 1', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'rank() OVER () > 1', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'generate_series(1, 2) > 1', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', '$1 = ''{}''', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'st.value = ''flu''', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'height > 1', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'age', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'age > ', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', '', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'true, true', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'true AS t', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'true FROM pg_class', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'true WHERE false', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'DISTINCT true', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'true) OR (true', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'true; DROP TABLE qit', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'true LIMIT 1', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'true UNION SELECT true', '{flu}');
-- Nor expressions that read tables, or run code, without a subquery or a volatile function.
CREATE TABLE secret AS SELECT 42 AS x;
CREATE FUNCTION peeks(integer) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$ BEGIN RETURN (SELECT x = 42 FROM secret); END $$;
CREATE FUNCTION writes(integer) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN INSERT INTO secret VALUES ($1);
    RETURN true; END $$;
CREATE DOMAIN writing AS integer CHECK (writes(VALUE));
CREATE OPERATOR ^^^ (RIGHTARG = integer, FUNCTION = peeks);
SELECT kanon.anatomy_count('qit', 'st', $$table_to_xml('secret', true, true, '')::text LIKE '%42%'$$, '{flu}');
SELECT kanon.anatomy_count('qit', 'st', $$kanon.uncertain_count('SELECT ''{1}'' AS z, ''{0}'' AS spread FROM secret',
    'gaussian', '{0}', '{9}') = 1$$, '{flu}');
SELECT kanon.anatomy_count('qit', 'st', $$kanon.find_max_n('secret', 'x', 'd', 2) > 0$$, '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'peeks(age)', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', '^^^ age', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'age::writing > 1', '{flu}');
SELECT kanon.anatomy_count('qit', 'st', 'age = ANY (ARRAY[age]::writing[])', '{flu}');
SELECT count(*) FROM secret;
-- Expressions that depend on settings and on the clock, but not on other data, are plain.
CREATE TABLE born_qit AS SELECT DATE '1990-01-01' + g * 300 AS born,
    TIMESTAMPTZ '2020-01-01 UTC' + g * interval '1 day' AS seen, g % 2 + 1 AS grp FROM generate_series(1, 8) AS g;
SELECT kanon.anatomy_count('born_qit', 'st', p, '{pneumonia,flu}') AS estimate, p FROM unnest(ARRAY[
    $$born < now() - interval '20 years'$$, 'born < current_date', $$to_char(born, 'YYYY') > '1993'$$,
    'extract(year FROM seen) = 2020', 'born::timestamptz < seen', $$age(born) > interval '1 year'$$]) AS p;
SELECT kanon.anatomy_count('qit', 'qit', 'true', '{flu}');
SELECT kanon.anatomy_count('pg_class', 'st', 'true', '{flu}');
CREATE TABLE other_st AS SELECT * FROM st WHERE grp = 1;
SELECT kanon.anatomy_count('qit', 'other_st', 'true', '{flu}');
SELECT kanon.anatomy_count(0, 'st', 'true', '{flu}');
-- With the caller's rights.
CREATE ROLE anatomy_count_reader;
SET ROLE anatomy_count_reader;
SELECT kanon.anatomy_count('qit', 'st', 'true', '{flu}');
RESET ROLE;
DROP ROLE anatomy_count_reader;

-- Against the definition, on a release: the sum over the rows that qualify of the share of asked values.
SELECT setseed(0.7);
CREATE TABLE census AS SELECT g AS id, (random() * 90)::integer AS age, (random() * 5)::integer AS job,
    's' || (random() * 19)::integer AS salary FROM generate_series(1, 3000) AS g;
SELECT kanon.publish_anatomy('c', 'census', 'id', '{age,job}', 'salary', NULL, 5, NULL);
SELECT count(*) AS queries, max(abs(kanon.anatomy_count('c_qit', 'c_st', format('age %% 4 = %s AND job <> %s', a, j),
    v) - (
    SELECT sum(share) FROM c_qit JOIN (SELECT grp, avg((value = ANY (v))::integer::float8) AS share FROM c_st
        GROUP BY grp) AS s USING (grp)
    WHERE age % 4 = a AND job <> j))) < 1e-6 AS right
FROM generate_series(0, 3) AS a, generate_series(0, 3) AS j, (VALUES ('{s1,s2}'::text[]), ('{s3,s4,s5,s19}')) AS w (v);
-- All values together, or all rows, are counted exactly, for all groups.
SELECT round(kanon.anatomy_count('c_qit', 'c_st', 'age < 20', (SELECT array_agg(DISTINCT value) FROM c_st))::numeric,
    6) = (SELECT count(*) FROM census WHERE age < 20) AS all_values,
    round(kanon.anatomy_count('c_qit', 'c_st', 'true', '{s1,s2}')::numeric, 6) = (SELECT count(*) FROM census
        WHERE salary IN ('s1', 's2')) AS all_rows;
