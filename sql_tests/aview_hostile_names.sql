-- Names, labels and search paths chosen to do harm.
\set dir `echo "$PG_ABS_SRCDIR"`
\set people :dir '/data/people.sql'
\i :people
\set SHOW_CONTEXT never
-- 1. Identifiers that need quotes, everywhere: schema, view, table, columns, types, hierarchies, labels.
CREATE SCHEMA "Größe; DROP" AUTHORIZATION :"owner";
SET ROLE :"owner";
SET search_path = "Größe; DROP";
CREATE DOMAIN "dom""ain" AS text;
CREATE TYPE "en'um" AS ENUM ('a', 'b"', 'c''');
CREATE TABLE "a ""table"" of 'people'" ("select" text, "Alter" integer, "PLZ'); DROP TABLE x; --" "dom""ain",
	"ключ" "en'um", "scan" varchar(7), "$1" numeric(8, 2));
INSERT INTO "a ""table"" of 'people'" SELECT 'n' || i, i % 9,
	(ARRAY ['x''y', '"', '*/', '''; SELECT 1', E'\\', 'é'])[1 + i % 6],
	(ARRAY ['a', 'b"', 'c'''])[1 + i % 3]::"en'um", 's' || i % 4, i FROM generate_series(1, 60) AS i;
SELECT kanon.create_dgh('h"i''e; r');
INSERT INTO kanon.dgh_edge VALUES ('h"i''e; r', 'x''y', '''}'), ('h"i''e; r', '"', '''}'), ('h"i''e; r', '*/', '('),
	('h"i''e; r', '''; SELECT 1', '('), ('h"i''e; r', E'\\', '(');
SELECT kanon.create_anonymization_view('"V""ie''w"', 'SELECT * FROM "a ""table"" of ''people''"', id => '{select}',
	quasi_ids => '{"Alter": "ages", "PLZ''); DROP TABLE x; --": "h\"i''e; r"}', sensitive => '{"ключ": null}', k => 5,
	l => 2, other => '{*}');
SELECT "PLZ'); DROP TABLE x; --" AS plz, "ключ", count(*) FROM "V""ie'w" GROUP BY 1, 2 ORDER BY 1, 2;
SET kanon.plan = select_first;
SELECT "Alter", "$1", scan FROM "V""ie'w" WHERE "$1" = 7;
SELECT count(*) FROM "V""ie'w" WHERE scan = 's3' AND "PLZ'); DROP TABLE x; --" = '''; SELECT 1';
EXPLAIN (COSTS OFF) SELECT * FROM "V""ie'w" WHERE scan = 's3' AND "PLZ'); DROP TABLE x; --" = '''; SELECT 1';
RESET kanon.plan;
SELECT kanon.alter_anonymization_view('"Größe; DROP"."V""ie''w"', match => 'witness');
SELECT count(*) FROM "V""ie'w" WHERE "PLZ'); DROP TABLE x; --" = '''; SELECT 1';
SELECT count(*) FROM kanon.scan('"Größe; DROP"."V""ie''w"') AS s (a text, b kanon.generalized, c kanon.generalized,
	d "en'um", e varchar, f numeric);
SELECT kanon.drop_dgh('h"i''e; r');
SELECT kanon.drop_anonymization_view('"V""ie''w"');
RESET search_path;

-- 2. The analyst's search path: objects of his own in front of everything.
SET ROLE :"owner";
GRANT SELECT ON people, witnessed TO :"analyst";
CREATE TABLE before AS SELECT * FROM people;
GRANT SELECT ON before TO :"analyst";
RESET ROLE;
CREATE SCHEMA hostile AUTHORIZATION :"analyst";
GRANT USAGE ON SCHEMA hostile TO :"owner";
SET ROLE :"analyst";
CREATE TABLE hostile.person (name text, age integer, zip text, disease text, ward integer, note text);
INSERT INTO hostile.person VALUES ('mine', 1, 'mine', 'mine', 1, 'mine');
CREATE TEMP TABLE person (LIKE hostile.person);
CREATE TEMP TABLE aview (id integer, view regclass, k integer);
CREATE TABLE hostile.aview (LIKE aview);
CREATE FUNCTION hostile.never(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RAISE NOTICE 'compared % with %', $1, $2;
	RETURN true;
END
$$;
CREATE FUNCTION hostile.never(integer, bigint) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION hostile.never(integer, integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION hostile.never(kanon.generalized, kanon.generalized) RETURNS boolean
	LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE OPERATOR hostile.= (LEFTARG = text, RIGHTARG = text, FUNCTION = hostile.never);
CREATE OPERATOR hostile.^@ (LEFTARG = text, RIGHTARG = text, FUNCTION = hostile.never);
CREATE OPERATOR hostile.>= (LEFTARG = integer, RIGHTARG = bigint, FUNCTION = hostile.never);
CREATE OPERATOR hostile.<= (LEFTARG = integer, RIGHTARG = bigint, FUNCTION = hostile.never);
CREATE OPERATOR hostile.= (LEFTARG = integer, RIGHTARG = bigint, FUNCTION = hostile.never);
CREATE OPERATOR hostile.= (LEFTARG = integer, RIGHTARG = integer, FUNCTION = hostile.never);
CREATE OPERATOR hostile.<> (LEFTARG = oid, RIGHTARG = oid, FUNCTION = pg_catalog.oideq);
CREATE FUNCTION hostile.nextval(regclass) RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint';
CREATE FUNCTION hostile.scan(text) RETURNS SETOF hostile.person LANGUAGE sql AS 'TABLE hostile.person';
CREATE DOMAIN hostile.text AS pg_catalog.text CHECK (value = 'never');
SET search_path = pg_temp, hostile, pg_catalog, public;
SET kanon.plan = select_first;
SELECT count(*) FROM public.people WHERE ward OPERATOR(pg_catalog.=) 77;
SELECT count(*) FROM public.witnessed WHERE zip OPERATOR(pg_catalog.=) '013'::kanon.generalized
	AND age OPERATOR(pg_catalog.=) 27;
SET kanon.plan = anonymize_first;
SELECT count(*) FROM public.people WHERE ward OPERATOR(pg_catalog.=) 77;
SELECT count(*) FROM public.witnessed WHERE zip OPERATOR(pg_catalog.=) '013'::kanon.generalized
	AND age OPERATOR(pg_catalog.=) 27;
RESET kanon.plan;
SELECT count(*) FROM ((TABLE public.people EXCEPT ALL TABLE public.before)
	UNION ALL (TABLE public.before EXCEPT ALL TABLE public.people)) d;
SELECT kanon.create_anonymization_view('mine', 'SELECT name, zip FROM hostile.person', quasi_ids => '{"zip": "zips"}',
	k => 2, other => '{name}');
SELECT kanon.drop_anonymization_view('mine');
-- 3. The owner's search path, with the analyst's schema in front: the extension's own names do not go through it.
SET ROLE :"owner";
RESET search_path;
SET search_path = hostile, public, pg_catalog;
SET client_min_messages = notice;
SELECT kanon.create_anonymization_view('public.again', 'SELECT name, age, zip, disease, ward FROM public.person',
	id => '{name}',
	quasi_ids => '{"age": "ages", "zip": "zips"}', sensitive => '{"disease": null}', k => 4, other => '{ward}');
SELECT count(*) FROM ((TABLE public.again EXCEPT ALL TABLE public.before)
	UNION ALL (TABLE public.before EXCEPT ALL TABLE public.again)) d;
SELECT kanon.alter_anonymization_view('public.again', k => 5);
SELECT kanon.refresh_sequence('public.again');
SELECT count(*) FROM kanon.uncovered('public.again');
SELECT kanon.drop_anonymization_view('public.again');
RESET ROLE;
SET search_path = hostile, public, pg_catalog;
SELECT count(*) FROM kanon.aview;
DROP VIEW public.people;
SELECT kanon.drop_dgh('zips');
DROP VIEW public.witnessed;
SELECT count(*) FROM kanon.aview;
SELECT kanon.drop_dgh('zips');
RESET search_path;

\set end :dir '/data/people_end.sql'
\i :end
