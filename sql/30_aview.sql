--
-- Anonymization views.
--
-- An A-view is an ordinary view over kanon.scan().  Its source query is part of a
-- condition of the view that is never evaluated (true OR EXISTS (...)).  There
-- PostgreSQL tracks its dependencies, follows renames, and dumps it.  The tables
-- below store the roles of the columns and the guarantees.
--

CREATE SEQUENCE kanon.aview_serial AS integer;

CREATE TABLE kanon.aview (
    id integer CONSTRAINT aview_pkey PRIMARY KEY,
    view regclass NOT NULL CONSTRAINT aview_view_key UNIQUE,
    k integer CONSTRAINT aview_k_is_not_negative CHECK (k >= 0),
    l integer CONSTRAINT aview_l_is_positive CHECK (l >= 1),
    t float8 CONSTRAINT aview_t_is_a_share CHECK (t > 0 AND t <= 1),
    match text NOT NULL DEFAULT 'cover' CONSTRAINT aview_match_is_known CHECK (match IN ('cover', 'witness')),
    algorithm text NOT NULL DEFAULT 'datafly' CONSTRAINT aview_algorithm_is_known CHECK (algorithm IN ('datafly', 'mondrian')),
    block_size integer CONSTRAINT aview_block_size_is_positive CHECK (block_size > 0),
    maintained text CONSTRAINT aview_maintained_is_known CHECK (maintained IN ('triggers', 'refresh')),
    chain text,
    preselect text NOT NULL DEFAULT 'published' CONSTRAINT aview_preselect_is_known CHECK (preselect IN ('published', 'hidden')),
    keep_order boolean NOT NULL DEFAULT false,
    settings text[] NOT NULL DEFAULT '{}',
    stale boolean NOT NULL DEFAULT false,
    policies text
);
COMMENT ON COLUMN kanon.aview.maintained IS
    'how the stored groups of a materialized view are kept up to date; null: the view is not materialized';
COMMENT ON COLUMN kanon.aview.chain IS 'the generalization steps by which the stored groups were formed';
COMMENT ON COLUMN kanon.aview.preselect IS 'columns by which analysts who may not read the source have its rows selected there: those that every row publishes as they are, or also those that some rows hide';
COMMENT ON COLUMN kanon.aview.keep_order IS 'whether rows come in the order of the source; otherwise they are shuffled';
COMMENT ON COLUMN kanon.aview.settings IS 'the settings with which the source is read, as in pg_proc.proconfig';
COMMENT ON COLUMN kanon.aview.policies IS 'kanon.row_policies of a materialized view when its groups were last compared with its source';
COMMENT ON COLUMN kanon.aview.stale IS 'whether the stored groups are known to have missed changes, until kanon.refresh brings them in';

CREATE TABLE kanon.aview_column (
    aview integer NOT NULL REFERENCES kanon.aview ON DELETE CASCADE,
    attnum smallint NOT NULL,
    role text NOT NULL CONSTRAINT aview_column_role_is_known CHECK (role IN ('id', 'quasi', 'sensitive')),
    dgh text COLLATE "C" CONSTRAINT aview_column_uses_hierarchy REFERENCES kanon.dgh (name) ON UPDATE CASCADE,
    CONSTRAINT aview_column_pkey PRIMARY KEY (aview, attnum)
);

CREATE TABLE kanon.aview_step (
    aview integer NOT NULL REFERENCES kanon.aview ON DELETE CASCADE,
    step integer NOT NULL,
    attnum smallint NOT NULL,
    level integer NOT NULL,
    CONSTRAINT aview_step_pkey PRIMARY KEY (aview, step)
);

-- The boxes of a kd-tree.  The i-th elements of the arrays describe box i.  Boxes
-- inside it have higher numbers, and box 0 is everything.  A bound of NULL is the
-- value NULL, which comes after all other values.
CREATE TABLE kanon.aview_tree (
    aview integer CONSTRAINT aview_tree_pkey PRIMARY KEY REFERENCES kanon.aview ON DELETE CASCADE,
    parent integer[] NOT NULL,
    attnum smallint[] NOT NULL,
    lo text[] NOT NULL,
    hi text[] NOT NULL,
    open boolean[] NOT NULL
);

-- The tables that materialized views follow.  Event triggers ask here which views a
-- command concerns: every role can create triggers named like ours on its own tables.
CREATE TABLE kanon.aview_follows (
    aview integer NOT NULL REFERENCES kanon.aview ON DELETE CASCADE,
    relation regclass NOT NULL,
    by_rows boolean NOT NULL,
    CONSTRAINT aview_follows_pkey PRIMARY KEY (aview, relation)
);
CREATE INDEX aview_follows_relation ON kanon.aview_follows (relation);
COMMENT ON COLUMN kanon.aview_follows.by_rows IS 'whether triggers for each row tell of all changes, since statements may name a parent that the view does not follow';

-- pg_restore with several jobs loads these tables in any order.  Functions write
-- their rows and make sure that the referenced rows exist.  So the foreign keys
-- only need to protect referenced rows from being deleted.
DO $$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT tgrelid::regclass AS tab, tgname AS name FROM pg_catalog.pg_trigger
        WHERE tgrelid IN ('kanon.aview_column'::regclass, 'kanon.aview_step'::regclass, 'kanon.aview_tree'::regclass,
                'kanon.aview_follows'::regclass)
            AND tgfoid = '"RI_FKey_check_ins"'::regproc
    LOOP
        EXECUTE format('ALTER TABLE %s DISABLE TRIGGER %I', found.tab, found.name);
    END LOOP;
END
$$;

COMMENT ON TABLE kanon.aview IS 'anonymization views and their guarantees';
COMMENT ON TABLE kanon.aview_column IS 'identifiers, quasi-identifiers and sensitive columns of anonymization views';
COMMENT ON TABLE kanon.aview_step IS 'generalization sequences of anonymization views';
COMMENT ON TABLE kanon.aview_tree IS 'kd-trees of anonymization views by Mondrian';
COMMENT ON TABLE kanon.aview_follows IS 'tables that have triggers of materialized anonymization views';

-- Temporary views are not dumped, so their definitions here are not dumped either.
SELECT pg_extension_config_dump('kanon.aview_serial', '');
SELECT pg_extension_config_dump('kanon.aview',
    'WHERE view IN (SELECT oid FROM pg_catalog.pg_class WHERE relpersistence <> ''t'')');
SELECT pg_extension_config_dump('kanon.aview_column',
    'WHERE aview IN (SELECT a.id FROM kanon.aview a, pg_catalog.pg_class c WHERE a.view = c.oid AND c.relpersistence <> ''t'')');
SELECT pg_extension_config_dump('kanon.aview_step',
    'WHERE aview IN (SELECT a.id FROM kanon.aview a, pg_catalog.pg_class c WHERE a.view = c.oid AND c.relpersistence <> ''t'')');
SELECT pg_extension_config_dump('kanon.aview_tree',
    'WHERE aview IN (SELECT a.id FROM kanon.aview a, pg_catalog.pg_class c WHERE a.view = c.oid AND c.relpersistence <> ''t'')');
SELECT pg_extension_config_dump('kanon.aview_follows', '');

-- Make the prepared statements of all sessions see a changed definition.
CREATE FUNCTION kanon.aview_changed() RETURNS trigger
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_aview_changed';
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON kanon.aview
    FOR EACH ROW EXECUTE FUNCTION kanon.aview_changed();
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON kanon.aview_column
    FOR EACH ROW EXECUTE FUNCTION kanon.aview_changed();
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON kanon.aview_step
    FOR EACH ROW EXECUTE FUNCTION kanon.aview_changed();
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON kanon.aview_tree
    FOR EACH ROW EXECUTE FUNCTION kanon.aview_changed();
ALTER TABLE kanon.aview ENABLE ALWAYS TRIGGER changed;
ALTER TABLE kanon.aview_column ENABLE ALWAYS TRIGGER changed;
ALTER TABLE kanon.aview_step ENABLE ALWAYS TRIGGER changed;
ALTER TABLE kanon.aview_tree ENABLE ALWAYS TRIGGER changed;
REVOKE EXECUTE ON FUNCTION kanon.aview_changed() FROM PUBLIC;

-- A hierarchy in use cannot be dropped: the foreign key prevents it.  This trigger
-- adds the names of the views that use the hierarchy, and first deletes the
-- definitions of temporary views whose sessions have ended.
CREATE FUNCTION kanon.dgh_in_use() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    views text;
BEGIN
    DELETE FROM kanon.aview WHERE view NOT IN (SELECT oid FROM pg_class WHERE relkind = 'v');
    SELECT string_agg(DISTINCT a.view::text, ', ' ORDER BY a.view::text) INTO views
        FROM kanon.aview a JOIN kanon.aview_column c ON c.aview = a.id WHERE c.dgh = OLD.name;
    IF views IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'dependent_objects_still_exist',
            MESSAGE = format('cannot drop hierarchy "%s" because anonymization views use it', OLD.name),
            DETAIL = format('It is used by %s.', views),
            HINT = 'Drop these views first.';
    END IF;
    RETURN OLD;
END
$$;
REVOKE EXECUTE ON FUNCTION kanon.dgh_in_use() FROM PUBLIC;
CREATE TRIGGER in_use BEFORE DELETE ON kanon.dgh FOR EACH ROW EXECUTE FUNCTION kanon.dgh_in_use();

-- The rows of an A-view.  The view's own query passes the number of its definition,
-- which survives renames and dumps.  Users pass the name of the view.
CREATE FUNCTION kanon.scan_support(internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_scan_support';
CREATE FUNCTION kanon.scan(view text) RETURNS SETOF record
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED COST 10000 ROWS 1000 SUPPORT kanon.scan_support
    AS 'MODULE_PATHNAME', 'kanon_scan';
CREATE FUNCTION kanon.scan(view regclass) RETURNS SETOF record
    LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED COST 10000 ROWS 1000 SUPPORT kanon.scan_support
    AS 'MODULE_PATHNAME', 'kanon_scan';

CREATE FUNCTION kanon.create_anonymization_view(
    name text, query text, id text[] DEFAULT '{}', quasi_ids jsonb DEFAULT '{}', sensitive jsonb DEFAULT '{}',
    k integer DEFAULT NULL, l integer DEFAULT NULL, t float8 DEFAULT NULL, profile jsonb DEFAULT NULL,
    algorithm text DEFAULT 'datafly', match text DEFAULT 'cover', materialized boolean DEFAULT false,
    block_size integer DEFAULT NULL, preselect text DEFAULT 'published', keep_order boolean DEFAULT false,
    session_settings text[] DEFAULT '{}', other text[] DEFAULT '{}') RETURNS regclass
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_create_anonymization_view';
CREATE FUNCTION kanon.drop_anonymization_view(name text) RETURNS void
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'kanon_drop_anonymization_view';
CREATE FUNCTION kanon.alter_anonymization_view(name text, k integer DEFAULT NULL, l integer DEFAULT NULL,
    t float8 DEFAULT NULL, match text DEFAULT NULL, block_size integer DEFAULT NULL, preselect text DEFAULT NULL) RETURNS void
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_alter_anonymization_view';

CREATE FUNCTION kanon.generalization_sequence(view regclass, OUT step integer, OUT "column" name, OUT level integer)
    RETURNS SETOF record
    LANGUAGE c STABLE STRICT ROWS 20 AS 'MODULE_PATHNAME', 'kanon_generalization_sequence';
CREATE FUNCTION kanon.refresh_sequence(view regclass) RETURNS void
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'kanon_refresh_sequence';
CREATE FUNCTION kanon.cell_tree(view regclass, OUT box integer, OUT parent integer, OUT "column" name,
        OUT lo text, OUT hi text, OUT open boolean) RETURNS SETOF record
    LANGUAGE c STABLE STRICT ROWS 1000 AS 'MODULE_PATHNAME', 'kanon_cell_tree';
COMMENT ON FUNCTION kanon.cell_tree IS
    'the boxes of a view by Mondrian, each smaller than its parent in one column: from lo to hi, without hi if it '
    'is open; for the view''s owner';
CREATE FUNCTION kanon.uncovered(view regclass, OUT "column" name, OUT value text, OUT rows bigint)
    RETURNS SETOF record
    LANGUAGE c STABLE STRICT ROWS 100 AS 'MODULE_PATHNAME', 'kanon_uncovered';

-- Event triggers call this function before they need the library.  Without it they could
-- do nothing for the views that a command concerns, and say only that a file is missing.
CREATE FUNCTION kanon.need_library(event_trigger name) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- The type's input function is in the library.
    PERFORM '*'::kanon.generalized;
EXCEPTION WHEN OTHERS THEN
    RAISE EXCEPTION USING ERRCODE = SQLSTATE,
        MESSAGE = format('an anonymization view depends on this command, but the library of extension kanon cannot be loaded: %s', SQLERRM),
        HINT = format('Install the library again. To go on without it, a superuser can run ALTER EVENT TRIGGER %I DISABLE; '
            'once the library is back, enable it and refresh the materialized anonymization views.', event_trigger);
END
$$;
COMMENT ON FUNCTION kanon.need_library(name) IS 'raises an error that names the way out if the library cannot be loaded';
REVOKE EXECUTE ON FUNCTION kanon.need_library(name) FROM PUBLIC;

-- Delete the definition of an A-view when the view is dropped, by any statement.
CREATE FUNCTION kanon.forget_dropped_views() RETURNS event_trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    dropped kanon.aview;
    followed regclass[];
    kept record;
BEGIN
    -- Absent while the extension itself is being dropped.
    IF to_regclass('kanon.aview') IS NULL THEN
        RETURN;
    END IF;
    DELETE FROM kanon.access_grant a USING pg_event_trigger_dropped_objects() d
        WHERE d.classid = 'pg_class'::regclass AND d.objid = a.view::oid AND d.objsubid = 0;
    FOR dropped IN
        SELECT a.* FROM kanon.aview a JOIN pg_event_trigger_dropped_objects() d
            ON d.classid = 'pg_class'::regclass AND d.objid = a.view::oid AND d.objsubid = 0
    LOOP
        PERFORM kanon.need_library('kanon_forget_dropped_views');
        followed := ARRAY(SELECT f.relation FROM kanon.aview_follows f WHERE f.aview = dropped.id);
        DELETE FROM kanon.aview a WHERE a.id = dropped.id;
        -- Drop the groups of a materialized view, and the triggers that kept them up to date.
        CONTINUE WHEN dropped.maintained IS NULL;
        EXECUTE format('DROP TABLE IF EXISTS kanon.groups_%s, kanon.members_%1$s', dropped.id);
        FOR kept IN
            SELECT tgrelid::regclass AS tab, tgname AS name FROM pg_trigger
            WHERE tgrelid = ANY (followed::oid[]) AND tgfoid = 'kanon.keep_groups()'::regprocedure
                AND tgname ~ format('^kanon_%s_[a-z]+$', dropped.id)
        LOOP
            EXECUTE format('DROP TRIGGER %I ON %s', kept.name, kept.tab);
        END LOOP;
    END LOOP;
END
$$;
CREATE EVENT TRIGGER kanon_forget_dropped_views ON sql_drop EXECUTE FUNCTION kanon.forget_dropped_views();
