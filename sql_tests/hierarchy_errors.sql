-- Bad input gets an error with a SQLSTATE that names the value and the rule, and leaves nothing behind.
\pset format unaligned
\pset footer off

-- Return the error that a statement raises.
CREATE FUNCTION error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    hint text;
BEGIN
    EXECUTE statement;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' | ', SQLSTATE || ': ' || SQLERRM, nullif(detail, ''), nullif(hint, ''));
END
$$;

SELECT kanon.create_dgh('d');
INSERT INTO kanon.dgh_edge VALUES ('d', 'a', 'b'), ('d', 'b', 'c'), ('d', 'x', 'c');
SELECT kanon.create_interval_dgh('i', 0, '{10}');
CREATE TABLE before AS SELECT (SELECT jsonb_agg(to_jsonb(d) ORDER BY id) FROM kanon.dgh d) AS dgh,
    (SELECT jsonb_agg(to_jsonb(e) ORDER BY e) FROM kanon.dgh_edge e) AS edge;

-- Edges.
SELECT statement, error_of(statement) FROM unnest(ARRAY[
    $$INSERT INTO kanon.dgh_edge VALUES ('d', 'c', 'a')$$,
    $$INSERT INTO kanon.dgh_edge VALUES ('d', 'c', 'd'), ('d', 'd', 'e'), ('d', 'e', 'x')$$,
    $$INSERT INTO kanon.dgh_edge VALUES ('d', 'm', 'n'), ('d', 'n', 'm')$$,
    $$INSERT INTO kanon.dgh_edge VALUES ('d', 'ok', 'c'), ('d', 's', 's')$$,
    $$INSERT INTO kanon.dgh_edge VALUES ('d', 'ok', 'c'), ('d', 'a', 'x')$$,
    $$INSERT INTO kanon.dgh_edge VALUES ('d', 'p', 'b'), ('d', 'p', 'c')$$,
    $$INSERT INTO kanon.dgh_edge VALUES ('d', '*', 'c')$$,
    $$INSERT INTO kanon.dgh_edge VALUES ('d', '', 'c')$$,
    $$INSERT INTO kanon.dgh_edge VALUES ('d', 'y', '')$$,
    $$INSERT INTO kanon.dgh_edge VALUES ('d', NULL, 'c')$$,
    $$INSERT INTO kanon.dgh_edge VALUES ('nowhere', 'y', 'c')$$,
    $$INSERT INTO kanon.dgh_edge VALUES ('i', 'y', 'c')$$,
    $$UPDATE kanon.dgh_edge SET parent = 'a' WHERE child = 'b'$$,
    $$UPDATE kanon.dgh_edge SET dgh = 'nowhere' WHERE child = 'b'$$,
    $$UPDATE kanon.dgh_edge SET dgh = 'i' WHERE child = 'b'$$,
    $$INSERT INTO kanon.dgh_edge SELECT 'd', 'n' || i, 'n' || i + 1 FROM generate_series(1, 300) i$$,
    $$INSERT INTO kanon.dgh_edge SELECT 'd', 'n' || i, 'n' || (i + 1) % 300 FROM generate_series(0, 299) i$$,
    $$INSERT INTO kanon.dgh_edge SELECT 'd', string_agg(md5(i::text), ''),
    'c' FROM generate_series(1, 300) i$$]) statement;

-- Definitions.
SELECT statement, error_of(statement) FROM unnest(ARRAY[
    $$SELECT kanon.create_dgh('')$$,
    $$SELECT kanon.create_dgh(NULL)$$,
    $$SELECT kanon.create_dgh('d')$$,
    $$SELECT kanon.create_interval_dgh('d', 0, '{1}')$$,
    $$SELECT kanon.create_interval_dgh('n', 0, '{5,12}')$$,
    $$SELECT kanon.create_interval_dgh('n', 0, '{10,5}')$$,
    $$SELECT kanon.create_interval_dgh('n', 0, '{10,10}')$$,
    $$SELECT kanon.create_interval_dgh('n', 0, '{0}')$$,
    $$SELECT kanon.create_interval_dgh('n', 0, '{-1}')$$,
    $$SELECT kanon.create_interval_dgh('n', 0, '{NaN}')$$,
    $$SELECT kanon.create_interval_dgh('n', 0, '{Infinity}')$$,
    $$SELECT kanon.create_interval_dgh('n', 'NaN', '{1}')$$,
    $$SELECT kanon.create_interval_dgh('n', NULL, '{1}')$$,
    $$SELECT kanon.create_interval_dgh('n', 0, NULL)$$,
    $$SELECT kanon.create_interval_dgh('n', 0, '{}')$$,
    $$SELECT kanon.create_interval_dgh('n', 0, '{1,NULL}')$$,
    $$SELECT kanon.create_interval_dgh('n', 0, '{{1,2},{4,8}}')$$,
    $$SELECT kanon.create_interval_dgh('n', 0, ARRAY(SELECT 2::numeric ^ i FROM generate_series(0, 254) i))$$,
    $$SELECT kanon.create_date_dgh('n', '{week}')$$,
    $$SELECT kanon.create_date_dgh('n', '{year,month}')$$,
    $$SELECT kanon.create_date_dgh('n', '{month,month}')$$,
    $$SELECT kanon.create_date_dgh('n', '{}')$$,
    $$SELECT kanon.create_date_dgh('n', NULL)$$,
    $$SELECT kanon.create_prefix_dgh('n', 0)$$,
    $$SELECT kanon.create_prefix_dgh('n', -1)$$,
    $$SELECT kanon.create_prefix_dgh('n', 256)$$,
    $$SELECT kanon.create_prefix_dgh('n', NULL)$$,
    $$SELECT kanon.create_prefix_dgh('n', 5, '')$$,
    $$SELECT kanon.create_prefix_dgh('n', 5, '**')$$,
    $$SELECT kanon.create_prefix_dgh('n', 5, NULL)$$,
    $$INSERT INTO kanon.dgh (name, kind) VALUES ('n', 'forest')$$,
    $$UPDATE kanon.dgh SET name = 'd' WHERE name = 'i'$$,
    $$UPDATE kanon.dgh SET name = '' WHERE name = 'i'$$,
    $$UPDATE kanon.dgh SET widths = '{2,3}' WHERE name = 'i'$$,
    $$UPDATE kanon.dgh SET kind = 'tree' WHERE name = 'i'$$,
    $$UPDATE kanon.dgh SET id = id + 100 WHERE name = 'i'$$,
    $$SELECT kanon.drop_dgh('nowhere')$$]) statement;

-- Questions.
SELECT statement, error_of(statement) FROM unnest(ARRAY[
    $$SELECT kanon.generalize('nowhere', 'a', 1)$$,
    $$SELECT kanon.generalize('d', 'a', -1)$$,
    $$SELECT kanon.generalize('d', 'a', 3)$$,
    $$SELECT kanon.generalize('d', 'unknown', 2147483647)$$,
    $$SELECT kanon.generalize('d', NULL, 3)$$,
    $$SELECT kanon.generalize('i', '5', 3)$$,
    $$SELECT kanon.dgh_path('nowhere', 'a')$$,
    $$SELECT kanon.dgh_distance('nowhere', 'a', 'b')$$,
    $$SELECT kanon.export_dgh('nowhere')$$,
    $$SELECT kanon.export_dgh('i')$$,
    $$SELECT kanon.generalized('a', 'nowhere')$$,
    $$SELECT kanon.import_dgh_file('f', '/nowhere/at/all')$$]) statement;

-- The trigger functions are for their own tables: on others they would read columns that are not there.
CREATE TABLE other (a int, b int, c int);
CREATE TRIGGER t1 BEFORE INSERT ON other FOR EACH ROW EXECUTE FUNCTION kanon.dgh_check();
SELECT error_of('INSERT INTO other VALUES (1, 2, 3)');
DROP TRIGGER t1 ON other;
CREATE TRIGGER t2 AFTER INSERT ON other REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION
    kanon.dgh_edge_changed();
SELECT error_of('INSERT INTO other VALUES (1, 2, 3)');
DROP TRIGGER t2 ON other;
CREATE TRIGGER t3 AFTER INSERT ON other FOR EACH STATEMENT EXECUTE FUNCTION kanon.dgh_changed();
SELECT error_of('INSERT INTO other VALUES (1, 2, 3)');

-- All of that has changed nothing, and all still works.
SELECT (SELECT jsonb_agg(to_jsonb(d) ORDER BY id) FROM kanon.dgh d) = dgh AS "same hierarchies",
       (SELECT jsonb_agg(to_jsonb(e) ORDER BY e) FROM kanon.dgh_edge e) = edge AS "same edges" FROM before;
SELECT kanon.dgh_path('d', 'a'), kanon.dgh_path('i', '5');

-- A root above a tree that is as high as can be: refused when it is used, by every function, until it is taken away.
SELECT kanon.create_dgh('high');
INSERT INTO kanon.dgh_edge SELECT 'high', 'n' || i, 'n' || i + 1 FROM generate_series(1, 255) i;
SELECT count(*) FROM kanon.dgh_path('high', 'n1');
INSERT INTO kanon.dgh_edge VALUES ('high', 'n256', 'above');
SELECT error_of($$SELECT kanon.generalize('high', 'n1', 1)$$);
DELETE FROM kanon.dgh_edge WHERE child = 'n256';
SELECT kanon.generalize('high', 'n1', 1);
