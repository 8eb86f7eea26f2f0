--
-- Domain generalization hierarchies.
--
-- Privileges on these two tables decide which roles may define hierarchies:
-- GRANT SELECT, INSERT, UPDATE, DELETE ON kanon.dgh, kanon.dgh_edge TO ...
-- Labels are compared byte by byte, hence COLLATE "C".
--

-- The ids of hierarchies.  The trigger below takes them, so that a role that may
-- insert hierarchies needs no privilege on the sequence.
CREATE SEQUENCE kanon.dgh_serial AS integer;

-- The numbers of the states of hierarchies.  Each change makes a new state.  The
-- sequence is not dumped: a restored hierarchy is in a new state, and a sequence
-- restored from the dump would return some numbers twice.
CREATE SEQUENCE kanon.dgh_generation AS integer;

CREATE TABLE kanon.dgh (
    id integer CONSTRAINT dgh_pkey PRIMARY KEY, -- set by the trigger unless it is given
    name text COLLATE "C" NOT NULL CONSTRAINT dgh_name_key UNIQUE,
    kind text COLLATE "C" NOT NULL DEFAULT 'tree',
    origin numeric,
    widths numeric[],
    units text[] COLLATE "C",
    length integer,
    mask text COLLATE "C",
    leaf_order text[] COLLATE "C",
    generation integer NOT NULL DEFAULT 0 -- set by the trigger
);

CREATE TABLE kanon.dgh_edge (
    dgh text COLLATE "C" NOT NULL CONSTRAINT dgh_edge_names_a_hierarchy
        REFERENCES kanon.dgh (name) ON UPDATE CASCADE ON DELETE CASCADE,
    child text COLLATE "C" NOT NULL CONSTRAINT dgh_edge_child_is_not_the_root CHECK (child <> '*'),
    parent text COLLATE "C" NOT NULL,
    CONSTRAINT dgh_edge_has_one_parent PRIMARY KEY (dgh, child),
    CONSTRAINT dgh_edge_is_no_self_loop CHECK (child <> parent),
    CONSTRAINT dgh_edge_labels_are_not_empty CHECK (child <> '' AND parent <> '')
);

-- The trigger below checks once per statement that the hierarchy exists, and
-- prevents that it is dropped meanwhile.  The foreign key's own check of each row
-- would take longer than all the rest of a large COPY.  The cascades of the foreign
-- key remain, and so does the order of the two tables in a dump.
DO $$
DECLARE
    name text;
BEGIN
    SELECT tgname INTO STRICT name FROM pg_catalog.pg_trigger
    WHERE tgrelid = 'kanon.dgh_edge'::regclass AND tgfoid = '"RI_FKey_check_ins"'::regproc;
    EXECUTE format('ALTER TABLE kanon.dgh_edge DISABLE TRIGGER %I', name);
END
$$;

COMMENT ON TABLE kanon.dgh IS 'domain generalization hierarchies';
COMMENT ON TABLE kanon.dgh_edge IS 'edges of the hierarchies that are trees of labels';

SELECT pg_extension_config_dump('kanon.dgh_serial', '');
SELECT pg_extension_config_dump('kanon.dgh', '');
SELECT pg_extension_config_dump('kanon.dgh_edge', '');

CREATE FUNCTION kanon.dgh_check() RETURNS trigger
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_dgh_check';
CREATE FUNCTION kanon.dgh_changed() RETURNS trigger
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_dgh_changed';
CREATE FUNCTION kanon.dgh_edge_changed() RETURNS trigger
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_dgh_edge_changed';
REVOKE EXECUTE ON FUNCTION kanon.dgh_check(), kanon.dgh_changed(), kanon.dgh_edge_changed() FROM PUBLIC;

CREATE TRIGGER check_definition BEFORE INSERT OR UPDATE ON kanon.dgh
    FOR EACH ROW EXECUTE FUNCTION kanon.dgh_check();
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON kanon.dgh
    FOR EACH STATEMENT EXECUTE FUNCTION kanon.dgh_changed();
CREATE TRIGGER inserted AFTER INSERT ON kanon.dgh_edge REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION kanon.dgh_edge_changed();
CREATE TRIGGER updated AFTER UPDATE ON kanon.dgh_edge REFERENCING OLD TABLE AS removed NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION kanon.dgh_edge_changed();
CREATE TRIGGER deleted AFTER DELETE ON kanon.dgh_edge REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION kanon.dgh_edge_changed();
CREATE TRIGGER truncated AFTER TRUNCATE ON kanon.dgh_edge
    FOR EACH STATEMENT EXECUTE FUNCTION kanon.dgh_edge_changed();

-- The triggers must also fire for replicated rows and in restores that disable
-- triggers.  Otherwise sessions would continue to use outdated hierarchies from
-- their caches.
ALTER TABLE kanon.dgh ENABLE ALWAYS TRIGGER check_definition;
ALTER TABLE kanon.dgh ENABLE ALWAYS TRIGGER changed;
ALTER TABLE kanon.dgh_edge ENABLE ALWAYS TRIGGER inserted;
ALTER TABLE kanon.dgh_edge ENABLE ALWAYS TRIGGER updated;
ALTER TABLE kanon.dgh_edge ENABLE ALWAYS TRIGGER deleted;
ALTER TABLE kanon.dgh_edge ENABLE ALWAYS TRIGGER truncated;

CREATE FUNCTION kanon.create_dgh(name text) RETURNS void
    LANGUAGE sql BEGIN ATOMIC
    INSERT INTO kanon.dgh (name, kind) VALUES (create_dgh.name, 'tree');
END;

CREATE FUNCTION kanon.create_interval_dgh(name text, origin numeric, widths numeric[]) RETURNS void
    LANGUAGE sql BEGIN ATOMIC
    INSERT INTO kanon.dgh (name, kind, origin, widths)
    VALUES (create_interval_dgh.name, 'interval', create_interval_dgh.origin, create_interval_dgh.widths);
END;

CREATE FUNCTION kanon.create_date_dgh(name text, units text[]) RETURNS void
    LANGUAGE sql BEGIN ATOMIC
    INSERT INTO kanon.dgh (name, kind, units)
    VALUES (create_date_dgh.name, 'date', create_date_dgh.units);
END;

CREATE FUNCTION kanon.create_prefix_dgh(name text, length integer, mask text DEFAULT '*') RETURNS void
    LANGUAGE sql BEGIN ATOMIC
    INSERT INTO kanon.dgh (name, kind, length, mask)
    VALUES (create_prefix_dgh.name, 'prefix', create_prefix_dgh.length, create_prefix_dgh.mask);
END;

CREATE FUNCTION kanon.drop_dgh(name text) RETURNS void
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'kanon_drop_dgh';

CREATE FUNCTION kanon.import_dgh(name text, rows text[]) RETURNS bigint
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'kanon_import_dgh';
CREATE FUNCTION kanon.import_dgh_file(name text, path text) RETURNS bigint
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'kanon_import_dgh_file';
CREATE FUNCTION kanon.export_dgh(name text) RETURNS SETOF text
    LANGUAGE c STABLE STRICT ROWS 1000 AS 'MODULE_PATHNAME', 'kanon_export_dgh';

CREATE FUNCTION kanon.generalize(dgh text, value text, level integer) RETURNS kanon.generalized
    LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_generalize';
CREATE FUNCTION kanon.generalized(value text, dgh text) RETURNS kanon.generalized
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_bind';
CREATE FUNCTION kanon.dgh_path(dgh text, value text, OUT level integer, OUT value kanon.generalized) RETURNS SETOF record
    LANGUAGE c STABLE PARALLEL SAFE ROWS 5 AS 'MODULE_PATHNAME', 'kanon_dgh_path';
CREATE FUNCTION kanon.dgh_distance(dgh text, a text, b text) RETURNS float8
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_dgh_distance';
CREATE FUNCTION kanon.dgh_cache(OUT dgh text, OUT nodes integer, OUT leaves integer, OUT bytes bigint) RETURNS SETOF record
    LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 10 AS 'MODULE_PATHNAME', 'kanon_dgh_cache';

