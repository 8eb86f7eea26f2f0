-- For ndependency.sh, which sets :census and :queries: Figures 5 and 6.
\set ECHO none
\pset footer off
\pset null -
SET client_min_messages = warning;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SELECT setseed(0.2010) \gset

-- Table 10's columns and numbers of values; education and income go with age and work, as they do.
CREATE TABLE census AS
WITH person AS (
    SELECT id, floor(random() * 91)::integer AS age, floor(random() * 2)::integer AS gender, floor(random() * 6)::integer AS marital,
        floor(100 * power(random(), 2))::integer AS birthplace, floor(6 * power(random(), 1.5))::integer AS employment, floor(random() * 9)::integer AS worker
    FROM generate_series(1, :census) AS id),
ranked AS (
    SELECT *, row_number() OVER (ORDER BY abs(age - 45) * 0.02 + employment * 0.2 + worker * 0.1 + random() * 2, id) - 1 AS income_rank,
        row_number() OVER (ORDER BY age * 0.02 - employment * 0.1 - worker * 0.1 + random() * 2, id) - 1 AS education_rank
    FROM person)
SELECT id, age, gender, marital, birthplace, employment, worker,
    (income_rank * 50 / :census)::integer AS income, -- even intervals
    (SELECT min(i) FROM unnest('{8,16,26,36,43,49,56,66,76,82,87,93,97,99,100}'::integer[]) WITH ORDINALITY AS c (share, i)
     WHERE education_rank < c.share * :census / 100.0)::integer - 1 AS education
FROM ranked;

-- Table 12.  Codes of classes say what they hold: 046 is 400 to 600.  "No School" stands alone between 001
-- and the root, so that all codes are three levels deep.
CREATE TABLE edu_code AS SELECT code, i::integer - 1 AS value FROM unnest('{000,100,200,300,400,500,600,701,702,821,822,824,825,826,827}'::text[]) WITH ORDINALITY AS c (code, i);
SELECT kanon.create_dgh('edu') \gset
INSERT INTO kanon.dgh_edge SELECT 'edu', code, CASE WHEN code < '200' THEN '001' WHEN code < '400' THEN '023' WHEN code < '700' THEN '046' WHEN code < '800' THEN '077' ELSE '088' END FROM edu_code;
INSERT INTO kanon.dgh_edge VALUES ('edu', '001', 'No School'), ('edu', '023', '027'), ('edu', '046', '027'), ('edu', '077', '027'), ('edu', '088', '888');
-- Income, grouped by two on each level.
SELECT kanon.create_dgh('inc') \gset
INSERT INTO kanon.dgh_edge
SELECT DISTINCT 'inc', step || ':' || (i >> step), CASE step WHEN 5 THEN '*' ELSE step + 1 || ':' || (i >> (step + 1)) END FROM generate_series(0, 49) AS i, generate_series(0, 5) AS step;
CREATE VIEW edu_6 AS SELECT id, code AS sick FROM census JOIN edu_code ON value = education;
CREATE VIEW inc_6 AS SELECT id, '0:' || income AS sick FROM census;

-- group_census(data, l, n): n 0 is anatomy.
CREATE TABLE grouped (id text, grp integer, sick text);
CREATE FUNCTION group_census(data text, l integer, n integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE grouped;
    IF n = 0 THEN
        INSERT INTO grouped SELECT * FROM kanon.anatomy(data || '_6', 'id', 'sick', l, 1);
    ELSE
        INSERT INTO grouped SELECT id, grp, sensitive FROM kanon.n_dependency(data || '_6', 'id', 'sick', data, l, n, 1);
    END IF;
END
$$;
CREATE FUNCTION share_dependent(data text, n integer) RETURNS numeric LANGUAGE sql AS $$
    SELECT round(100 * avg((error = 0)::integer), 1) FROM kanon.diversity_error(data || '_6', 'id', 'sick', data, 'grouped', n - 1)
$$;

CREATE TABLE figure5 (data text, l integer, n integer, largest integer, anatomy numeric, dependency numeric);
DO $$
DECLARE
    case_of record;
BEGIN
    FOR case_of IN SELECT data, l, n, kanon.find_max_n(data || '_6', 'sick', data, l) AS largest
        FROM (VALUES ('edu', 2), ('inc', 4)) AS d (data, deepest), generate_series(4, 10) AS l, generate_series(2, d.deepest) AS n
    LOOP
        PERFORM group_census(case_of.data, case_of.l, 0);
        INSERT INTO figure5 SELECT case_of.data, case_of.l, case_of.n, case_of.largest, share_dependent(case_of.data, case_of.n);
        CONTINUE WHEN case_of.n > case_of.largest;
        PERFORM group_census(case_of.data, case_of.l, case_of.n);
        UPDATE figure5 SET dependency = share_dependent(case_of.data, case_of.n) WHERE (data, l, n) = (case_of.data, case_of.l, case_of.n);
    END LOOP;
END
$$;

\echo
\echo Figure 5: % of groups that are n-dependent (- : no grouping has that n; find_max_n says which is the largest)
SELECT l, max(largest) FILTER (WHERE data = 'edu') AS "EDU max n", max(anatomy) FILTER (WHERE data = 'edu') AS "EDU n=2 anatomy", max(dependency) FILTER (WHERE data = 'edu') AS "n-dep",
    max(largest) FILTER (WHERE data = 'inc') AS "INC max n", max(anatomy) FILTER (WHERE data = 'inc' AND n = 2) AS "INC n=2 anatomy", max(dependency) FILTER (WHERE data = 'inc' AND n = 2) AS "n-dep",
    max(anatomy) FILTER (WHERE data = 'inc' AND n = 3) AS "n=3 anatomy", max(dependency) FILTER (WHERE data = 'inc' AND n = 3) AS "n-dep",
    max(anatomy) FILTER (WHERE data = 'inc' AND n = 4) AS "n=4 anatomy", max(dependency) FILTER (WHERE data = 'inc' AND n = 4) AS "n-dep"
FROM figure5 GROUP BY l ORDER BY l;

-- Figure 6: l = 4.  Beside each row stand its group's sensitive values as a set of bits, their number, and the
-- group's diversity error after 1 to 3 generalizations, for each release; an estimate then is a sum over rows.
CREATE TABLE release (release text, data text, id integer, held bit(50), size integer, errors float8[]);
DO $$
DECLARE
    r record;
BEGIN
    FOR r IN SELECT * FROM (VALUES ('edu0', 'edu', 0, 1), ('edu2', 'edu', 2, 1), ('inc0', 'inc', 0, 3), ('inc2', 'inc', 2, 3), ('inc3', 'inc', 3, 3), ('inc4', 'inc', 4, 3)) AS v (name, data, n, steps)
    LOOP
        PERFORM group_census(r.data, 4, r.n);
        WITH error AS (
            SELECT e.grp, array_agg(e.error ORDER BY step) AS errors FROM generate_series(1, r.steps) AS step,
                LATERAL kanon.diversity_error(r.data || '_6', 'id', 'sick', r.data, 'grouped', step) AS e GROUP BY e.grp),
        held AS (
            SELECT g.grp, bit_or(set_bit(0::bit(50), CASE r.data WHEN 'edu' THEN (SELECT value FROM edu_code WHERE code = g.sick) ELSE substr(g.sick, 3)::integer END, 1)) AS held, count(*) AS size
            FROM grouped AS g GROUP BY g.grp)
        INSERT INTO release SELECT r.name, r.data, g.id::integer, h.held, h.size, e.errors FROM grouped AS g JOIN held AS h USING (grp) JOIN error AS e USING (grp);
    END LOOP;
END
$$;
ANALYZE release, census;
CREATE TABLE wide AS
SELECT c.*, e0.held AS e0, e0.size AS se0, e0.errors[1] AS ee0, e2.held AS e2, e2.size AS se2, e2.errors[1] AS ee2,
    i0.held AS i0, i0.size AS si0, i0.errors AS ei0, i2.held AS i2, i2.size AS si2, i2.errors[1] AS ei2,
    i3.held AS i3, i3.size AS si3, i3.errors[2] AS ei3, i4.held AS i4, i4.size AS si4, i4.errors[3] AS ei4
FROM census AS c
    JOIN release AS e0 ON (e0.release, e0.id) = ('edu0', c.id) JOIN release AS e2 ON (e2.release, e2.id) = ('edu2', c.id)
    JOIN release AS i0 ON (i0.release, i0.id) = ('inc0', c.id) JOIN release AS i2 ON (i2.release, i2.id) = ('inc2', c.id)
    JOIN release AS i3 ON (i3.release, i3.id) = ('inc3', c.id) JOIN release AS i4 ON (i4.release, i4.id) = ('inc4', c.id);
VACUUM ANALYZE wide;

-- So many different values of a domain, as bits; all of them for a column that the query does not use.
CREATE FUNCTION some_values(domain integer, qd integer, used boolean) RETURNS bit(100) LANGUAGE sql VOLATILE AS $$
    SELECT bit_or(set_bit(0::bit(100), v, 1)) FROM (
        SELECT v FROM generate_series(0, domain - 1) AS v ORDER BY random()
        LIMIT CASE WHEN used THEN ceil(domain * power(0.05, 1.0 / (qd + 1)))::integer ELSE domain END) AS chosen
$$;
CREATE TABLE answer (qd integer, data text, act float8, est float8[], error float8[]);
CREATE FUNCTION ask(qd integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    used integer[] := ARRAY(SELECT i FROM generate_series(1, 6) AS i ORDER BY random() LIMIT qd);
    m_age bit(100) := some_values(91, qd, 1 = ANY (used));
    m_gender bit(100) := some_values(2, qd, 2 = ANY (used));
    m_marital bit(100) := some_values(6, qd, 3 = ANY (used));
    m_birthplace bit(100) := some_values(100, qd, 4 = ANY (used));
    m_employment bit(100) := some_values(6, qd, 5 = ANY (used));
    m_worker bit(100) := some_values(9, qd, 6 = ANY (used));
    edu bit(50) := some_values(15, qd, true)::bit(50);
    inc bit(50) := some_values(50, qd, true)::bit(50);
    a record;
BEGIN
    SELECT count(*) FILTER (WHERE get_bit(edu, w.education) = 1) AS act_edu, count(*) FILTER (WHERE get_bit(inc, w.income) = 1) AS act_inc,
        sum(bit_count(edu & e0)::float8 / se0) AS e0, sum(bit_count(edu & e2)::float8 / se2) AS e2,
        sum(bit_count(inc & i0)::float8 / si0) AS i0, sum(bit_count(inc & i2)::float8 / si2) AS i2,
        sum(bit_count(inc & i3)::float8 / si3) AS i3, sum(bit_count(inc & i4)::float8 / si4) AS i4,
        avg(ee0) AS ee0, avg(ee2) AS ee2, avg(ei0[1]) AS ei01, avg(ei0[2]) AS ei02, avg(ei0[3]) AS ei03, avg(ei2) AS ei2, avg(ei3) AS ei3, avg(ei4) AS ei4
    INTO a FROM wide AS w
    WHERE get_bit(m_age, w.age) = 1 AND get_bit(m_gender, w.gender) = 1 AND get_bit(m_marital, w.marital) = 1
        AND get_bit(m_birthplace, w.birthplace) = 1 AND get_bit(m_employment, w.employment) = 1 AND get_bit(m_worker, w.worker) = 1;
    IF a.act_edu = 0 OR a.act_inc = 0 THEN
        RETURN false; -- a relative error needs something to be relative to
    END IF;
    INSERT INTO answer VALUES (qd, 'edu', a.act_edu, ARRAY[a.e0, a.e2], ARRAY[a.ee0, a.ee2]),
        (qd, 'inc', a.act_inc, ARRAY[a.i0, a.i2, a.i3, a.i4], ARRAY[a.ei01, a.ei02, a.ei03, a.ei2, a.ei3, a.ei4]);
    RETURN true;
END
$$;

CREATE FUNCTION workload(queries integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    asked integer;
BEGIN
    FOR qd IN 2 .. 6 LOOP
        asked := 0;
        WHILE asked < queries LOOP
            asked := asked + ask(qd)::integer;
        END LOOP;
    END LOOP;
END
$$;
SELECT workload(:queries) \gset

\echo
\echo Figure 6: average relative query error in %, l = 4, s = 5 %
CREATE VIEW error_of AS SELECT qd, data, release, 100 * abs(act - e) / act AS error FROM answer, unnest(est) WITH ORDINALITY AS x (e, release);
SELECT qd, round(avg(error) FILTER (WHERE data = 'edu' AND release = 1)::numeric, 2) AS "EDU anatomy", round(avg(error) FILTER (WHERE data = 'edu' AND release = 2)::numeric, 2) AS "n=2",
    round(avg(error) FILTER (WHERE data = 'inc' AND release = 1)::numeric, 2) AS "INC anatomy", round(avg(error) FILTER (WHERE data = 'inc' AND release = 2)::numeric, 2) AS "n=2",
    round(avg(error) FILTER (WHERE data = 'inc' AND release = 3)::numeric, 2) AS "n=3", round(avg(error) FILTER (WHERE data = 'inc' AND release = 4)::numeric, 2) AS "n=4",
    round((stddev(error) FILTER (WHERE data = 'edu' AND release = 1) / sqrt(:queries))::numeric, 2) AS "+- EDU", round((stddev(error) FILTER (WHERE data = 'inc' AND release = 1) / sqrt(:queries))::numeric, 2) AS "+- INC"
FROM error_of GROUP BY qd ORDER BY qd;

\echo
\echo Figure 6: average relative diversity error in % after n - 1 generalizations, l = 4
SELECT qd, round(100 * avg(error[1]) FILTER (WHERE data = 'edu')::numeric, 2) AS "EDU n=2 anatomy", round(100 * avg(error[2]) FILTER (WHERE data = 'edu')::numeric, 2) AS "n-dep",
    round(100 * avg(error[1]) FILTER (WHERE data = 'inc')::numeric, 2) AS "INC n=2 anatomy", round(100 * avg(error[4]) FILTER (WHERE data = 'inc')::numeric, 2) AS "n-dep",
    round(100 * avg(error[2]) FILTER (WHERE data = 'inc')::numeric, 2) AS "n=3 anatomy", round(100 * avg(error[5]) FILTER (WHERE data = 'inc')::numeric, 2) AS "n-dep",
    round(100 * avg(error[3]) FILTER (WHERE data = 'inc')::numeric, 2) AS "n=4 anatomy", round(100 * avg(error[6]) FILTER (WHERE data = 'inc')::numeric, 2) AS "n-dep"
FROM answer GROUP BY qd ORDER BY qd;

-- The sums over rows above are what anatomy_count says.
SELECT group_census('inc', 4, 4) \gset
CREATE TABLE inc_qit AS SELECT c.age, c.worker, g.grp FROM census AS c JOIN grouped AS g ON g.id = c.id::text;
CREATE TABLE inc_st AS SELECT grp, sick AS value, 1 AS count FROM grouped;
\echo
SELECT max(abs(kanon.anatomy_count('inc_qit', 'inc_st', format('age %% 10 = %s AND worker < 5', i), ARRAY['0:' || i, '0:' || i + 20]) - (
    SELECT sum(bit_count(set_bit(set_bit(0::bit(50), i, 1), i + 20, 1) & i4)::float8 / si4) FROM wide WHERE age % 10 = i AND worker < 5))) < 1e-6 AS "anatomy_count agrees"
FROM generate_series(0, 9) AS i;
