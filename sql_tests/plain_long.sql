-- Long work: seen from outside, and stopped.
SET client_min_messages = warning;
SET jit = off;
CREATE EXTENSION dblink;
SELECT setseed(0.5);
CREATE TABLE many AS SELECT id, random() AS a, random() AS b, random() AS c, random() AS d, (random() * 1000)::int AS s FROM generate_series(1, 20000) id;

-- A statement timeout ends it, and the session goes on.
SET statement_timeout = '100ms';
SELECT count(*) FROM kanon.plain_k('many', 'id', '{"a": null, "b": null, "c": null, "d": null}', 's', 10, 0.8, 0.9);
SELECT count(*) FROM kanon.outliers('SELECT * FROM many CROSS JOIN generate_series(1, 1)', 'id', '{"a": null, "b": null, "c": null, "d": null}', 's', 0.8, 0.9);
RESET statement_timeout;
SELECT count(*) FROM kanon.plain_k('SELECT * FROM many WHERE id <= 200', 'id', '{"a": null}', 's', 3);

-- Another session, seen while it works and then cancelled.
SELECT dblink_connect('worker', format('host=%s port=%s dbname=%s user=%s',
    split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database(), current_user)) AS connected;
SELECT pid AS worker FROM dblink('worker', 'SELECT pg_backend_pid()') AS t(pid int) \gset
SELECT dblink_send_query('worker', $$SELECT count(*) FROM kanon.plain_k('many', 'id', '{"a": null, "b": null, "c": null, "d": null}', 's', 10, 0.8, 0.9)$$) AS sent;
CREATE FUNCTION seen(worker int, OUT work text, OUT phase text, OUT some_done boolean, OUT total bigint) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1..1200 LOOP
        PERFORM pg_stat_clear_snapshot();
        SELECT p.work, p.phase, p.done > 0, p.total INTO work, phase, some_done, total
            FROM kanon.progress p WHERE p.pid = worker AND p.phase = 'grouping' AND p.done > 0;
        EXIT WHEN FOUND;
        PERFORM pg_sleep(0.05);
    END LOOP;
END
$$;
SELECT * FROM seen(:worker);
SELECT pg_cancel_backend(:worker) AS cancelled;
SELECT * FROM dblink_get_result('worker', false) AS t(rows bigint);
