--
-- Materialized anonymization views.
--

-- The trigger function of base tables.  A role with TRIGGER on a table can create
-- such triggers; they serve only views whose source is that table.
CREATE FUNCTION kanon.keep_groups() RETURNS trigger
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_keep_groups';
COMMENT ON FUNCTION kanon.keep_groups() IS 'records the changes of a table for a materialized anonymization view';

CREATE FUNCTION kanon.refresh(view regclass, earlier_answers_may_be_compared boolean DEFAULT false) RETURNS bigint
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'kanon_refresh';
COMMENT ON FUNCTION kanon.refresh(regclass, boolean) IS
    'brings missed changes into the groups of a materialized anonymization view; with the second argument true, '
    'forms new groups, which can be compared with earlier answers';

CREATE FUNCTION kanon.groups(view regclass, OUT "group" bigint, OUT size bigint, OUT quasi_ids jsonb,
    OUT identifiers jsonb, OUT sensitive jsonb, OUT others jsonb) RETURNS SETOF record
    LANGUAGE c STABLE STRICT ROWS 100 AS 'MODULE_PATHNAME', 'kanon_groups';
COMMENT ON FUNCTION kanon.groups(regclass) IS
    'the stored groups of a materialized anonymization view; waiting rows are in no group; for the view''s owner';

-- Give a new partition or child the triggers of its parent, and remove them from a
-- table that is no longer a partition or child.
CREATE FUNCTION kanon.follow_tables(view integer, gone boolean DEFAULT false) RETURNS void
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'kanon_follow_tables';
REVOKE EXECUTE ON FUNCTION kanon.follow_tables(integer, boolean) FROM PUBLIC;
COMMENT ON FUNCTION kanon.follow_tables(integer, boolean) IS
    'puts the triggers of a materialized anonymization view on the tables that its rows come from, and brings '
    'missed changes into its groups';

-- A view that can no longer be read must not prevent changes of tables.
CREATE FUNCTION kanon.follow_or_warn(view integer, gone boolean) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM kanon.follow_tables(view, gone);
EXCEPTION WHEN object_not_in_prerequisite_state OR undefined_object THEN
    RAISE WARNING 'the groups of a materialized anonymization view do not follow its tables: %', SQLERRM;
END
$$;
REVOKE EXECUTE ON FUNCTION kanon.follow_or_warn(integer, boolean) FROM PUBLIC;
COMMENT ON FUNCTION kanon.follow_or_warn(integer, boolean) IS
    'kanon.follow_tables, with a warning instead of an error for a view that can no longer be read';

CREATE FUNCTION kanon.changes_sources(command pg_ddl_command) RETURNS boolean
    LANGUAGE c STABLE STRICT AS 'MODULE_PATHNAME', 'kanon_changes_sources';
COMMENT ON FUNCTION kanon.changes_sources(pg_ddl_command) IS
    'whether a command of an event trigger adds or removes partitions or children, enables triggers, or makes a '
    'table unlogged';
-- Ignore other changes of tables: in a restore they happen before the stored groups have their indexes.
CREATE FUNCTION kanon.follow_partitions() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() c WHERE kanon.changes_sources(c.command)) THEN
        PERFORM kanon.follow_or_warn(id, false) FROM kanon.aview WHERE maintained = 'triggers';
    END IF;
END
$$;
COMMENT ON FUNCTION kanon.follow_partitions() IS
    'event trigger: gives new partitions the triggers of materialized anonymization views';
REVOKE EXECUTE ON FUNCTION kanon.follow_partitions() FROM PUBLIC;
CREATE EVENT TRIGGER kanon_follow_partitions ON ddl_command_end
    WHEN TAG IN ('CREATE TABLE', 'ALTER TABLE', 'CREATE FOREIGN TABLE', 'ALTER FOREIGN TABLE', 'CREATE SCHEMA')
    EXECUTE FUNCTION kanon.follow_partitions();

-- A table that is dropped fires no trigger of its own.  The view's triggers that are dropped with it show which view
-- has lost rows.
CREATE FUNCTION kanon.follow_dropped() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF to_regclass('kanon.aview') IS NULL THEN
        RETURN;
    END IF;
    PERFORM kanon.follow_or_warn(a.id, true)
    FROM kanon.aview a
    WHERE a.maintained = 'triggers' AND EXISTS (
        SELECT FROM pg_event_trigger_dropped_objects() t JOIN pg_event_trigger_dropped_objects() r ON r.address_names = t.address_names[1:2]
        WHERE t.object_type = 'trigger' AND t.address_names[3] = format('kanon_%s_insert', a.id) AND r.classid = 'pg_class'::regclass AND r.objsubid = 0);
END
$$;
COMMENT ON FUNCTION kanon.follow_dropped() IS
    'event trigger: removes rows of dropped partitions from the groups of materialized anonymization views';
REVOKE EXECUTE ON FUNCTION kanon.follow_dropped() FROM PUBLIC;
-- Its name makes it fire after kanon_forget_dropped_views.
CREATE EVENT TRIGGER kanon_then_follow_dropped ON sql_drop EXECUTE FUNCTION kanon.follow_dropped();
