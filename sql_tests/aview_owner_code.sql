-- The code of a view's owner does not run with the rights of an administrator who works on the view: functions of the
-- source, of its types and of its indexes, event triggers and rules. (A query over the view runs them with the caller's
-- rights, as over any view.)
\set dir `echo "$PG_ABS_SRCDIR"`
\set people :dir '/data/people.sql'
\i :people
\set SHOW_CONTEXT never
CREATE TABLE ran (by name, what text);
GRANT INSERT ON ran TO PUBLIC;
SET ROLE :"owner";
CREATE FUNCTION trap(what text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	INSERT INTO public.ran VALUES (current_user, what);
	RETURN what;
END
$$;
-- A type whose output and comparison are the owner's need C, a domain with a check does not.
CREATE FUNCTION check_zip(text) RETURNS boolean LANGUAGE sql AS 'SELECT trap(''domain'') IS NOT NULL';
CREATE DOMAIN zip AS text CHECK (check_zip(VALUE));
SELECT kanon.create_anonymization_view('trapped',
	'SELECT name, trap(zip) AS zip, disease::zip AS disease, ward FROM person', id => '{name}',
	quasi_ids => '{"zip": "zips"}', sensitive => '{"disease": null}', k => 4, l => 2, other => '{ward}');

-- The administrator's turn.
RESET ROLE;
SELECT count(*) > 0 AS "the owner ran it" FROM ran;
TRUNCATE ran;
SELECT kanon.refresh_sequence('trapped');
SELECT count(*) FROM kanon.uncovered('trapped');
SELECT kanon.alter_anonymization_view('trapped', l => 1);
SELECT count(*) FROM kanon.generalization_sequence('trapped');
SELECT DISTINCT replace(by, current_database(), '') AS by FROM ran;
TRUNCATE ran;
-- Nor can it change its role, or leave something behind.
SET ROLE :"owner";
CREATE OR REPLACE FUNCTION trap(what text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	RESET ROLE;
	INSERT INTO public.ran VALUES (current_user, what);
	RETURN what;
END
$$;
RESET ROLE;
SELECT kanon.refresh_sequence('trapped');
SET ROLE :"owner";
CREATE OR REPLACE FUNCTION trap(what text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	PERFORM set_config('search_path', 'nowhere', false);
	RETURN what;
END
$$;
RESET ROLE;
SHOW search_path;
SELECT kanon.refresh_sequence('trapped');
SHOW search_path;

-- Dropping: neither the statement nor kanon's event trigger runs anything of the owner's.
SET ROLE :"owner";
CREATE OR REPLACE FUNCTION trap(what text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	INSERT INTO public.ran VALUES (current_user, what);
	RETURN what;
END
$$;
RESET ROLE;
SELECT kanon.drop_anonymization_view('trapped');
SELECT * FROM ran;

-- kanon's tables take no triggers, rules, indexes, policies or rows of others.
SET ROLE :"owner";
CREATE FUNCTION trap_trigger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM trap(''trigger''); RETURN NEW; END';
CREATE TRIGGER trap BEFORE INSERT ON kanon.aview FOR EACH ROW EXECUTE FUNCTION trap_trigger();
CREATE RULE trap AS ON INSERT TO kanon.aview_step DO ALSO SELECT trap('rule');
CREATE INDEX ON kanon.aview (trap(match));
INSERT INTO kanon.aview VALUES (99, 'people', 0);
UPDATE kanon.aview SET k = 0;
DELETE FROM kanon.aview_step;
CREATE FUNCTION kanon.scan(integer) RETURNS SETOF record LANGUAGE sql AS 'SELECT 1';
CREATE OPERATOR kanon.<> (LEFTARG = oid, RIGHTARG = oid, FUNCTION = pg_catalog.oideq);

-- kanon's trigger functions are for kanon's tables.
CREATE TEMP TABLE mine (a integer);
CREATE TRIGGER t AFTER INSERT ON mine FOR EACH STATEMENT EXECUTE FUNCTION kanon.aview_changed();
CREATE TRIGGER t BEFORE INSERT ON mine FOR EACH ROW EXECUTE FUNCTION kanon.dgh_check();
CREATE TRIGGER t AFTER INSERT ON mine FOR EACH ROW EXECUTE FUNCTION kanon.dgh_changed();
CREATE TRIGGER t AFTER INSERT ON mine REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION
	kanon.dgh_edge_changed();
CREATE TRIGGER t BEFORE DELETE ON mine FOR EACH ROW EXECUTE FUNCTION kanon.dgh_in_use();
RESET ROLE;
CREATE TRIGGER changed AFTER INSERT ON mine FOR EACH STATEMENT EXECUTE FUNCTION kanon.aview_changed();
INSERT INTO mine VALUES (1);
DROP TRIGGER changed ON mine;
CREATE TRIGGER checked BEFORE INSERT ON mine FOR EACH STATEMENT EXECUTE FUNCTION kanon.dgh_check();
INSERT INTO mine VALUES (1);
DROP TRIGGER checked ON mine;
CREATE TRIGGER edges AFTER INSERT ON mine REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION
	kanon.dgh_edge_changed();
INSERT INTO mine VALUES (1);
DROP TRIGGER edges ON mine;
SELECT kanon.aview_changed();

\set end :dir '/data/people_end.sql'
\i :end
