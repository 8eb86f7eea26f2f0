-- Random input of every sort that tools/fuzz knows, a little of it and always the same: taken or refused with an error of its own.
\set dir `echo "$PG_ABS_SRCDIR"`
\set fuzz :dir '/data/fuzz.sql'
\set ECHO none
SET client_min_messages = error;
\o /dev/null
\i :fuzz
\o
\set ECHO all
CALL fuzz_run('statement', 3600, 7, 400);
CALL fuzz_run('value', 3600, 7, 1000);
CALL fuzz_run('leveled', 3600, 7, 300);
CALL fuzz_run('p3p', 3600, 7, 300);
CALL fuzz_run('compare', 3600, 7, 400);
CALL fuzz_run('binary', 3600, 7, 150);
CALL fuzz_run('arguments', 3600, 7, 120);
CALL fuzz_run('changes', 3600, 7, 100);
CALL fuzz_run('call', 3600, 7, 500);
-- Some of each are taken, and some refused; what changes hierarchies catches its errors.
SELECT topic, count(*) >= 100 AS inputs, count(*) FILTER (WHERE state = '00000') > 20 AS taken, count(*) FILTER (WHERE state <> '00000') > 20 AS refused FROM fuzz_outcome GROUP BY topic ORDER BY topic;
SELECT topic, state, message, left(input, 300) AS input FROM fuzz_outcome WHERE bad;
