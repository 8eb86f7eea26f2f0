-- Stored values after their hierarchy has changed or gone: labels find their new places, and nothing that a value may
-- stand
-- for is missed.
SELECT kanon.import_dgh('d', '{a;p;*,b;p;*,c;q;*,d;q;*}'), kanon.import_dgh('n', '{1;low;all,2;low;all,9;high;all}'),
    kanon.create_prefix_dgh('zip', 3), kanon.create_interval_dgh('i', 0, '{10}');
CREATE TABLE t AS SELECT * FROM (VALUES
    (1, kanon.generalized('p', 'd')), (2, kanon.generalized('q', 'd')), (3, kanon.generalized('a', 'd')),
    (4, kanon.generalized('unknown', 'd')), (5, kanon.generalized('low', 'n')), (6, kanon.generalized('all', 'n')),
    (7, kanon.generalized('9', 'n')),
    (8, kanon.generalized('12*', 'zip')), (9, kanon.generalized('123', 'zip')), (10, kanon.generalize('i', '5', 1)),
    (11, kanon.generalized('*', 'd'))) v (id, x);
CREATE FUNCTION found(condition text) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    result int[];
BEGIN
    EXECUTE format('SELECT array_agg(id ORDER BY id) FROM t WHERE %s', condition) INTO result;
    RETURN result;
END
$$;
CREATE VIEW answers AS SELECT condition, found(condition)
    FROM unnest(ARRAY[$$x = 'a'$$, $$x = 'c'$$, $$x = 'unknown'$$, $$x < 'b'$$, $$x > 'b'$$, $$x <> 'a'$$, $$x = 2$$,
    $$x > 2$$, $$x <> 9$$, $$x = '123'$$, $$x > 124$$, $$x = (SELECT y.x FROM t y WHERE id = 1)$$,
    $$x = (SELECT y.x FROM t y WHERE id = 5)$$]) condition;
SELECT * FROM answers;

-- Leaves move: c from q to p.
UPDATE kanon.dgh_edge SET parent = 'p' WHERE child = 'c';
SELECT * FROM answers;
-- A leaf becomes a node, and a node a leaf.
DELETE FROM kanon.dgh_edge WHERE child IN ('b', 'c');
INSERT INTO kanon.dgh_edge VALUES ('d', 'c', 'a');
SELECT * FROM answers;
-- Labels that a hierarchy no longer knows: one that stood for several may stand for anything, one that stood for itself
-- still does.
UPDATE kanon.dgh_edge SET parent = 'P' WHERE parent = 'p';
UPDATE kanon.dgh_edge SET child = 'P' WHERE child = 'p';
UPDATE kanon.dgh_edge SET parent = 'everything' WHERE parent = 'all';
UPDATE kanon.dgh SET length = 4 WHERE name = 'zip';
SELECT * FROM answers;
SELECT kanon.coverage(x, 'a'::text) AS "p, gone", kanon.coverage(x, 'a', 'b') AS "in a range" FROM t WHERE id = 1;
-- The hierarchies go.
SELECT kanon.drop_dgh('d'), kanon.drop_dgh('n'), kanon.drop_dgh('zip'), kanon.drop_dgh('i');
SELECT * FROM answers;
SELECT id, x, kanon.coverage(x, 'a'::text) FROM t WHERE id IN (1, 3, 4, 8);
-- Values of two generations of a hierarchy that is gone, and the same name again.
SELECT kanon.import_dgh('d', '{a;p;*,x;p;*}');
SELECT found($$x = kanon.generalized('p', 'd')$$) AS "all p's", found($$x = kanon.generalized('x', 'd')$$) AS "x",
    found($$x OPERATOR(kanon.*=) kanon.generalized('p', 'd')$$) AS "identical";
-- Grouping never needed them.
SELECT x, count(*) FROM t GROUP BY x ORDER BY x;
