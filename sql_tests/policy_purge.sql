-- kanon.purge_expired by an administrator runs the view's owner's code with the owner's rights: views, row policies,
-- functions and triggers that are in its way.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SELECT current_database() || '_owner' AS owner, current_database() || '_officer' AS officer \gset
CREATE ROLE :"owner";
CREATE ROLE :"officer" IN ROLE :"owner";
GRANT CREATE ON SCHEMA public TO :"owner";
CREATE TABLE ran (by name, what text);
GRANT INSERT ON ran TO PUBLIC;
SET ROLE :"owner";
CREATE TABLE patient (name text PRIMARY KEY, age int, ill text);
INSERT INTO patient VALUES ('Ann', 20, 'flu'), ('Bob', 21, 'hiv'), ('Cid', 22, 'ulcer');
CREATE TABLE stored_choices (name text PRIMARY KEY, k int, until date);
INSERT INTO stored_choices VALUES ('Ann', 1, '1999-01-01'), ('Bob', 1, '2999-01-01'), ('Cid', 1, NULL);
CREATE FUNCTION trap(what text) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.ran VALUES (current_user, what);
    BEGIN
        EXECUTE format('ALTER ROLE %I SUPERUSER', current_database() || '_owner');
    EXCEPTION WHEN insufficient_privilege THEN
    END;
    RETURN true;
END $$;
CREATE VIEW choices AS SELECT * FROM stored_choices WHERE trap('view');
CREATE FUNCTION trap_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.trap('trigger');
    RETURN NEW;
END $$;
CREATE TRIGGER t BEFORE UPDATE ON patient FOR EACH ROW EXECUTE FUNCTION trap_trigger();
ALTER TABLE patient ENABLE ROW LEVEL SECURITY;
ALTER TABLE patient FORCE ROW LEVEL SECURITY;
CREATE POLICY p ON patient USING (trap('policy'));
SELECT kanon.create_anonymization_view('patients', 'SELECT name, age, ill FROM patient', id => '{name}',
    quasi_ids => '{"age": null}', sensitive => '{"ill": null}',
    profile => '{"table": "choices", "key": {"name": "name"}, "k": "k", "retain": {"ill": "until"}}') AS made;
RESET ROLE;
TRUNCATE ran;

-- The nightly dry run, the purge itself, and both by a member of the owner.
SELECT * FROM kanon.purge_expired('patients');
SELECT * FROM kanon.purge_expired('patients', dry_run => false);
SELECT * FROM patient ORDER BY name;
SET ROLE :"officer";
SELECT * FROM kanon.purge_expired('patients');
SELECT * FROM kanon.purge_expired('patients', false);
RESET ROLE;
SELECT replace(by, current_database(), '') AS by, what, count(*) > 0 AS ran FROM ran GROUP BY 1, 2 ORDER BY 1, 2;
SELECT rolsuper FROM pg_roles WHERE rolname = :'owner';
ALTER ROLE :"owner" NOSUPERUSER;
-- Names are found in pg_catalog, and an owner who may not change the table changes nothing.
CREATE SCHEMA lure AUTHORIZATION :"owner";
SET ROLE :"owner";
CREATE FUNCTION lure.same(text, text) RETURNS bool LANGUAGE sql AS $$ SELECT public.trap('operator') $$;
CREATE OPERATOR lure.= (LEFTARG = text, RIGHTARG = text, FUNCTION = lure.same);
RESET ROLE;
UPDATE stored_choices SET until = '1999-01-01' WHERE name = 'Bob';
SET search_path = lure, pg_catalog, public;
SELECT * FROM kanon.purge_expired('public.patients', dry_run => true);
SET ROLE :"owner";
SELECT * FROM kanon.purge_expired('public.patients', dry_run => true);
RESET ROLE;
RESET search_path;
SELECT count(*) AS operators FROM ran WHERE what = 'operator';
ALTER TABLE patient OWNER TO CURRENT_USER;
GRANT SELECT ON patient TO :"owner";
SELECT * FROM kanon.purge_expired('patients', dry_run => false);
SELECT * FROM kanon.purge_expired('patients');
SELECT * FROM patient ORDER BY name;
-- The owner's own deferred triggers do not stop the owner; on behalf of others they cannot be put off.
ALTER TABLE patient OWNER TO :"owner";
SET ROLE :"owner";
CREATE CONSTRAINT TRIGGER later AFTER UPDATE ON patient DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION trap_trigger();
RESET ROLE;
SELECT * FROM kanon.purge_expired('patients', dry_run => false);
SET ROLE :"owner";
SELECT * FROM kanon.purge_expired('patients', dry_run => false);
SELECT * FROM patient ORDER BY name;
-- The key need not be in the view.
UPDATE stored_choices SET until = '1999-01-01';
SELECT kanon.create_anonymization_view('keyed', 'SELECT name, age, ill FROM patient', quasi_ids => '{"age": null}',
    sensitive => '{"ill": null}',
    profile => '{"table": "choices", "key": {"name": "name"}, "k": "k", "retain": {"ill": "until"}}') AS made;
SELECT attname FROM pg_attribute WHERE attrelid = 'keyed'::regclass ORDER BY attnum;
SELECT * FROM kanon.purge_expired('keyed', dry_run => false);

-- Errors.
SELECT * FROM kanon.purge_expired(NULL);
SELECT * FROM kanon.purge_expired('patients', NULL);
SELECT * FROM kanon.purge_expired('patient');
SELECT * FROM kanon.purge_expired(0::regclass);
SELECT kanon.create_anonymization_view('some', 'SELECT name, age, ill FROM patient WHERE age > 20', id => '{name}',
    quasi_ids => '{"age": null}', sensitive => '{"ill": null}',
    profile => '{"table": "choices", "key": {"name": "name"}, "k": "k", "retain": {"ill": "until"}}') AS made;
SELECT * FROM kanon.purge_expired('some');
SELECT kanon.create_anonymization_view('keyless', 'SELECT lower(name) AS name, age, ill FROM patient', id => '{name}',
    quasi_ids => '{"age": null}', sensitive => '{"ill": null}',
    profile => '{"table": "choices", "key": {"name": "name"}, "k": "k", "retain": {"ill": "until"}}') AS made;
SELECT * FROM kanon.purge_expired('keyless');
RESET ROLE;
DROP OWNED BY :"officer", :"owner" CASCADE;
DROP TABLE ran;
DROP ROLE :"officer", :"owner";
