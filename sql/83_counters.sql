
--
-- Counters of the server, which tell how many rows and pages a query has read.
--

-- What is not hidden says what a session does, and counts nothing; other functions of
-- newer servers are hidden until somebody has looked at them.
CREATE FUNCTION kanon.hide_counters() RETURNS SETOF regprocedure
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    counter regprocedure;
BEGIN
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        RAISE EXCEPTION 'permission denied to hide the counters of database "%"', current_database()
            USING ERRCODE = 'insufficient_privilege', HINT = 'Only a superuser may take functions of PostgreSQL from the public.';
    END IF;
    FOR counter IN
        SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = 'pg_catalog'::regnamespace AND has_function_privilege('public', p.oid, 'EXECUTE')
            AND (p.proname = 'pg_lock_status' OR p.proname ^@ 'pg_stat_get_')
            AND p.proname !~ '^pg_stat_get_(activity|progress_info|snapshot_timestamp)$'
            AND p.proname !~ '^pg_stat_get_backend_(activity|client|dbid|idset|pid|start|subxact|userid|wait_event|xact_start)'
        ORDER BY p.oid::regprocedure::text COLLATE "C"
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', counter);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO pg_monitor', counter);
        RETURN NEXT counter;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION kanon.hide_counters() FROM PUBLIC;
COMMENT ON FUNCTION kanon.hide_counters() IS
    'takes PostgreSQL''s counters of rows, pages and locks in this database from the public, and grants them to '
    'pg_monitor; returns the functions that were public';
