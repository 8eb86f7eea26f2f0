-- Code that a relation's owner has planted never runs with the rights of the auditor of the relation.
\set dir `echo "$PG_ABS_SRCDIR"`
\set people :dir '/data/people.sql'
\i :people
\set SHOW_CONTEXT never
CREATE TABLE ran (by name, what text);
GRANT INSERT ON ran TO PUBLIC;
CREATE TABLE secret (word text);
INSERT INTO secret VALUES ('the administrator''s');
SET ROLE :"owner";
CREATE FUNCTION trap(what text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	INSERT INTO public.ran VALUES (current_user, what);
	RETURN what;
END
$$;
CREATE FUNCTION trap_is_true(what text) RETURNS boolean LANGUAGE sql AS 'SELECT public.trap(what) IS NOT NULL';

-- A view with functions, row security that is forced, a generated column and a domain with a check.
CREATE VIEW planted_view AS SELECT trap('view') AS a, zip AS b, disease AS s FROM person WHERE trap_is_true('where');
CREATE TABLE planted_table (a text, b text, s text);
INSERT INTO planted_table SELECT 'a', 'b', 's' FROM generate_series(1, 3);
ALTER TABLE planted_table ENABLE ROW LEVEL SECURITY;
ALTER TABLE planted_table FORCE ROW LEVEL SECURITY;
CREATE POLICY p ON planted_table USING (trap_is_true('policy'));
CREATE DOMAIN planted_domain AS text CHECK (trap_is_true('domain'));
CREATE VIEW planted_type AS SELECT zip::planted_domain AS a, name AS b, disease AS s FROM person;
CREATE VIEW planted_register AS SELECT trap(zip) AS zip FROM person;
-- Names in a schema of the owner's that hide PostgreSQL's own.
CREATE FUNCTION public.count(integer) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint FROM public.trap(''count'')';
CREATE FUNCTION public.not_less(bigint, integer) RETURNS boolean
	LANGUAGE sql AS 'SELECT public.trap_is_true(''operator'')';
CREATE OPERATOR public.< (LEFTARG = bigint, RIGHTARG = integer, FUNCTION = public.not_less);
CREATE FUNCTION public.trap_names(name, text) RETURNS boolean
	LANGUAGE sql AS 'SELECT public.trap_is_true(''operator'')';
CREATE OPERATOR public.= (LEFTARG = name, RIGHTARG = text, FUNCTION = public.trap_names);
SELECT kanon.create_anonymization_view('planted',
	'SELECT name, trap(zip) AS zip, disease::planted_domain AS disease, ward FROM person '
		'WHERE trap_is_true(''source'')', id => '{name}',
	quasi_ids => '{"zip": "zips"}', sensitive => '{"disease": null}', k => 4, other => '{ward}');

-- The administrator's turn, with the hostile schema in front.
RESET ROLE;
TRUNCATE ran;
SET search_path = public, pg_catalog;
SELECT k > 0 AS k FROM kanon.k_anonymity('planted_view', '{a,b}', 's');
SELECT k FROM kanon.k_anonymity('planted_table', '{a,b}');
SELECT k > 0 AS k FROM kanon.k_anonymity('planted_type', '{a,b}', 's');
SELECT k > 0 AS k FROM kanon.k_anonymity('planted', '{zip,ward}', 'disease');
SELECT pg_catalog.count(*) > 0 AS some FROM kanon.violations('planted_view', '{a,b}', 1000);
SELECT pg_catalog.count(*) > 0 AS some FROM kanon.violations('planted_type', '{a}', 1000);
SELECT rows > 0 AS rows FROM kanon.quality('planted');
SELECT rows > 0 AS rows FROM kanon.quality('planted', $$disease = 'flu' AND zip = '001'$$);
SELECT pg_catalog.count(*) > 0 AS some FROM kanon.tally('planted');
SELECT pg_catalog.count(*) > 0 AS some FROM kanon.audit('planted');
SELECT pg_catalog.count(*) > 0 AS some FROM kanon.audit('planted', population => 'planted_register');
SELECT pg_catalog.length(kanon.report('planted')) > 1000 AS page;
SELECT pg_catalog.count(*) > 0 AS some FROM kanon.linkage('planted', 'planted_register', '{zip}');
SELECT pg_catalog.count(*) > 0 AS some FROM kanon.linked_groups('planted', 'planted_register', '{zip}');
RESET search_path;
SELECT DISTINCT replace(by, current_database(), '') AS by FROM ran;
SELECT DISTINCT what FROM ran WHERE what IN ('view', 'where', 'policy', 'domain', 'source', 'count', 'operator')
	ORDER BY what;
TRUNCATE ran;

-- It cannot become the administrator again, nor read tables that only the administrator may read, nor leave a setting
-- behind.
SET ROLE :"owner";
CREATE OR REPLACE FUNCTION trap(what text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	RESET ROLE;
	INSERT INTO public.ran SELECT current_user, word FROM public.secret;
	RETURN what;
END
$$;
RESET ROLE;
SELECT kanon.k_anonymity('planted_view', '{a}');
SELECT kanon.quality('planted');
SET ROLE :"owner";
CREATE OR REPLACE FUNCTION trap(what text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	PERFORM set_config('search_path', 'nowhere', false);
	RETURN what;
END
$$;
RESET ROLE;
SELECT k FROM kanon.k_anonymity('planted_view', '{a}');
SHOW search_path;
SELECT pg_get_userbyid(datdba) = current_user AS "still himself", count(ran) FROM pg_database LEFT JOIN ran ON true
WHERE datname = current_database() GROUP BY datdba;

-- A role that may not read a relation or one of its columns learns nothing of its classes; of its rows, those count
-- that the role may see.
SET ROLE :"analyst";
SELECT kanon.k_anonymity('person', '{age}');
SELECT kanon.violations('person', '{age}', 2);
SELECT kanon.linkage('people', 'person', '{age}');
RESET ROLE;
GRANT SELECT ON planted_table TO :"analyst";
GRANT SELECT (age) ON person TO :"analyst";
SET ROLE :"analyst";
SELECT kanon.k_anonymity('planted_table', '{a}');
SELECT k FROM kanon.k_anonymity('person', '{age}');
SELECT kanon.k_anonymity('person', '{age,zip}');
SELECT kanon.k_anonymity('person', '{age}', 'disease');
RESET ROLE;
DROP TABLE ran, secret;
\set end :dir '/data/people_end.sql'
\i :end
