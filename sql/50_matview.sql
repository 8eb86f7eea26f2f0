--
-- Materialized anonymization views.
--

-- The triggers of base tables.  Whoever may put triggers on a table may put these
-- there; they serve the view whose source it is, and no other.
CREATE FUNCTION kanon.keep_groups() RETURNS trigger
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_keep_groups';
COMMENT ON FUNCTION kanon.keep_groups() IS 'notes the changes of a table for a materialized anonymization view';

CREATE FUNCTION kanon.refresh(view regclass, earlier_answers_may_be_compared boolean DEFAULT false) RETURNS bigint
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'kanon_refresh';
COMMENT ON FUNCTION kanon.refresh(regclass, boolean) IS
    'brings missed changes into the groups of a materialized anonymization view, or, where comparing them with earlier answers is no risk, forms new groups';

CREATE FUNCTION kanon.groups(view regclass, OUT "group" bigint, OUT size bigint, OUT quasi_ids jsonb,
    OUT identifiers jsonb, OUT sensitive jsonb, OUT others jsonb) RETURNS SETOF record
    LANGUAGE c STABLE STRICT ROWS 100 AS 'MODULE_PATHNAME', 'kanon_groups';
COMMENT ON FUNCTION kanon.groups(regclass) IS
    'shows the stored groups of a materialized anonymization view to its owner; rows that wait are in no group';

-- Tables that come and go have triggers, or not, as the one above them has.
CREATE FUNCTION kanon.follow_tables(view integer, gone boolean DEFAULT false) RETURNS void
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'kanon_follow_tables';
REVOKE EXECUTE ON FUNCTION kanon.follow_tables(integer, boolean) FROM PUBLIC;
COMMENT ON FUNCTION kanon.follow_tables(integer, boolean) IS
    'puts the triggers of a materialized anonymization view on the tables that its rows come from, and compares its groups with what they have';

-- A view that cannot be read any more must not stand in the way of everybody's tables.
CREATE FUNCTION kanon.follow_or_warn(view integer, gone boolean) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM kanon.follow_tables(view, gone);
EXCEPTION WHEN object_not_in_prerequisite_state OR undefined_object THEN
    RAISE WARNING 'the groups of a materialized anonymization view do not follow its tables: %', SQLERRM;
END
$$;
REVOKE EXECUTE ON FUNCTION kanon.follow_or_warn(integer, boolean) FROM PUBLIC;
COMMENT ON FUNCTION kanon.follow_or_warn(integer, boolean) IS 'kanon.follow_tables, with a warning for a view that cannot be read any more';

CREATE FUNCTION kanon.changes_sources(command pg_ddl_command) RETURNS boolean
    LANGUAGE c STABLE STRICT AS 'MODULE_PATHNAME', 'kanon_changes_sources';
COMMENT ON FUNCTION kanon.changes_sources(pg_ddl_command) IS
    'does a command of an event trigger add or take away partitions or children, enable triggers, or make a table unlogged?';
-- Other changes of tables are none of our business: in a restore they come before the stored groups have their indexes.
CREATE FUNCTION kanon.follow_partitions() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() c WHERE kanon.changes_sources(c.command)) THEN
        PERFORM kanon.follow_or_warn(id, false) FROM kanon.aview WHERE maintained = 'triggers';
    END IF;
END
$$;
COMMENT ON FUNCTION kanon.follow_partitions() IS 'event trigger: new partitions get the triggers of materialized anonymization views';
REVOKE EXECUTE ON FUNCTION kanon.follow_partitions() FROM PUBLIC;
CREATE EVENT TRIGGER kanon_follow_partitions ON ddl_command_end
    WHEN TAG IN ('CREATE TABLE', 'ALTER TABLE', 'CREATE FOREIGN TABLE', 'ALTER FOREIGN TABLE', 'CREATE SCHEMA')
    EXECUTE FUNCTION kanon.follow_partitions();

-- A table that is dropped fires no trigger of its own; that it had some, which are dropped with it, tells whose rows are gone.
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
COMMENT ON FUNCTION kanon.follow_dropped() IS 'event trigger: rows of dropped partitions leave the groups of materialized anonymization views';
REVOKE EXECUTE ON FUNCTION kanon.follow_dropped() FROM PUBLIC;
-- After kanon_forget_dropped_views, by name.
CREATE EVENT TRIGGER kanon_then_follow_dropped ON sql_drop EXECUTE FUNCTION kanon.follow_dropped();
