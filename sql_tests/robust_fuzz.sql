-- Random input of every sort that tools/fuzz knows, a little of it and always the same: taken or refused with an error
-- of its own.
\set dir `echo "$PG_ABS_SRCDIR"`
\set fuzz :dir '/data/fuzz.sql'
\set ECHO none
SET client_min_messages = error;
\o /dev/null
\i :fuzz
\o
\set ECHO all
CALL fuzz_run('statement', NULL, 7, 400);
CALL fuzz_run('value', NULL, 7, 1000);
CALL fuzz_run('leveled', NULL, 7, 300);
CALL fuzz_run('p3p', NULL, 7, 300);
CALL fuzz_run('compare', NULL, 7, 400);
CALL fuzz_run('binary', NULL, 7, 150);
CALL fuzz_run('arguments', NULL, 7, 120);
CALL fuzz_run('changes', NULL, 7, 100);
CALL fuzz_run('call', NULL, 7, 500);
-- Some inputs of each topic are accepted and some refused; the topic `changes` catches its own errors.
SELECT topic, count(*) >= 100 AS inputs, count(*) FILTER (WHERE state = '00000') > 20 AS taken,
    count(*) FILTER (WHERE state <> '00000') > 20 AS refused FROM fuzz_outcome GROUP BY topic ORDER BY topic;
SELECT topic, state, message, left(input, 300) AS input FROM fuzz_outcome WHERE bad;
