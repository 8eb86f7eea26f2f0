-- Purposes and recipients: a role needs a grant for each, and every way to a view checks it.
SELECT current_database() || '_owner' AS owner, current_database() || '_nurse' AS nurse, current_database()
	|| '_staff' AS staff,
    current_database() || '_lab' AS lab \gset
CREATE ROLE :"owner";
CREATE ROLE :"staff";
CREATE ROLE :"nurse" IN ROLE :"staff";
CREATE ROLE :"lab";
GRANT CREATE ON SCHEMA public TO :"owner", :"nurse";
SET ROLE :"owner";
CREATE TABLE patient (name text PRIMARY KEY, zip text, disease text);
INSERT INTO patient SELECT 'p' || i, '1305' || i % 4, (ARRAY['flu', 'ulcer'])[1 + i % 2] FROM generate_series(1, 40) i;
CREATE TABLE choices (name text, purpose text, recipient text, k int, PRIMARY KEY (name, purpose, recipient));
INSERT INTO choices SELECT name, 'care', 'ward', 1 FROM patient;
INSERT INTO choices SELECT name, 'study', 'lab', 20 FROM patient;
SELECT kanon.create_anonymization_view('patients', 'SELECT * FROM patient', id => '{name}',
	quasi_ids => '{"zip": null}', sensitive => '{"disease": null}',
    profile => '{"table": "choices", "key": {"name": "name"}, "k": "k", '
        '"purpose": "purpose", "recipient": "recipient"}');
GRANT SELECT ON patients TO :"nurse", :"lab";
CREATE VIEW upper_view AS SELECT zip, count(*) FROM patients GROUP BY zip;
GRANT SELECT ON upper_view TO :"nurse", :"lab";
RESET ROLE;
SELECT kanon.grant_access(:'staff', 'care', 'ward', 'patients');
SELECT kanon.grant_access(:'lab', 'study', 'lab');
SELECT kanon.grant_access(:'lab', 'study', 'lab');
SELECT replace(role, current_database(), 'db') AS role, purpose, recipient, view FROM kanon.access ORDER BY role;

-- Membership counts; nothing else does.
SET ROLE :"nurse";
SELECT count(*) FROM patients;
SET kanon.purpose = 'care';
SELECT count(*) FROM patients;
SET kanon.recipient = 'ward';
SELECT zip, count(*) FROM patients GROUP BY zip ORDER BY zip;
SELECT * FROM upper_view ORDER BY zip;
SET kanon.purpose = 'study';
SET kanon.recipient = 'lab';
SELECT count(*) FROM patients;
SELECT * FROM upper_view;
SELECT count(*) FROM kanon.scan('patients') AS s (name text, zip kanon.generalized, disease text);
SET kanon.plan = function;
SELECT count(*) FROM patients;
RESET kanon.plan;
COPY (SELECT * FROM patients) TO STDOUT;
CREATE TABLE stolen AS SELECT * FROM patients;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(*) FROM patients;
-- A plan shows no rows.
EXPLAIN (COSTS OFF) SELECT * FROM patients WHERE disease = 'flu';
-- The settings are the transaction's, the function's, or a typing error.
BEGIN;
SET LOCAL kanon.purpose = 'care';
SET LOCAL kanon.recipient = 'ward';
SELECT count(*) FROM patients;
COMMIT;
SELECT count(*) FROM patients;
DO $$
BEGIN
	SET kanon.purpos = 'care';
	-- PostgreSQL 14 takes any name.
	ASSERT current_setting('server_version_num')::int < 150000;
EXCEPTION WHEN invalid_name THEN
	ASSERT SQLERRM = 'invalid configuration parameter name "kanon.purpos"';
END
$$;

-- SET ROLE, and a prepared statement kept across it and across SET.
RESET ROLE;
PREPARE zips AS SELECT zip, count(*) FROM patients GROUP BY zip ORDER BY zip;
SET plan_cache_mode = force_generic_plan;
SET ROLE :"lab";
EXECUTE zips;
SET kanon.purpose = 'care';
SET kanon.recipient = 'ward';
EXECUTE zips;
SET ROLE :"nurse";
EXECUTE zips;
-- Granted for one view only, and taken back while the statement is prepared.
RESET ROLE;
SELECT kanon.revoke_access(:'staff', 'care', 'ward');
SET ROLE :"nurse";
EXECUTE zips;
RESET ROLE;
SELECT kanon.revoke_access(:'staff', 'care', 'ward', 'patients');
SET ROLE :"nurse";
EXECUTE zips;

-- A function acts for its owner if it says so, for its caller otherwise.
RESET ROLE;
SELECT kanon.grant_access(:'owner', 'care', 'ward');
SET ROLE :"owner";
CREATE FUNCTION how_many() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM public.patients';
CREATE FUNCTION how_many_for_all() RETURNS bigint
	LANGUAGE sql SECURITY DEFINER SET kanon.purpose = 'care' SET kanon.recipient = 'ward' AS
    'SELECT count(*) FROM public.patients';
SET ROLE :"lab";
SET kanon.purpose = 'care';
SET kanon.recipient = 'ward';
SELECT how_many();
SELECT how_many_for_all();

-- A cursor stays with the purpose that it was opened for.
SET kanon.purpose = 'study';
SET kanon.recipient = 'lab';
BEGIN;
DECLARE c CURSOR FOR SELECT zip, count(*) FROM patients GROUP BY zip;
SET LOCAL kanon.purpose = 'care';
SET LOCAL kanon.recipient = 'ward';
FETCH ALL FROM c;
COMMIT;
-- And so does a plan that selects, looks at cells, and starts again.
SET kanon.plan = select_first;
BEGIN;
DECLARE c CURSOR FOR SELECT p.zip, p.disease FROM patients p WHERE p.disease = 'flu';
SET LOCAL kanon.purpose = 'care';
SET LOCAL kanon.recipient = 'ward';
FETCH 2 FROM c;
COMMIT;
RESET kanon.plan;

-- Grants to all roles, and to none.
RESET ROLE;
SELECT kanon.grant_access('public', 'annual report', 'press', 'patients');
SET ROLE :"nurse";
SET kanon.purpose = 'annual report';
SET kanon.recipient = 'press';
SELECT count(*) FROM patients;
RESET ROLE;
-- There are no choices for the press, and the view has no k of its own; with a k the rows are published.
SELECT kanon.alter_anonymization_view('patients', k => 4);
SET ROLE :"nurse";
SELECT zip, count(*) FROM patients GROUP BY zip ORDER BY zip;
RESET ROLE;
\set VERBOSITY terse
SELECT kanon.grant_access('nobody at all', 'care', 'ward');
SELECT kanon.grant_access('public', '', 'ward');
SELECT kanon.grant_access('public', 'care', NULL);
SELECT kanon.grant_access('public', 'care', 'ward', 'patient');
SELECT kanon.revoke_access('public', 'care', 'ward');
\set VERBOSITY default

-- The profile table belongs to the view: it cannot go, may be renamed, and must keep its key.
DROP TABLE choices;
ALTER TABLE choices DROP COLUMN k;
ALTER TABLE choices RENAME TO decisions;
ALTER TABLE decisions RENAME COLUMN k TO "how many";
SET ROLE :"nurse";
SELECT count(*) FROM patients;
RESET ROLE;
ALTER TABLE decisions DROP CONSTRAINT choices_pkey;
SET ROLE :"nurse";
SELECT count(*) FROM patients;
RESET ROLE;
CREATE UNIQUE INDEX ON decisions (recipient, purpose, name) WHERE "how many" IS NULL;
SELECT count(*) FROM patients;
CREATE UNIQUE INDEX ON decisions (recipient, purpose, name);
SELECT count(*) FROM patients;
SELECT choices, k, purpose, recipient, view_key, choices_key FROM kanon.aview_profile('patients');

DROP TABLE patient, decisions CASCADE;
SELECT count(*) FROM kanon.access_grant WHERE view <> 0;
DROP OWNED BY :"owner", :"nurse", :"staff", :"lab";
DROP ROLE :"owner", :"nurse", :"staff", :"lab";
