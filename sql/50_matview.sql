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
CREATE FUNCTION kanon.follow_tables(view integer, changed boolean DEFAULT false) RETURNS void
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'kanon_follow_tables';
REVOKE EXECUTE ON FUNCTION kanon.follow_tables(integer, boolean) FROM PUBLIC;
COMMENT ON FUNCTION kanon.follow_tables(integer, boolean) IS
    'puts the triggers of a materialized anonymization view on the tables that its rows come from, and brings '
    'missed changes into its groups';

-- An error of a view, which may be another role's, must not prevent changes of tables.
CREATE FUNCTION kanon.follow_or_warn(view integer, changed boolean) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM kanon.follow_tables(view, changed);
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING USING MESSAGE = format('the groups of a materialized anonymization view do not follow its tables: %s', SQLERRM),
        HINT = 'Its owner has to refresh it.';
    UPDATE kanon.aview a SET stale = true WHERE a.id = follow_or_warn.view AND NOT a.stale;
END
$$;
REVOKE EXECUTE ON FUNCTION kanon.follow_or_warn(integer, boolean) FROM PUBLIC;
COMMENT ON FUNCTION kanon.follow_or_warn(integer, boolean) IS
    'kanon.follow_tables, with a warning instead of an error, after which the view is stale';

CREATE FUNCTION kanon.changes_sources(command pg_ddl_command) RETURNS text
    LANGUAGE c STABLE STRICT AS 'MODULE_PATHNAME', 'kanon_changes_sources';
COMMENT ON FUNCTION kanon.changes_sources(pg_ddl_command) IS
    'what a command of an event trigger may change of a source: tables, if it adds or removes partitions or children, '
    'enables triggers, or makes a table unlogged; rows, if no trigger tells that they change; or null';

-- A view follows all tables below its own.  So a command on a table concerns a view if that
-- table, a table above it, or a table that may just have come below it is noted.
CREATE FUNCTION kanon.followers(changed oid) RETURNS SETOF integer
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE above (relation) AS (
        SELECT changed
        UNION
        SELECT i.inhparent FROM above a JOIN pg_inherits i ON i.inhrelid = a.relation)
    SELECT f.aview FROM above a JOIN kanon.aview_follows f ON f.relation = a.relation
    UNION
    SELECT f.aview FROM pg_inherits i JOIN kanon.aview_follows f ON f.relation = i.inhrelid WHERE i.inhparent = changed
    ORDER BY 1
$$;
COMMENT ON FUNCTION kanon.followers(oid) IS 'the numbers of the materialized anonymization views that a command on a table concerns';
REVOKE EXECUTE ON FUNCTION kanon.followers(oid) FROM PUBLIC;

-- A crash would empty an unlogged table, and leave its people in the groups.  The owner of a
-- table must not make that happen to a view of hers; another role's view goes stale instead.
CREATE FUNCTION kanon.refuse_unlogged(changed oid, view integer) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    unlogged regclass;
BEGIN
    WITH RECURSIVE below (relation) AS (
        SELECT changed
        UNION
        SELECT i.inhrelid FROM below b JOIN pg_inherits i ON i.inhparent = b.relation)
    SELECT c.oid INTO unlogged
        FROM below b JOIN pg_class c ON c.oid = b.relation, kanon.aview a JOIN pg_class v ON v.oid = a.view
        WHERE a.id = refuse_unlogged.view AND c.relpersistence <> 'p' AND pg_has_role(v.relowner, c.relowner, 'USAGE')
        LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'wrong_object_type',
            MESSAGE = format('table "%s" is unlogged, and a crash would empty it but not the groups made from it',
                (SELECT c.relname FROM pg_class c WHERE c.oid = unlogged)),
            HINT = 'Use a logged table, or a view that is not materialized.';
    END IF;
END
$$;
COMMENT ON FUNCTION kanon.refuse_unlogged(oid, integer) IS
    'raises an error if a command has made a table unlogged that a materialized anonymization view of the same owner follows';
REVOKE EXECUTE ON FUNCTION kanon.refuse_unlogged(oid, integer) FROM PUBLIC;

-- Ignore other changes of tables: in a restore they happen before the stored groups have their indexes.
CREATE FUNCTION kanon.follow_partitions() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    done record;
    concerned integer;
    change text;
BEGIN
    IF NOT EXISTS (SELECT FROM kanon.aview_follows) THEN
        RETURN;
    END IF;
    FOR done IN
        SELECT c.objid, c.ordinality AS place FROM pg_event_trigger_ddl_commands() WITH ORDINALITY AS c
        WHERE c.classid = 'pg_class'::regclass
    LOOP
        FOR concerned IN SELECT f.view FROM kanon.followers(done.objid) AS f (view) LOOP
            PERFORM kanon.need_library('kanon_follow_partitions');
            -- The command is no parameter: extensions that log parameters cannot display it.
            change := (SELECT kanon.changes_sources(c.command) FROM pg_event_trigger_ddl_commands() WITH ORDINALITY AS c
                WHERE c.ordinality = done.place);
            EXIT WHEN change IS NULL;
            PERFORM kanon.refuse_unlogged(done.objid, concerned);
            PERFORM kanon.follow_or_warn(concerned, change = 'rows');
        END LOOP;
    END LOOP;
END
$$;
COMMENT ON FUNCTION kanon.follow_partitions() IS
    'event trigger: gives new partitions the triggers of materialized anonymization views';
REVOKE EXECUTE ON FUNCTION kanon.follow_partitions() FROM PUBLIC;
CREATE EVENT TRIGGER kanon_follow_partitions ON ddl_command_end
    WHEN TAG IN ('CREATE TABLE', 'ALTER TABLE', 'CREATE FOREIGN TABLE', 'ALTER FOREIGN TABLE', 'CREATE SCHEMA')
    EXECUTE FUNCTION kanon.follow_partitions();

-- A table that is dropped fires no trigger of its own.  The notes show which view has lost rows.
CREATE FUNCTION kanon.follow_dropped() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    concerned integer;
BEGIN
    IF to_regclass('kanon.aview') IS NULL OR NOT EXISTS (SELECT FROM kanon.aview_follows) THEN
        RETURN;
    END IF;
    FOR concerned IN
        SELECT DISTINCT f.aview FROM kanon.aview_follows f JOIN pg_event_trigger_dropped_objects() d
            ON d.classid = 'pg_class'::regclass AND d.objid = f.relation::oid AND d.objsubid = 0
        ORDER BY 1
    LOOP
        PERFORM kanon.need_library('kanon_then_follow_dropped');
        PERFORM kanon.follow_or_warn(concerned, true);
    END LOOP;
    DELETE FROM kanon.aview_follows f USING pg_event_trigger_dropped_objects() d
        WHERE d.classid = 'pg_class'::regclass AND d.objid = f.relation::oid AND d.objsubid = 0;
END
$$;
COMMENT ON FUNCTION kanon.follow_dropped() IS
    'event trigger: removes rows of dropped partitions from the groups of materialized anonymization views';
REVOKE EXECUTE ON FUNCTION kanon.follow_dropped() FROM PUBLIC;
-- Its name makes it fire after kanon_forget_dropped_views.
CREATE EVENT TRIGGER kanon_then_follow_dropped ON sql_drop EXECUTE FUNCTION kanon.follow_dropped();

-- The findings of kanon.audit about stored groups.  A view should follow the tables that
-- are noted, and all that are below them now.
CREATE FUNCTION kanon.audit_groups(view regclass, OUT topic text, OUT subject text, OUT measure text,
        OUT severity text, OUT advice text) RETURNS SETOF record
    LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE a AS (SELECT a.id, a.stale, format('SELECT kanon.refresh(%L);', a.view::text) AS refresh
        FROM kanon.aview a WHERE a.view = audit_groups.view),
    notes AS (SELECT f.* FROM kanon.aview_follows f JOIN a ON a.id = f.aview),
    tree (relation) AS (
        SELECT n.relation::oid FROM notes n
        UNION
        SELECT i.inhrelid FROM tree t JOIN pg_inherits i ON i.inhparent = t.relation),
    -- The triggers of src/matview/triggers.c, and the states that they should have.
    wanted AS (SELECT n.relation, format('kanon_%s_%s', n.aview, k.name) AS name,
            CASE WHEN k.name = 'row' AND NOT n.by_rows THEN 'REPLICA' ELSE 'ALWAYS' END AS state
        FROM notes n JOIN pg_class c ON c.oid = n.relation, unnest('{insert,update,delete,truncate,row}'::text[]) AS k (name)
        WHERE CASE k.name WHEN 'row' THEN c.relkind = 'r' WHEN 'truncate' THEN true ELSE NOT n.by_rows END)
    SELECT 'trigger', format('%s on %s', w.name, w.relation), CASE WHEN t.oid IS NULL THEN 'missing' ELSE 'disabled' END, 'critical',
        CASE WHEN t.oid IS NULL
            THEN 'Changes of the table do not reach the stored groups. ' || a.refresh || ' as a role that may create triggers on it.'
            ELSE format('This trigger keeps the stored groups up to date. ALTER TABLE %s ENABLE %s TRIGGER %I; ', w.relation, w.state, w.name)
                || a.refresh END
    FROM a, wanted w LEFT JOIN pg_trigger t ON t.tgrelid = w.relation AND t.tgname = w.name AND t.tgfoid = 'kanon.keep_groups()'::regprocedure
    WHERE t.oid IS NULL OR t.tgenabled = 'D' OR t.tgenabled = 'R' AND w.state = 'ALWAYS' OR t.tgenabled = 'O' AND w.state = 'REPLICA'
    UNION ALL
    SELECT 'trigger', t.relation::regclass::text, 'not followed', 'critical',
        'Changes of the table do not reach the stored groups. ' || a.refresh || ' as a role that may create triggers on it.'
    FROM a, tree t WHERE t.relation NOT IN (SELECT n.relation FROM notes n)
    UNION ALL
    SELECT 'trigger', t.relation::regclass::text, 'unlogged', 'critical',
        format('A crash would empty the table, and leave its people in the groups. ALTER TABLE %s SET LOGGED;', t.relation::regclass)
    FROM tree t JOIN pg_class c ON c.oid = t.relation WHERE c.relpersistence <> 'p'
    UNION ALL
    SELECT 'trigger', view::text, 'missed changes', 'critical',
        'The stored groups have missed changes: people who were deleted may be published. ' || a.refresh FROM a WHERE a.stale
    UNION ALL
    SELECT 'publication', format('%I.%I', p.schemaname, p.tablename), 'in publication ' || p.pubname, 'warning',
        'The table has raw values. Changes of it are not sent, but a subscriber copies it as it is when it subscribes. Publish the tables or schemas that subscribers need instead.'
    FROM a JOIN pg_publication_tables p ON p.schemaname = 'kanon' AND p.tablename IN ('groups_' || a.id, 'members_' || a.id)
$$;
COMMENT ON FUNCTION kanon.audit_groups(regclass) IS
    'findings of kanon.audit about the stored groups of a materialized anonymization view: changes that do not reach '
    'them, and publications that have their tables';
