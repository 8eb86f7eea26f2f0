-- Long work: seen from outside, and stopped.
SET client_min_messages = warning;
SET jit = off;
CREATE EXTENSION dblink;
SELECT setseed(0.875);
CREATE TABLE many AS SELECT id, random() AS a, random() AS b, random() AS c, random() AS d, random() AS e FROM generate_series(1, 60000) id;

-- A statement timeout ends it, workers and all, and the session goes on.
SET statement_timeout = '400ms';
SELECT count(*) FROM kanon.uncertain('many', 'id', '{a,b,c,d,e}', 100);
RESET statement_timeout;
SELECT count(*) FROM kanon.uncertain('SELECT * FROM many WHERE id <= 3000', 'id', '{a,b,c,d,e}', 3);

-- Another session, seen while it works and then cancelled.
SELECT dblink_connect('worker', format('host=%s port=%s dbname=%s user=%s',
    split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database(), current_user)) AS connected;
SELECT pid AS worker FROM dblink('worker', 'SELECT pg_backend_pid()') AS t(pid int) \gset
SELECT dblink_send_query('worker', $$SELECT count(*) FROM kanon.uncertain('many', 'id', '{a,b,c,d,e}', 100)$$) AS sent;
CREATE FUNCTION seen(worker int, OUT work text, OUT phase text, OUT some_done boolean, OUT total bigint, OUT helpers boolean) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1..600 LOOP
        PERFORM pg_stat_clear_snapshot();
        SELECT p.work, p.phase, p.done > 0, p.total INTO work, phase, some_done, total
            FROM kanon.progress p WHERE p.pid = worker AND p.phase = 'grouping' AND p.done > 0;
        helpers := EXISTS (SELECT FROM pg_stat_activity a WHERE a.leader_pid = worker);
        EXIT WHEN some_done AND helpers;
        PERFORM pg_sleep(0.05);
    END LOOP;
END $$;
SELECT work, phase, some_done, total, helpers FROM seen(:worker);
SELECT dblink_cancel_query('worker');
SELECT * FROM dblink_get_result('worker', false) AS t(count bigint);
SELECT * FROM dblink_get_result('worker', false) AS t(count bigint);
SELECT count(*) FROM kanon.progress WHERE pid = :worker;
SELECT dblink_disconnect('worker');
