-- Every comparison with every type that a driver may send, in both orders, as a constant, as a parameter of a prepared
-- statement with a plan of its own and with a generic one, in IN, ANY, BETWEEN and joins.
SELECT kanon.import_dgh('disease', '{ulcer;stomach;*,gastritis;stomach;*,flu;lung;*}'),
    kanon.create_interval_dgh('age', 0, '{10}'), kanon.create_date_dgh('birth', '{year}'),
    kanon.create_prefix_dgh('zip', 5);
CREATE TABLE patient AS SELECT n AS id, kanon.generalize('disease', d, 1) AS disease,
    kanon.generalize('age', a::text, 1) AS age, kanon.generalize('birth', b, 1) AS birth,
    kanon.generalize('zip', z, 2) AS zip
FROM (VALUES (1, 'ulcer', 25, '1968-07-29', '13053'), (2, 'flu', 34, '1971-01-01', '13068'),
    (3, 'gastritis', 39, '1968-01-02', '14850'), (4, 'plague', NULL, 'unknown', '1')) v (n, d, a, b, z);
SELECT * FROM patient;

-- The rows that a condition selects, by a constant of each type.
CREATE FUNCTION rows_of(condition text) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    result int[];
BEGIN
    EXECUTE format('SELECT array_agg(id ORDER BY id) FROM patient WHERE %s', condition) INTO result;
    RETURN result;
END
$$;
CREATE TABLE operand (n int, type text, value text, col text);
INSERT INTO operand SELECT n, type, '34',
    'age' FROM unnest('{unknown,text,varchar,bpchar,name,smallint,integer,bigint,numeric,'
        'real,float8,kanon.generalized}'::text[]) WITH ORDINALITY u (type, n);
INSERT INTO operand SELECT 20 + n, type, 'gastritis',
    'disease' FROM unnest('{unknown,text,varchar,bpchar,name,kanon.generalized}'::text[]) WITH ORDINALITY u (type, n);
INSERT INTO operand SELECT 30 + n, type, '1968-07-29',
    'birth' FROM unnest('{unknown,text,varchar,date,timestamp,timestamptz,kanon.generalized}'::text[]) WITH ORDINALITY u
    (type, n);
INSERT INTO operand SELECT 40 + n, type, '13053',
    'zip' FROM unnest('{unknown,text,varchar,integer,numeric,kanon.generalized}'::text[]) WITH ORDINALITY u (type, n);
CREATE FUNCTION literal(type text, value text) RETURNS text LANGUAGE sql AS $$
    SELECT CASE type WHEN 'unknown' THEN quote_literal(value) ELSE format('%L::%s', value, type) END
$$;
SELECT col, type, rows_of(format('%s = %s', col, l)) AS "=", rows_of(format('%s ~~^ %s', col, l)) AS "~~^",
    rows_of(format('%s <> %s', col, l)) AS "<>", rows_of(format('%s < %s', col, l)) AS "<",
       rows_of(format('%s <= %s', col, l)) AS "<=", rows_of(format('%s > %s', col, l)) AS ">",
       rows_of(format('%s >= %s', col, l)) AS ">="
FROM operand, literal(type, value) l ORDER BY n;
-- In the other order, the mirrored comparison gives the same.
SELECT count(*) AS compared, count(*) FILTER (WHERE rows_of(format('%s %s %s', col, op,
    l)) IS DISTINCT FROM rows_of(format('%s %s %s', l, mirror, col))) AS different
FROM operand, literal(type, value) l, (VALUES ('=', '='), ('~~^', '~~^'), ('<>', '<>'), ('<', '>'), ('<=', '>='),
    ('>', '<'), ('>=', '<=')) o (op, mirror);
-- As a parameter, both sides, with custom and generic plans.
CREATE FUNCTION by_parameter(col text, op text, type text, value text, mode text, turned bool) RETURNS int[]
    LANGUAGE plpgsql AS $$
DECLARE
    result int[];
BEGIN
    PERFORM set_config('plan_cache_mode', mode, true);
    EXECUTE format('PREPARE asked (%s) AS SELECT array_agg(id ORDER BY id) FROM patient WHERE %s',
                   type, CASE WHEN turned THEN format('$1 %s %s', op, col) ELSE format('%s %s $1', col, op) END);
    EXECUTE format('EXECUTE asked (%L)', value) INTO result;
    EXECUTE format('EXECUTE asked (%L)', value) INTO result;
    DEALLOCATE asked;
    RETURN result;
END
$$;
SELECT count(*) AS compared, count(*) FILTER (WHERE by_parameter(col, op, type, value, mode,
    false) IS DISTINCT FROM rows_of(format('%s %s %s', col, op, l))) AS different,
       count(*) FILTER (WHERE by_parameter(col, mirror, type, value, mode,
           true) IS DISTINCT FROM rows_of(format('%s %s %s', col, op, l))) AS "different, turned"
FROM operand, literal(type, value) l, (VALUES ('=', '='), ('~~^', '~~^'), ('<>', '<>'), ('<', '>'), ('<=', '>='),
    ('>', '<'), ('>=', '<=')) o (op, mirror), unnest('{force_custom_plan,force_generic_plan}'::text[]) mode;
-- One prepared statement with several values, and NULL.
PREPARE by_age (int) AS SELECT array_agg(id ORDER BY id) FROM patient WHERE age = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE by_age(25);
EXECUTE by_age(30);
EXECUTE by_age(NULL);
PREPARE count_age (int) AS SELECT count(*) FROM patient WHERE age = $1;
EXPLAIN (COSTS OFF) EXECUTE count_age(25);
PREPARE by_untyped AS SELECT array_agg(id ORDER BY id) FROM patient WHERE disease = $1 OR age = $2;
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'by_untyped';
EXECUTE by_untyped('ulcer', '34');
-- A generic plan sees a hierarchy that has changed since.
UPDATE kanon.dgh_edge SET parent = 'lung' WHERE child = 'gastritis';
EXECUTE by_untyped('gastritis', '99');
UPDATE kanon.dgh_edge SET parent = 'stomach' WHERE child = 'gastritis';
EXECUTE by_untyped('gastritis', '99');
RESET plan_cache_mode;

-- IN, ANY, ALL, BETWEEN, CASE, row comparisons.
SELECT rows_of($$disease IN ('ulcer', 'flu')$$) AS "in", rows_of($$disease IN ('x', 'y')$$) AS "in none",
    rows_of('age IN (25, 34.5)') AS "in numbers", rows_of($$age IN (25, '39')$$) AS "in both",
       rows_of($$disease NOT IN ('ulcer', 'flu')$$) AS "not in", rows_of($$disease = ANY('{ulcer,plague}')$$) AS "any",
       rows_of($$disease = ANY('{ulcer,plague}'::text[])$$) AS "any text",
       rows_of($$disease = ANY('{ulcer,plague}'::varchar[])$$) AS "any varchar",
       rows_of('age = ANY(ARRAY[25, 99])') AS "any int",
       rows_of($$birth > ALL('{1967-01-01,1970-01-01}'::date[])$$) AS "all dates",
       rows_of('age = ANY(ARRAY[25,34,1,2,3,4,5,6,7,8,9,10,11,12])') AS "many",
       rows_of('age BETWEEN 30 AND 33') AS "between",
       rows_of($$birth BETWEEN '1968-12-31' AND date '1970-12-31'$$) AS "between dates",
       rows_of($$CASE disease WHEN 'ulcer' THEN true ELSE false END$$) AS "case";
-- PostgreSQL compares rows of columns only by operators of a btree class.
SELECT id FROM patient WHERE (disease, age) = ('ulcer', 25);
PREPARE by_array (int[], text[]) AS SELECT array_agg(id ORDER BY id) FROM patient WHERE age = ANY($1)
    OR disease = ANY($2);
EXECUTE by_array('{25}', '{flu,NULL}');
SELECT array_agg(id ORDER BY id) FROM patient
    WHERE disease IN (SELECT child FROM kanon.dgh_edge WHERE parent = 'stomach');
SELECT array_agg(id ORDER BY id) FROM patient p
    WHERE EXISTS (SELECT FROM patient q WHERE q.disease = p.disease AND q.id <> p.id);

-- Joins.
CREATE TABLE visit (disease text, age int, ward int);
INSERT INTO visit VALUES ('ulcer', 25, 1), ('flu', 31, 2), ('gastritis', 20, 3), ('plague', 5, 4), (NULL, NULL, 5);
SELECT id, ward FROM patient JOIN visit USING (disease) ORDER BY 1, 2;
SELECT id, ward FROM patient NATURAL JOIN (SELECT disease, ward FROM visit) v ORDER BY 1, 2;
SELECT count(*), count(DISTINCT disease) AS "distinct" FROM patient a JOIN patient b USING (disease);
SELECT id, ward FROM patient LEFT JOIN visit ON patient.age = visit.age ORDER BY 1, 2;
SELECT a.id, b.id FROM patient a JOIN patient b ON a.zip = b.zip AND a.id < b.id ORDER BY 1, 2;
-- No planner setting changes the rows that are found: AVLIKE is neither hashed nor merged.
SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT id, ward FROM patient JOIN visit USING (disease);
SELECT id, ward FROM patient JOIN visit USING (disease) ORDER BY 1, 2;
RESET enable_nestloop;

-- Types for which there is no comparison say so.
SELECT count(*) FROM patient WHERE disease = interval '1 day';
SELECT count(*) FROM patient WHERE age = '{1}'::int[];
SELECT count(*) FROM patient WHERE age = point '(1,2)';
