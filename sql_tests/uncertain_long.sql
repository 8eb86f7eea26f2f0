-- Long work: seen from another session, and cancelled with the workers that it has.
\set dir `echo "$PG_ABS_SRCDIR"`
\set worker :dir '/data/worker.sql'
\i :worker
SET client_min_messages = warning;
SET jit = off;
SELECT setseed(0.875);
CREATE TABLE many AS
    SELECT id, random() AS a, random() AS b, random() AS c, random() AS d, random() AS e
        FROM generate_series(1, 60000) id;

SELECT worker_start($$SELECT count(*)::text FROM kanon.uncertain('many', 'id', '{a,b,c,d,e}', 100)$$);
SELECT worker_wait('EXISTS (SELECT FROM kanon.progress JOIN worker USING (pid) WHERE phase = ''grouping'' AND done > 0)
    AND EXISTS (SELECT FROM pg_stat_activity a JOIN worker ON a.leader_pid = worker.pid)');
SELECT work, phase, done > 0 AS some_done, total FROM kanon.progress JOIN worker USING (pid);
SELECT pg_cancel_backend(pid) AS cancelled FROM worker;
SELECT worker_result();
-- Nothing of it is seen any more, and the session goes on.
SELECT count(*) FROM kanon.progress JOIN worker USING (pid);
SELECT count(*) AS workers FROM pg_stat_activity a JOIN worker ON a.leader_pid = worker.pid;
SELECT * FROM dblink('worker', $$
    SELECT count(*) FROM kanon.uncertain('SELECT * FROM many WHERE id <= 3000', 'id', '{a,b,c,d,e}',
        3)$$) AS t (rows bigint);
