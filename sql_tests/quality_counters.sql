-- kanon.hide_counters() takes the server's counters of rows, pages and locks from the public, and nothing else.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SELECT current_database() || '_analyst' AS analyst, current_database() || '_monitor' AS monitor \gset
CREATE ROLE :"analyst";
CREATE ROLE :"monitor" IN ROLE pg_monitor;
CREATE TABLE person (id int PRIMARY KEY, age int, ill text);
INSERT INTO person SELECT i, 20 + i % 5, 'd' || i % 3 FROM generate_series(1, 40) i;
CREATE INDEX ON person (ill);
SELECT kanon.create_anonymization_view('people', 'SELECT id, age, ill FROM person', id => '{id}',
    quasi_ids => '{"age": null}', sensitive => '{"ill": null}', k => 3) AS made;
GRANT SELECT ON people TO :"analyst";

-- 1. Who may call it.
SET ROLE :"analyst";
SELECT * FROM kanon.hide_counters();
RESET ROLE;
GRANT EXECUTE ON FUNCTION kanon.hide_counters() TO :"analyst";
SET ROLE :"analyst";
SELECT * FROM kanon.hide_counters();
RESET ROLE;

-- 2. The attack: how many rows of the table a statement has read, and which of them a serializable one has locked.
SET ROLE :"analyst";
SELECT count(*) FROM people;
SELECT seq_scan + idx_scan IS NOT NULL AS counted FROM pg_stat_xact_all_tables WHERE relname = 'person';
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM people;
SELECT count(*) > 0 AS locked FROM pg_locks WHERE mode = 'SIReadLock' AND relation = 'person'::regclass;
COMMIT;
RESET ROLE;
SELECT count(*) > 50 AS many, count(*) FILTER (WHERE hidden::text = 'pg_stat_get_xact_tuples_fetched(oid)') AS fetched
    FROM kanon.hide_counters() AS hidden;
SELECT count(*) AS again FROM kanon.hide_counters();
SET ROLE :"analyst";
SELECT count(*) FROM people;
SELECT seq_scan FROM pg_stat_xact_all_tables WHERE relname = 'person';
SELECT heap_blks_read FROM pg_statio_all_tables WHERE relname = 'person';
SELECT tup_fetched FROM pg_stat_database WHERE datname = current_database();
SELECT wal_records FROM pg_stat_wal;
SELECT count(*) FROM pg_locks;
SELECT pg_stat_get_live_tuples('person'::regclass);
-- What is left to the public tells who is there, and what one's own session does.
SELECT count(*) > 0 AS sessions FROM pg_stat_activity;
SELECT p.proname FROM pg_proc p
WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname ~ '^pg_stat_get_'
    AND has_function_privilege(p.oid, 'EXECUTE')
    AND p.proname !~ '^pg_stat_get_backend_'
        '(activity|client_addr|client_port|dbid|idset|pid|start|subxact|userid|wait_event)'
ORDER BY 1;
-- No function that returns numbers of rows or pages is left.
SELECT p.oid::regprocedure FROM pg_proc p
WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname ~ '^pg_stat_get_'
    AND has_function_privilege(p.oid, 'EXECUTE')
    AND (p.prorettype IN ('bigint'::regtype, 'double precision'::regtype)
        OR array_to_string(p.proargnames, ' ')
            ~ '(reads|writes|hits|evictions|extends|reuses|records|fpi|bytes|blks|tup)');
SET ROLE :"monitor";
SELECT seq_scan >= 0 AS counted FROM pg_stat_xact_all_tables WHERE relname = 'person';
SELECT count(*) > 0 AS locks FROM pg_locks;
RESET ROLE;

-- 3. The reverse, as doc/security.md describes it.
DO $$
DECLARE
    counter regprocedure;
BEGIN
    FOR counter IN SELECT oid FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
            AND (proname ^@ 'pg_stat_get_' OR proname = 'pg_lock_status') LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO PUBLIC', counter);
    END LOOP;
END
$$;
SET ROLE :"analyst";
SELECT seq_scan >= 0 AS counted FROM pg_stat_xact_all_tables WHERE relname = 'person';
RESET ROLE;
SELECT count(*) > 50 AS many FROM kanon.hide_counters();
DROP TABLE person CASCADE;
DROP OWNED BY :"analyst", :"monitor";
DROP ROLE :"analyst", :"monitor";
