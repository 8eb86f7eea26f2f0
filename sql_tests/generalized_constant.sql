-- A comparison with a constant remembers the constant's place in the hierarchy of the values that it is compared with.
-- It says what it would say of the constant as a value of its own, whatever values come in between, and notices
-- changes.
SELECT kanon.import_dgh('d', '{a;p;*,b;p;*,c;q;*,d;q;*,7;q;*}'), kanon.import_dgh('e', '{a;x;*,d;x;*,p;y;*}'),
    kanon.create_prefix_dgh('zip', 4), kanon.create_interval_dgh('i', 0, '{10}') \g /dev/null
CREATE TABLE label (label text);
INSERT INTO label VALUES ('a'), ('b'), ('c'), ('d'), ('7'), ('p'), ('q'), ('x'), ('y'), ('*'), ('unknown'), ('7.0'),
    ('12'), ('1234'), ('123*'), ('12**'), ('1***'), ('1299'), ('[0,10)'), ('2001-02-03');
CREATE TABLE t AS SELECT kanon.generalized(label, dgh) AS x FROM label, unnest('{d,e,zip,i}'::text[]) AS dgh;
-- Some of another state of the hierarchy.
UPDATE kanon.dgh_edge SET parent = 'p' WHERE dgh = 'd' AND child = 'c';
INSERT INTO t SELECT kanon.generalized(label, dgh) AS x FROM label, unnest('{d,e}'::text[]) AS dgh;
INSERT INTO t SELECT kanon.generalized(label) FROM label;
INSERT INTO t VALUES (NULL);
SELECT setseed(0.1) \g /dev/null
CREATE TABLE shuffled AS SELECT row_number() OVER () AS n,
    x FROM (SELECT x FROM t, generate_series(1, 5) ORDER BY random()) AS s;

CREATE FUNCTION by_constant(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT string_agg((%s)::text, '','' ORDER BY n) FROM (SELECT * FROM shuffled OFFSET 0) AS s',
        condition) INTO result;
    RETURN result;
END
$$;
-- The same of values that no expression has as a constant: of another table, row by row.
CREATE FUNCTION by_value(condition text, value text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT string_agg((%s)::text, '','' ORDER BY n) FROM (SELECT * '
        'FROM shuffled OFFSET 0) AS s, (SELECT %s AS c OFFSET 0) AS v', condition, value) INTO result;
    RETURN result;
END
$$;
CREATE TABLE tried AS
    SELECT format('x = %L', label) AS constant, 'x = c' AS condition, format('kanon.generalized(%L)', label) AS value
        FROM label
    UNION ALL SELECT format('text %L = x', label), 'c = x', quote_literal(label) || '::text' FROM label
    UNION ALL SELECT format('x = name %L', label), 'x = c', quote_literal(label) || '::name' FROM label
    UNION ALL SELECT format('kanon.avlike(x, varchar %L)', label), 'kanon.avlike(x, c)', quote_literal(label)
        || '::varchar' FROM label
    UNION ALL SELECT 'x = ' || n, 'x = c', n FROM unnest('{7,7.0,12,1234,1299.5}'::text[]) AS n
    UNION ALL SELECT format('x = ANY (%L::kanon.generalized[])', ARRAY [label, 'b']),
        'x = c OR x = kanon.generalized(''b'')', format('kanon.generalized(%L)', label) FROM label;
SELECT constant AS differs FROM tried WHERE by_constant(constant) IS DISTINCT FROM by_value(condition, value);
SELECT count(*) AS tried, count(*) FILTER (WHERE by_constant(constant) LIKE '%true%'
    AND by_constant(constant) LIKE '%false%') > 80 AS telling FROM tried;

-- One expression, evaluated again after the hierarchy has changed, in the same transaction.
CREATE FUNCTION watch() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v kanon.generalized := kanon.generalized('p', 'd');
    seen text := '';
BEGIN
    FOR i IN 1 .. 6 LOOP
        seen := seen || (v = text 'd') || ' ';
        IF i = 2 THEN
            UPDATE kanon.dgh_edge SET parent = 'p' WHERE dgh = 'd' AND child = 'd';
        ELSIF i = 4 THEN
            UPDATE kanon.dgh_edge SET parent = 'q' WHERE dgh = 'd' AND child = 'd';
        ELSIF i = 5 THEN
            v := kanon.generalized('q', 'd');
        END IF;
    END LOOP;
    RETURN seen;
END
$$;
SELECT watch();
-- A variable is no constant, though it may stay where it was.
CREATE FUNCTION look() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v kanon.generalized := kanon.generalized('p', 'd');
    label text;
    seen text := '';
BEGIN
    FOREACH label IN ARRAY '{a,d,b,7,c,q,p}'::text[] LOOP
        seen := seen || label || ' ' || (v = label) || ' ';
    END LOOP;
    RETURN seen;
END
$$;
SELECT look();
