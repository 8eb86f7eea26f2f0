-- Bad arguments are refused with an error that names the value and the rule.
SET client_min_messages = warning;
SET jit = off;
CREATE TABLE s AS SELECT i AS id, i * 1.5 AS x, i % 3 AS y, 'a' || i AS t, date '2020-01-01' + i AS born
    FROM generate_series(1, 20) i;
CREATE FUNCTION refused(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text;
    detail text;
    hint text;
    state text;
BEGIN
    EXECUTE query;
    RETURN 'not refused';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT,
    state = RETURNED_SQLSTATE;
    RETURN concat_ws(E'\n', state || ' ' || message, nullif(detail, ''), nullif(hint, ''));
END $$;
\pset tuples_only
\pset format unaligned
\pset recordsep '\n\n'

SELECT refused('SELECT kanon.uncertain(' || arguments || ')') FROM (VALUES
    (1, $$'s', 'id', '{t}', 2$$),
    (2, $$'s', 'id', '{x,born}', 2$$),
    (3, $$'s', 'id', '{x,x}', 2$$),
    (4, $$'s', 'id', '{z}', 2$$),
    (5, $$'s', 'nobody', '{x}', 2$$),
    (6, $$'s', 'id', '{}', 2$$),
    (7, $$'s', 'id', '{x,null}', 2$$),
    (8, $$'s', 'id', null, 2$$),
    (9, $$null, 'id', '{x}', 2$$),
    (10, $$'s', 'id', '{x}', 0.99$$),
    (11, $$'s', 'id', '{x}', -3$$),
    (12, $$'s', 'id', '{x}', 'NaN'$$),
    (13, $$'s', 'id', '{x}', 20.5$$),
    (14, $$'s', 'id', '{x}', 'Infinity'$$),
    (15, $$'s', 'id', '{x}', null$$),
    (16, $$'s', 'id', '{x}', 11$$),
    (17, $$'s', 'id', '{x}', 20, 'uniform'$$),
    (18, $$'s', 'id', '{x}', 2, 'laplace'$$),
    (19, $$'s', 'id', '{x}', 2, null$$),
    (20, $$'s', 'id', '{x}', 2, k_column => 'y'$$),
    (21, $$'SELECT *, CASE WHEN id = 9 THEN 21 END AS wish FROM s', 'id', '{x}', 2, k_column => 'wish'$$),
    (22, $$'SELECT *, CASE WHEN id = 9 THEN 3 END AS wish FROM s', 'id', '{x}', null, k_column => 'wish'$$),
    (23, $$'s', 'id', '{x}', 2, k_column => 't'$$),
    (24, $$'SELECT id, CASE WHEN id % 5 > 0 THEN x END AS x FROM s', 'id', '{x}', 2$$),
    (25, $$'SELECT id, CASE WHEN id % 5 = 0 THEN x END AS x FROM s', 'id', '{x}', 2$$),
    (26, $$'SELECT id, CASE WHEN id = 5 THEN ''Infinity'' ELSE x END::float8 AS x FROM s', 'id', '{x}', 2$$),
    (27, $$'SELECT id, CASE WHEN id = 5 THEN ''NaN'' ELSE x END AS x FROM s', 'id', '{x}', 2$$),
    (28, $$'SELECT id, x * 1e160 AS x FROM s', 'id', '{x}', 2$$),
    (29, $$'SELECT id, x::float8 * 1e-160 AS x FROM s', 'id', '{x}', 2$$),
    (30, $$'SELECT id / 2 AS id, x FROM s', 'id', '{x}', 2$$),
    (31, $$'SELECT nullif(id, 4) AS id, x FROM s', 'id', '{x}', 2$$),
    (32, $$'SELECT * FROM s WHERE false', 'id', '{x}', 1$$),
    (33, $$'DELETE FROM s', 'id', '{x}', 1$$)
) AS v(n, arguments) ORDER BY n;

CREATE TABLE r (id text, z float8[], spread float8[], label text);
INSERT INTO r VALUES ('1', '{1,2}', '{1,1}', 'a'), ('2', '{1,2}', '{1,1}', 'b');
CREATE FUNCTION rows(z text, spread text, id text DEFAULT '1') RETURNS text LANGUAGE sql AS
    $$ SELECT format('SELECT * FROM r UNION ALL SELECT %L, %L, %L, ''c''', id, z, spread) $$;
SELECT refused(query) FROM (VALUES
    (1, $$SELECT kanon.expected_anonymity('s', 'id', '{x,y}', rows('{1,2}', '{1}'), 'gaussian')$$),
    (2, $$SELECT kanon.expected_anonymity('s', 'id', '{x,y}', rows('{1,2,3}', '{1,1,1}'), 'gaussian')$$),
    (3, $$SELECT kanon.expected_anonymity('s', 'id', '{x}', 'r', 'gaussian')$$),
    (4, $$SELECT kanon.expected_anonymity('s', 'id', '{x,y}', rows('{1,2}', '{1,-1}'), 'gaussian')$$),
    (5, $$SELECT kanon.expected_anonymity('s', 'id', '{x,y}', rows('{1,2}', '{1,Infinity}'), 'gaussian')$$),
    (6, $$SELECT kanon.expected_anonymity('s', 'id', '{x,y}', rows('{1,NaN}', '{1,1}'), 'gaussian')$$),
    (7, $$SELECT kanon.expected_anonymity('s', 'id', '{x,y}', rows('{1,null}', '{1,1}'), 'gaussian')$$),
    (8, $$SELECT kanon.expected_anonymity('s', 'id', '{x,y}', rows(null, '{1,1}'), 'gaussian')$$),
    (9, $$SELECT kanon.expected_anonymity('s', 'id', '{x,y}', rows('{1,2}', '{1,1}', null), 'gaussian')$$),
    (10, $$SELECT kanon.expected_anonymity('s', 'id', '{x,y}', rows('{1,2}', '{1,1}', '21'), 'gaussian')$$),
    (11, $$SELECT kanon.expected_anonymity('s', 'id', '{x,y}', rows('{{1,2},{1,2}}', '{1,1}'), 'gaussian')$$),
    (12, $$SELECT kanon.expected_anonymity('s', 'id', '{x,y}', rows('{}', '{}'), 'gaussian')$$),
    (13, $$SELECT kanon.expected_anonymity('s', 'id', '{x,y}', 'SELECT id, z FROM r', 'gaussian')$$),
    (14, $$SELECT kanon.expected_anonymity('s', 'id', '{x,y}', 'r', 'normal')$$),
    (15, $$SELECT kanon.uncertain_count(rows('{1,2,3}', '{1,1,1}'), 'gaussian', '{0,0}', '{1,1}')$$),
    (16, $$SELECT kanon.uncertain_count('r', 'gaussian', '{0}', '{1}')$$),
    (17, $$SELECT kanon.uncertain_count('r', 'gaussian', '{0,0}', '{1}')$$),
    (18, $$SELECT kanon.uncertain_count('r', 'gaussian', '{0,2}', '{1,1}')$$),
    (19, $$SELECT kanon.uncertain_count('r', 'gaussian', '{0,null}', '{1,1}')$$),
    (20, $$SELECT kanon.uncertain_count('r', 'gaussian', '{0,0}', '{1,1}', '{0,0}')$$),
    (21, $$SELECT kanon.uncertain_count('r', 'gaussian', '{0,0}', '{1,1}', '{0,5}', '{1,1}')$$),
    (22, $$SELECT kanon.uncertain_count('r', 'gaussian', '{0,0}', '{1,1}', '{0}', '{1}')$$),
    (23, $$SELECT kanon.uncertain_count('SELECT id FROM r', 'gaussian', '{0}', '{1}')$$),
    (24, $$SELECT kanon.uncertain_classify('r', 'gaussian', '{0}')$$),
    (25, $$SELECT kanon.uncertain_classify('r', 'gaussian', '{0,0}', 0)$$),
    (26, $$SELECT kanon.uncertain_classify('SELECT z, spread, null AS label FROM r', 'gaussian', '{0,0}')$$),
    (27, $$SELECT kanon.condense('s', 'id', '{x}', 0)$$),
    (28, $$SELECT kanon.condense('s', 'id', '{x}', 21)$$),
    (29, $$SELECT kanon.condense('s', 'id', '{t}', 2)$$),
    (30, $$SELECT kanon.fit('{1,2}', '{1}', 'gaussian', '{1,2}')$$),
    (31, $$SELECT kanon.fit('{1,2}', '{1,1}', 'gaussian', '{1,2,3}')$$),
    (32, $$SELECT kanon.fit('{1,2}', '{1,-1}', 'gaussian', '{1,2}')$$),
    (33, $$SELECT kanon.fit('{}', '{}', 'gaussian', '{}')$$),
    (34, $$SELECT kanon.link_attack('r', 's', '{x}', 'gaussian')$$),
    (35, $$SELECT kanon.link_attack('r', 'SELECT x, y FROM s', '{x,y}', 'gaussian')$$),
    (36, $$SELECT kanon.link_attack('r', null, '{x,y}', 'gaussian')$$),
    (37, $$SELECT kanon.expected_anonymity('s', 'id', '{x,y}', null, 'gaussian')$$),
    (38, $$SELECT kanon.condense('s', 'id', null, 2)$$),
    (39, $$SELECT kanon.condense('s', 'id', '{x}', null)$$),
    (40, $$SELECT kanon.uncertain_classify('r', 'gaussian', '{0,Infinity}')$$)
) AS v(n, query) ORDER BY n;

-- A role without SELECT on the source gets nothing.
CREATE ROLE uncertain_errors_reader;
SET ROLE uncertain_errors_reader;
SELECT refused($$SELECT kanon.uncertain('s', 'id', '{x}', 2)$$);
SELECT refused($$SELECT kanon.condense('s', 'id', '{x}', 2)$$);
SELECT refused($$SELECT kanon.uncertain_count('r', 'gaussian', '{0,0}', '{1,1}')$$);
SELECT refused($$SELECT kanon.link_attack('r', 's', '{x,y}', 'gaussian')$$);
RESET ROLE;
DROP ROLE uncertain_errors_reader;
