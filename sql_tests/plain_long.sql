-- Long work: seen from another session, and cancelled.
\set dir `echo "$PG_ABS_SRCDIR"`
\set worker :dir '/data/worker.sql'
\i :worker
SET client_min_messages = warning;
SET jit = off;
SELECT setseed(0.5);
CREATE TABLE many AS
    SELECT id, random() AS a, random() AS b, random() AS c, random() AS d, (random() * 1000)::int AS s
    FROM generate_series(1, 20000) id;

SELECT worker_start($$
    SELECT count(*)::text
    FROM kanon.plain_k('many', 'id', '{"a": null, "b": null, "c": null, "d": null}', 's', 10, 0.8, 0.9)$$);
SELECT worker_wait('EXISTS (SELECT FROM kanon.progress JOIN worker USING (pid) '
    'WHERE phase = ''grouping'' AND done > 0)');
SELECT work, phase, done > 0 AS some_done, total FROM kanon.progress JOIN worker USING (pid);
SELECT pg_cancel_backend(pid) AS cancelled FROM worker;
SELECT worker_result();
SELECT cancelled($$
    SELECT count(*)::text FROM kanon.outliers('SELECT * FROM many CROSS JOIN generate_series(1, 1)',
        'id', '{"a": null, "b": null, "c": null, "d": null}', 's', 0.8, 0.9)$$,
    'EXISTS (SELECT FROM kanon.progress JOIN worker USING (pid) WHERE work = ''outliers'' AND phase <> ''reading'')');
-- Nothing of it is seen any more, and the session goes on.
SELECT count(*) FROM kanon.progress JOIN worker USING (pid);
SELECT * FROM dblink('worker', $$
    SELECT count(*) FROM kanon.plain_k('SELECT * FROM many WHERE id <= 200', 'id', '{"a": null}', 's',
        3)$$) AS t (rows bigint);
