-- Bad arguments are refused with an error that names the fault; odd but valid ones are accepted.
CREATE TABLE t (id integer, age integer, disease text);
INSERT INTO t VALUES (1, 30, 'flu'), (2, 31, 'cold'), (3, 32, 'flu'), (4, 33, 'ulcer'), (5, 34, 'gastritis'),
    (6, 35, 'flu');
SELECT kanon.create_dgh('d');
INSERT INTO kanon.dgh_edge VALUES ('d', 'flu', 'respiratory'), ('d', 'cold', 'respiratory'),
    ('d', 'ulcer', 'digestive'), ('d', 'gastritis', 'digestive');

-- Return the error of a refused statement.
CREATE FUNCTION refusal(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    hint text;
BEGIN
    EXECUTE statement;
    RETURN NEXT 'NOT REFUSED';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN NEXT SQLSTATE || ' ' || SQLERRM;
    RETURN QUERY SELECT line FROM unnest(ARRAY[detail, hint]) AS line WHERE line <> '';
END
$$;
\pset format unaligned
\pset tuples_only on

-- Parameters.
SELECT refusal($r$SELECT * FROM kanon.anatomy('t', 'id', 'disease', 1)$r$);
SELECT refusal($r$SELECT * FROM kanon.anatomy('t', 'id', 'disease', NULL)$r$);
SELECT refusal($r$SELECT * FROM kanon.n_dependency('t', 'id', 'disease', 'd', 2, 0)$r$);
SELECT refusal($r$SELECT kanon.find_max_n('t', 'disease', 'd', 1)$r$);
SELECT refusal($r$SELECT kanon.find_max_n('t', 'disease', 'nowhere', 2)$r$);
SELECT refusal($r$SELECT * FROM kanon.n_dependency('t', 'id', 'disease', 'nowhere', 2)$r$);
SELECT refusal($r$SELECT * FROM kanon.anatomy('t', 'id', 'id', 2)$r$);
SELECT refusal($r$SELECT * FROM kanon.anatomy('t', 'nobody', 'disease', 2)$r$);
SELECT refusal($r$SELECT * FROM kanon.anatomy('DELETE FROM t RETURNING *', 'id', 'disease', 2)$r$);
SELECT refusal($r$SELECT * FROM kanon.diversity_error('t', 'id', 'disease', 'd', 't', -1)$r$);

-- No grouping: the value, and the largest l or n that works.
SELECT refusal($r$SELECT * FROM kanon.anatomy('t', 'id', 'disease', 3)$r$);
SELECT refusal($r$SELECT * FROM kanon.n_dependency('t', 'id', 'disease', 'd', 3)$r$);
SELECT refusal($r$SELECT * FROM kanon.n_dependency('t', 'id', 'disease', 'd', 2, 2)$r$);
SELECT refusal($r$SELECT * FROM kanon.n_dependency('t', 'id', 'disease', 'd', 2, 9)$r$);
SELECT refusal($r$SELECT * FROM kanon.anatomy('SELECT * FROM t WHERE disease IN (''flu'', ''cold'')', 'id', 'disease',
    2)$r$);
SELECT kanon.find_max_n('t', 'disease', 'd', l) FROM generate_series(2, 3) AS l;
SELECT refusal($r$SELECT * FROM kanon.n_dependency('SELECT * FROM t WHERE id <> 6 AND id <> 2', 'id', 'disease', 'd', 3,
    2)$r$);
SELECT refusal($r$SELECT * FROM kanon.n_dependency('SELECT * FROM t WHERE id NOT IN (3, 6)', 'id', 'disease', 'd', 3,
    2)$r$);
SELECT grp, count(*), count(DISTINCT general) FROM kanon.n_dependency('SELECT * FROM t WHERE id <> 6', 'id', 'disease',
    'd', 2, 1, 7) GROUP BY grp ORDER BY grp;

-- Values that the hierarchy does not know, NULL, identifiers that repeat.
INSERT INTO t SELECT i, i, 'new ' || i FROM generate_series(11, 23) AS i;
SELECT refusal($r$SELECT * FROM kanon.n_dependency('t', 'id', 'disease', 'd', 2)$r$);
SELECT refusal($r$SELECT kanon.find_max_n('t', 'disease', 'd', 2)$r$);
DELETE FROM t WHERE id > 12;
SELECT refusal($r$SELECT * FROM kanon.diversity_error('t', 'id', 'disease', 'd', 'SELECT id, 1 AS grp FROM t', 1)$r$);
SELECT count(*) FROM kanon.anatomy('t', 'id', 'disease', 2);
UPDATE t SET disease = NULL WHERE id = 11;
SELECT refusal($r$SELECT * FROM kanon.anatomy('t', 'id', 'disease', 2)$r$);
SELECT refusal($r$SELECT * FROM kanon.n_dependency('t', 'id', 'disease', 'd', 2)$r$);
SELECT refusal($r$SELECT kanon.find_max_n('t', 'disease', 'd', 2)$r$);
DELETE FROM t WHERE id > 6;
INSERT INTO t VALUES (6, 1, 'cold');
SELECT refusal($r$SELECT * FROM kanon.anatomy('t', 'id', 'disease', 2)$r$);
DELETE FROM t WHERE age = 1;

-- A grouping has each row once, and no other.
SELECT refusal($r$SELECT * FROM kanon.diversity_error('t', 'id', 'disease', 'd',
    'SELECT id, 1 AS grp FROM t WHERE id <> 4', 1)$r$);
SELECT refusal($r$SELECT * FROM kanon.diversity_error('t', 'id', 'disease', 'd',
    'SELECT id, 1 AS grp FROM t UNION SELECT 9, 1', 1)$r$);
SELECT refusal($r$SELECT * FROM kanon.diversity_error('t', 'id', 'disease', 'd',
    'SELECT id, 1 AS grp FROM t UNION ALL SELECT 4, 2', 1)$r$);
SELECT refusal($r$SELECT * FROM kanon.diversity_error('t', 'id', 'disease', 'd',
    'SELECT id, NULL::integer AS grp FROM t', 1)$r$);
SELECT refusal($r$SELECT * FROM kanon.diversity_error('t', 'id', 'disease', 'd', 'SELECT id, 1.5 AS grp FROM t', 1)$r$);
SELECT refusal($r$SELECT * FROM kanon.diversity_error('t', 'id', 'disease', 'd', 'SELECT id, ''a'' AS grp FROM t',
    1)$r$);
SELECT refusal($r$SELECT * FROM kanon.diversity_error('t', 'id', 'disease', 'd', 'SELECT id FROM t', 1)$r$);
SELECT n, e.* FROM generate_series(0, 3) AS n,
    kanon.diversity_error('t', 'id', 'disease', 'd', 'SELECT id, id % 2 AS grp FROM t', n) AS e ORDER BY n, grp;

\pset format aligned
\pset tuples_only off

-- An empty source has no groups.
SELECT * FROM kanon.anatomy('SELECT * FROM t WHERE false', 'id', 'disease', 2);
SELECT * FROM kanon.n_dependency('SELECT * FROM t WHERE false', 'id', 'disease', 'd', 2, 3);
SELECT kanon.find_max_n('SELECT * FROM t WHERE false', 'disease', 'd', 2);
SELECT * FROM kanon.diversity_error('SELECT * FROM t WHERE false', 'id', 'disease', 'd',
    'SELECT id, 1 AS grp FROM t WHERE false', 1);

-- The call runs with the caller's rights.
CREATE ROLE anatomy_input_reader;
SET ROLE anatomy_input_reader;
SELECT * FROM kanon.anatomy('t', 'id', 'disease', 2);
RESET ROLE;
DROP ROLE anatomy_input_reader;

-- Leaves on different levels: generalizations are counted from the first level, from the root, that
-- holds a value.  Here that is level 1, on which half of the rows are "deep": n = 1, told apart there.
SELECT kanon.create_dgh('uneven');
INSERT INTO kanon.dgh_edge VALUES ('uneven', 'a', '*'), ('uneven', 'b', '*'), ('uneven', 'deep', '*'),
    ('uneven', 'deeper', 'deep'), ('uneven', 'x', 'deeper'), ('uneven', 'y', 'deeper'), ('uneven', 'z', 'deep');
SELECT * FROM kanon.n_dependency('VALUES (1, ''a''), (2, ''b''), (3, ''x''), (4, ''y'')', 'column1', 'column2',
    'uneven', 2, seed => 7) ORDER BY grp, id;
-- Three in five are "deep": the next level down that separates them is used, n is still 1.
SELECT id, sensitive, general FROM
    kanon.n_dependency('VALUES (1, ''a''), (2, ''b''), (3, ''x''), (4, ''y''), (5, ''z'')', 'column1', 'column2',
    'uneven', 2) ORDER BY id;
SELECT kanon.find_max_n('VALUES (1, ''a''), (2, ''b''), (3, ''x''), (4, ''y''), (5, ''z'')', 'column2', 'uneven', 2);

-- Computed hierarchies and columns of any type.
SELECT kanon.create_interval_dgh('tens', 0, '{10,100}');
SELECT l, kanon.find_max_n('SELECT g, g AS income FROM generate_series(0, 199) AS g', 'income', 'tens', l)
    FROM unnest('{2,3,20,21,200}'::integer[]) AS l;
SELECT count(DISTINCT grp) AS groups, min(size), max(repeated_tens) FROM (
    SELECT grp, count(*) AS size, count(*) - count(DISTINCT general) AS repeated_tens
    FROM kanon.n_dependency('SELECT g, g::numeric(10,2) AS income FROM generate_series(0, 199) AS g', 'g', 'income',
        'tens', 20, 2) GROUP BY grp) AS s;
SELECT general FROM kanon.n_dependency('SELECT g, g AS income FROM generate_series(0, 3) AS g', 'g', 'income', 'tens',
    4, 1) ORDER BY id;
SELECT grp, array_agg(sensitive ORDER BY sensitive)
    FROM kanon.anatomy('SELECT g, g % 2 = 0 AS positive FROM generate_series(1, 5) AS g', 'g', 'positive', 2)
    GROUP BY grp;
SELECT grp, array_agg(sensitive ORDER BY sensitive)
    FROM kanon.anatomy('SELECT g, g % 2 = 0 AS positive FROM generate_series(1, 4) AS g', 'g', 'positive', 2)
    GROUP BY grp;
SELECT kanon.find_max_n('VALUES (''10''), (''ten'')', 'column1', 'tens', 2);
-- Names that need quoting.
SELECT count(*) FROM kanon.anatomy('SELECT g AS "The ""Id""", g AS "select" FROM generate_series(1, 4) AS g -- comment',
    'The "Id"', 'select', 2);
