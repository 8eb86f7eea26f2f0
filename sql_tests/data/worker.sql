-- A second session, the worker, which dblink connects to: to look at a statement while it works, and to cancel it. The
-- tests wait for what the statement has done, for however long that takes.
\set ECHO none
SET client_min_messages = warning;
CREATE EXTENSION dblink;
SELECT dblink_connect('worker', format('host=%s port=%s dbname=%s user=%s',
	split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database(),
	current_user)) \g /dev/null
CREATE TABLE worker AS SELECT pid FROM dblink('worker', 'SELECT pg_backend_pid()') AS t (pid integer);
-- A statement of the worker calls nextval('step') to tell how far it is: other sessions see that at once.
CREATE SEQUENCE step;
RESET client_min_messages;

-- steps(): return how many steps the worker's statement has made.
CREATE FUNCTION steps() RETURNS bigint LANGUAGE sql AS 'SELECT last_value - 1 FROM step';

-- worker_waits(): return whether the worker waits for a lock.
CREATE FUNCTION worker_waits() RETURNS boolean LANGUAGE sql AS $$
	SELECT EXISTS (SELECT FROM pg_locks JOIN worker USING (pid) WHERE NOT granted)
$$;

-- worker_start(query): let the worker begin a query that returns one value of type text.
CREATE FUNCTION worker_start(query text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM setval('step', 1);
	IF dblink_send_query('worker', query) = 0 THEN
		RAISE EXCEPTION 'the worker does not take the query';
	END IF;
END
$$;

-- worker_wait(seen): wait until an expression is true; raise an error if the worker's statement ends before.
CREATE FUNCTION worker_wait(seen text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	holds boolean;
BEGIN
	LOOP
		PERFORM pg_stat_clear_snapshot();
		EXECUTE 'SELECT ' || seen INTO holds;
		EXIT WHEN holds;
		IF dblink_is_busy('worker') = 0 THEN
			RAISE EXCEPTION 'the worker has ended before %', seen;
		END IF;
		PERFORM pg_sleep(0.01);
	END LOOP;
END
$$;

-- worker_result(): wait until the worker's statement ends, and return its value or its error.
CREATE FUNCTION worker_result() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	BEGIN
		SELECT value INTO result FROM dblink_get_result('worker') AS t (value text);
	EXCEPTION WHEN query_canceled OR OTHERS THEN
		result := SQLERRM;
	END;
	PERFORM FROM dblink_get_result('worker') AS t (value text); -- dblink's sign that there is nothing more
	RETURN result;
END
$$;

-- cancelled(query, seen): start a query, cancel it as soon as an expression is true, and return its error.
CREATE FUNCTION cancelled(query text, seen text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM worker_start(query);
	PERFORM worker_wait(seen);
	PERFORM pg_cancel_backend(pid) FROM worker;
	RETURN worker_result();
END
$$;
\set ECHO all
