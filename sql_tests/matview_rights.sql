-- Whose code runs with whose rights while stored groups are kept: never with rights that the role which changes the
-- table does not have, and never with that role's search_path.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SELECT current_database() || '_owner' AS owner, current_database() || '_writer' AS writer,
    current_database() || '_mallory' AS mallory \gset
CREATE ROLE :"owner";
CREATE ROLE :"writer";
CREATE ROLE :"mallory";
GRANT CREATE ON SCHEMA public TO :"owner";
CREATE SCHEMA writer AUTHORIZATION :"writer";
GRANT USAGE ON SCHEMA writer TO PUBLIC;
CREATE TABLE ran (by name, what text);
GRANT INSERT ON ran TO PUBLIC;
CREATE FUNCTION ran() RETURNS TABLE (by text, what text, times bigint) LANGUAGE sql AS $$
    SELECT replace(by, current_database(), ''), what, count(*) FROM ran GROUP BY 1, 2 ORDER BY 1, 2;
$$;

-- 1. A writer with INSERT alone, and her own upper(text) first: the view's expressions and the choices' key.
SET ROLE :"owner";
CREATE TABLE person (id int PRIMARY KEY, age int, town text);
INSERT INTO person SELECT i, 20 + i % 4, 'town ' || i % 2 FROM generate_series(1, 12) i;
CREATE TABLE secret (word text);
INSERT INTO secret VALUES ('the owner''s');
CREATE FUNCTION code(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN upper(t); END $$;
SELECT kanon.create_anonymization_view('kept', 'SELECT id, age, code(town) AS town FROM person', id => '{id}',
    quasi_ids => '{"age": null}', sensitive => '{"town": null}', k => 3, materialized => true) AS made;
GRANT INSERT ON person TO :"writer";
SET ROLE :"writer";
CREATE TABLE writer.loot (word text, by name);
CREATE FUNCTION writer.steal(t text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.ran VALUES (current_user, 'upper');
    BEGIN
        INSERT INTO writer.loot SELECT word, current_user FROM public.secret;
    EXCEPTION WHEN insufficient_privilege THEN
    END;
    RETURN t;
END $$;
CREATE FUNCTION writer.upper(t text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT writer.steal(t) $$;
GRANT INSERT ON writer.loot TO PUBLIC;
SET search_path = writer, pg_catalog, public;
INSERT INTO person VALUES (101, 21, 'town 1');
BEGIN;
INSERT INTO person VALUES (102, 21, 'town 1');
SAVEPOINT s;
INSERT INTO person VALUES (103, 21, 'town 1');
COMMIT;
SHOW search_path;
SELECT * FROM writer.loot;
RESET search_path;
RESET ROLE;
SELECT * FROM ran();
SELECT count(*) AS groups FROM kanon.groups('kept') WHERE sensitive::text LIKE '%TOWN 1%';
-- Nor does a refresh by an administrator, or an INSERT, with the schema in front.
SET search_path = writer, pg_catalog, public;
INSERT INTO person VALUES (104, 22, 'town 1');
TRUNCATE public.person;
INSERT INTO person SELECT i, 20 + i % 4, 'town ' || i % 2 FROM generate_series(1, 12) i;
SELECT kanon.refresh('public.kept');
SELECT kanon.refresh('public.kept', true) > 0 AS anew;
RESET search_path;
SELECT * FROM ran();
TRUNCATE ran;

-- 2. A superuser's view calls a function of Mallory's, who may insert: it runs as Mallory when she does, and makes
-- nobody a superuser.
CREATE SCHEMA mallory AUTHORIZATION :"mallory";
SET ROLE :"mallory";
CREATE FUNCTION mallory.rise() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.ran VALUES (current_user, 'rise');
    BEGIN
        EXECUTE format('ALTER ROLE %I SUPERUSER', current_database() || '_mallory');
    EXCEPTION WHEN insufficient_privilege THEN
    END;
END $$;
CREATE FUNCTION mallory.label(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN t; END $$;
CREATE TYPE mallory.code AS ENUM ('a');
CREATE FUNCTION mallory.eq(mallory.code, int) RETURNS bool LANGUAGE sql IMMUTABLE AS $$ SELECT $2 > 0 $$;
CREATE OPERATOR mallory.= (LEFTARG = mallory.code, RIGHTARG = int, FUNCTION = mallory.eq);
RESET ROLE;
CREATE TABLE guest (id int PRIMARY KEY, age int, town text);
INSERT INTO guest SELECT i, 20 + i % 4, 'x' FROM generate_series(1, 12) i;
CREATE TABLE choices (code mallory.code PRIMARY KEY, k int);
INSERT INTO choices VALUES ('a', 3);
SET search_path = public, mallory;
SELECT kanon.create_anonymization_view('guests', 'SELECT id, age, mallory.label(town) AS town FROM guest',
    id => '{id}', quasi_ids => '{"age": null}', sensitive => '{"town": null}', k => 3, materialized => true,
    profile => '{"table": "choices", "key": {"id": "code"}, "k": "k"}') AS made;
RESET search_path;
GRANT INSERT, UPDATE, DELETE, SELECT, TRUNCATE ON guest, choices TO :"mallory";
ALTER TABLE guest OWNER TO :"mallory";
SET ROLE :"mallory";
CREATE OR REPLACE FUNCTION mallory.label(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM mallory.rise();
    RETURN t;
END $$;
-- The planner inlines the one and evaluates the other.
CREATE FUNCTION mallory.folded(int) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM mallory.rise();
    RETURN true;
END $$;
CREATE OR REPLACE FUNCTION mallory.eq(mallory.code, int) RETURNS bool LANGUAGE sql IMMUTABLE
    AS $$ SELECT $2 > 0 AND mallory.folded(1) $$;
-- Through an event trigger, which itself has the rights of kanon's owner.
CREATE TABLE mallory.kid () INHERITS (guest);
INSERT INTO guest VALUES (101, 21, 'x');
UPDATE guest SET age = 22 WHERE id = 1;
DELETE FROM guest WHERE id = 2;
UPDATE choices SET k = 2;
TRUNCATE guest;
RESET ROLE;
SELECT rolsuper FROM pg_roles WHERE rolname = :'mallory';
ALTER ROLE :"mallory" NOSUPERUSER;
SELECT by, what, times > 0 AS ran FROM ran();
TRUNCATE ran;
DROP TABLE guest, choices CASCADE;

-- 3. An administrator's INSERT, and the functions for the view's owner: the code runs as the owner.
SET ROLE :"owner";
CREATE OR REPLACE FUNCTION code(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM note_owner();
    RETURN t;
END $$;
CREATE FUNCTION note_owner() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO public.ran VALUES (current_user, 'code');
END $$;
RESET ROLE;
INSERT INTO person VALUES (201, 21, 'town 1');
SELECT kanon.refresh('kept') >= 0 AS refreshed;
SELECT by, what, times > 0 AS ran FROM ran();
TRUNCATE ran;

-- 4. The check that the owner may still read the source plans row policies, which are code, too.
SET ROLE :"owner";
CREATE TABLE policed (id int PRIMARY KEY, age int);
INSERT INTO policed SELECT i, 20 + i % 4 FROM generate_series(1, 12) i;
CREATE FUNCTION harmless(int) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM public.note_owner();
    RETURN true;
END $$;
ALTER TABLE policed ENABLE ROW LEVEL SECURITY;
ALTER TABLE policed FORCE ROW LEVEL SECURITY;
CREATE POLICY p ON policed USING (harmless(1));
SELECT kanon.create_anonymization_view('policed_view', 'SELECT id, age FROM policed', id => '{id}',
    quasi_ids => '{"age": null}', k => 3, materialized => true) AS made;
RESET ROLE;
SELECT count(*) > 0 AS groups FROM kanon.groups('policed_view');
SELECT kanon.refresh('policed_view') >= 0 AS refreshed;
SELECT by, what, times > 0 AS ran FROM ran();

-- 5. A stranger's trigger that names a view of others.
SELECT id AS kept_id FROM kanon.aview WHERE view = 'kept'::regclass \gset
SET ROLE :"mallory";
CREATE TABLE mallory.mine (id int);
CREATE TRIGGER t AFTER INSERT ON mallory.mine FOR EACH STATEMENT EXECUTE FUNCTION kanon.keep_groups(:kept_id);
INSERT INTO mallory.mine VALUES (1);
RESET ROLE;

DROP FUNCTION ran();
DROP OWNED BY :"owner", :"writer", :"mallory" CASCADE;
DROP TABLE ran;
DROP ROLE :"owner", :"writer", :"mallory";
