-- k_anonymity, violations, linkage and linked_groups return nothing that the caller's own SELECT would not return, and
-- run nobody's code with rights that the caller does not have.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SELECT current_database() || '_owner' AS owner, current_database() || '_eve' AS eve,
    current_database() || '_member' AS member \gset
CREATE ROLE :"owner";
CREATE ROLE :"eve" LOGIN;
CREATE ROLE :"member" IN ROLE :"owner";
GRANT CREATE ON SCHEMA public TO :"owner";
CREATE SCHEMA eve AUTHORIZATION :"eve";
GRANT USAGE ON SCHEMA eve TO PUBLIC;
CREATE TABLE ran (by name, what text);
GRANT INSERT ON ran TO PUBLIC;

-- 1. A superuser's view calls a function of Eve's, which would make her a superuser.
SET ROLE :"eve";
CREATE FUNCTION eve.label(text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.ran VALUES (current_user, 'label');
    BEGIN
        EXECUTE format('ALTER ROLE %I SUPERUSER', current_database() || '_eve');
    EXCEPTION WHEN insufficient_privilege THEN
    END;
    RETURN $1;
END $$;
RESET ROLE;
CREATE TABLE ward (ward text, beds int);
INSERT INTO ward VALUES ('north', 4), ('south', 4), ('south', 5);
CREATE VIEW labels AS SELECT eve.label(ward) AS ward, beds FROM ward;
GRANT SELECT ON labels TO :"eve";
SET ROLE :"eve";
SELECT k FROM kanon.k_anonymity('labels', '{ward}', 'beds');
SELECT * FROM kanon.violations('labels', '{ward}', 2);
SELECT * FROM kanon.linkage('labels', 'labels', '{ward}') ORDER BY candidates;
SELECT * FROM kanon.linked_groups('labels', 'labels', '{ward}') ORDER BY rows;
RESET ROLE;
SELECT rolsuper FROM pg_roles WHERE rolname = :'eve';
ALTER ROLE :"eve" NOSUPERUSER;
SELECT replace(by, current_database(), '') AS by, count(*) > 0 AS ran FROM ran GROUP BY 1;
TRUNCATE ran;

-- 2. Passwords of user mappings, and other people's statements.
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER elsewhere FOREIGN DATA WRAPPER nothing;
CREATE USER MAPPING FOR :"owner" SERVER elsewhere OPTIONS (password 'open sesame');
SET ROLE :"eve";
SELECT class, rows FROM kanon.violations('pg_user_mappings', '{umoptions}', 100);
SELECT umoptions FROM pg_user_mappings;
SELECT count(*) AS "statements of others" FROM kanon.violations('pg_stat_activity', '{query}', 1000)
    WHERE class[1] LIKE '%pg_stat_activity%';
RESET ROLE;
SELECT class, rows FROM kanon.violations('pg_user_mappings', '{umoptions}', 100);

-- 3. Row security of the caller, also where it hides all rows; errors that it asks for.
SET ROLE :"owner";
CREATE TABLE own_rows (owner text, ill text);
INSERT INTO own_rows VALUES (current_database() || '_eve', 'flu'), (current_database() || '_owner', 'gout'),
    ('ann', 'hiv'), ('bob', 'ulcer');
ALTER TABLE own_rows ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON own_rows USING (owner = current_user);
GRANT SELECT ON own_rows TO :"eve";
-- A view that shows each caller the caller's rows, and one that reads with the caller's rights.
CREATE VIEW my_rows AS SELECT ill FROM own_rows WHERE owner = current_user;
GRANT SELECT ON my_rows TO :"eve";
CREATE TABLE salary (name text, pay int);
INSERT INTO salary VALUES ('ann', 4711);
CREATE VIEW salaries AS SELECT * FROM salary;
GRANT SELECT ON salaries TO :"eve";
SET ROLE :"eve";
SELECT * FROM kanon.violations('own_rows', '{ill}', 9);
SELECT * FROM kanon.violations('my_rows', '{ill}', 9);
SELECT ill FROM my_rows;
SELECT rows FROM kanon.k_anonymity('own_rows', '{ill}');
SET row_security = off;
SELECT * FROM kanon.violations('own_rows', '{ill}', 9);
RESET row_security;
RESET ROLE;
SELECT current_setting('server_version_num')::int >= 150000 AS has_invoker \gset
\if :has_invoker
ALTER VIEW salaries SET (security_invoker);
\else
REVOKE SELECT ON salaries FROM :"eve";
\endif
SET ROLE :"eve";
\set VERBOSITY sqlstate
SELECT pay FROM salaries;
SELECT * FROM kanon.violations('salaries', '{pay}', 9);
SELECT * FROM kanon.k_anonymity('salaries', '{name}', 'pay');
SELECT * FROM kanon.linkage('salaries', 'salaries', '{pay}');
\set VERBOSITY default
RESET ROLE;

-- 4. Tables in a schema without USAGE, by number; columns without SELECT; nothing at all.
CREATE SCHEMA closed;
CREATE TABLE closed.cases (name text, ill text);
INSERT INTO closed.cases VALUES ('ann', 'hiv');
GRANT SELECT ON closed.cases TO :"eve";
CREATE VIEW closed_copy AS SELECT 'ann'::text AS name;
GRANT SELECT ON closed_copy TO :"eve";
SELECT 'closed.cases'::regclass::oid AS cases \gset
CREATE TABLE part (open text, hidden text);
INSERT INTO part VALUES ('a', 'b');
GRANT SELECT (open) ON part TO :"eve";
SET ROLE :"eve";
\set VERBOSITY terse
SELECT * FROM kanon.violations(:cases, '{ill}', 9);
SELECT * FROM kanon.k_anonymity(:cases, '{ill}');
SELECT * FROM kanon.linkage(:cases, 'closed_copy', '{name}');
SELECT * FROM kanon.linked_groups('closed_copy', :cases, '{name}');
SELECT * FROM kanon.violations('part', '{open}', 9);
SELECT * FROM kanon.violations('part', '{open,hidden}', 9);
SELECT * FROM kanon.k_anonymity('part', '{open}', 'hidden');
SELECT * FROM kanon.linked_groups('part', 'part', '{hidden}');
\set VERBOSITY default
RESET ROLE;

-- 5. Errors of an anonymization view's source quote no raw value.
SET ROLE :"owner";
CREATE TABLE visit (id int PRIMARY KEY, age int, dose text);
INSERT INTO visit SELECT i, 20 + i % 3, i::text FROM generate_series(1, 9) i;
SELECT kanon.create_anonymization_view('visits', 'SELECT id, age, dose::int AS dose FROM visit', id => '{id}',
    quasi_ids => '{"age": null}', sensitive => '{"dose": null}', k => 3) AS made;
INSERT INTO visit VALUES (10, 21, 'hiv since 1999');
GRANT SELECT ON visits TO :"eve";
SET ROLE :"eve";
SELECT dose FROM visits;
SELECT * FROM kanon.k_anonymity('visits', '{age}', 'dose');
SELECT * FROM kanon.violations('visits', '{dose}', 2);
RESET ROLE;
DELETE FROM visit WHERE id = 10;

-- 6. Eve's own upper(text) first: names are not looked up on her path while code of others runs, neither in an
-- ordinary view nor in an anonymization view.
SET ROLE :"owner";
CREATE FUNCTION code(t text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN upper(t); END $$;
CREATE VIEW coded AS SELECT code(dose) AS dose FROM visit;
GRANT SELECT ON coded TO :"eve";
SELECT kanon.create_anonymization_view('coded_visits', 'SELECT id, age, code(dose) AS dose FROM visit', id => '{id}',
    quasi_ids => '{"age": null}', sensitive => '{"dose": null}', k => 3) AS made;
GRANT SELECT ON coded_visits TO :"eve";
SET ROLE :"eve";
CREATE FUNCTION eve.upper(t text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.ran VALUES (current_user, t);
    RETURN t;
END $$;
SET search_path = eve, pg_catalog, public;
SELECT rows FROM kanon.k_anonymity('public.coded', '{dose}');
SELECT count(*) FROM kanon.violations('public.coded', '{dose}', 2);
SELECT sum(people) FROM kanon.linkage('public.coded', 'public.coded', '{dose}');
SELECT sum(rows) FROM kanon.linked_groups('public.coded', 'public.coded', '{dose}');
SELECT rows FROM kanon.k_anonymity('public.coded_visits', '{age}', 'dose');
SHOW search_path;
RESET search_path;
RESET ROLE;
SELECT count(*) AS "of Eve's calls" FROM ran;
-- The owner, and an administrator, with Eve's schema in front.
SET search_path = eve, pg_catalog, public;
SELECT rows FROM kanon.k_anonymity('public.coded', '{dose}');
SELECT rows FROM kanon.quality('public.coded_visits');
SELECT count(*) FROM kanon.tally('public.coded_visits') WHERE "column" IS NULL;
SELECT count(*) FROM kanon.why_hidden('public.coded_visits', '1');
SELECT count(*) FROM kanon.uncovered('public.coded_visits');
SELECT kanon.refresh_sequence('public.coded_visits');
RESET search_path;
SELECT count(*) AS "of Eve's calls" FROM ran;

-- 7. Who runs it: the owner, if the caller has the owner's rights; otherwise the caller.
SET ROLE :"owner";
CREATE FUNCTION note() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.ran VALUES (current_user, 'note');
    RETURN 'x';
END $$;
CREATE VIEW noted AS SELECT note() AS a;
GRANT SELECT ON noted TO :"eve";
SELECT rows FROM kanon.k_anonymity('noted', '{a}');
SET ROLE :"member";
SELECT rows FROM kanon.k_anonymity('noted', '{a}');
RESET ROLE;
SELECT rows FROM kanon.k_anonymity('noted', '{a}');
SELECT replace(by, current_database(), '') AS by, count(*) FROM ran GROUP BY 1;
SET ROLE :"eve";
SELECT rows FROM kanon.k_anonymity('noted', '{a}');
RESET ROLE;
SELECT replace(by, current_database(), '') AS by, count(*) FROM ran GROUP BY 1 ORDER BY 1;

-- 8. The purpose of a view that is below another view is checked as the caller's.
SET ROLE :"owner";
CREATE TABLE choices (id int PRIMARY KEY, k int);
SELECT kanon.create_anonymization_view('chosen', 'SELECT id, age FROM visit', id => '{id}',
    quasi_ids => '{"age": null}', k => 2, profile => '{"table": "choices", "key": {"id": "id"}, "k": "k"}') AS made;
CREATE VIEW above AS SELECT age FROM chosen;
GRANT SELECT ON above TO :"eve";
RESET ROLE;
SELECT kanon.grant_access(:'owner', 'care', 'ward');
SET kanon.purpose = 'care';
SET kanon.recipient = 'ward';
SET ROLE :"eve";
SELECT rows FROM kanon.k_anonymity('above', '{age}');
SET ROLE :"owner";
SELECT rows FROM kanon.k_anonymity('above', '{age}');
RESET ROLE;

DROP SERVER elsewhere CASCADE;
DROP FOREIGN DATA WRAPPER nothing;
DROP VIEW labels, closed_copy;
DROP TABLE ran, ward, part;
DROP SCHEMA closed CASCADE;
DROP OWNED BY :"eve", :"owner", :"member" CASCADE;
DROP ROLE :"eve", :"member", :"owner";
