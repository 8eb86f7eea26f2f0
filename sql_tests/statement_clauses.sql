-- The clauses of CREATE ANONYMIZATION_VIEW, and the names in them.
SET kanon.measure_views = off;
CREATE TABLE person (id int, "Full Name" text, k int, l int, t text, "match" text, disease text);
INSERT INTO person SELECT i, 'P' || i, i % 2, i % 3, 'x' || i % 2, 'm', (ARRAY['flu', 'ulcer', 'asthma'])[1 + i % 3]
	FROM generate_series(1, 60) i;
CREATE VIEW definition AS
	SELECT view, k, l, t, match, algorithm, block_size,
		(SELECT string_agg(attname || ' ' || role || coalesce(' ' || dgh, ''), ', ' ORDER BY c.attnum)
			FROM kanon.aview_column c JOIN pg_attribute p ON p.attrelid = a.view AND p.attnum = c.attnum
				WHERE c.aview = a.id) AS columns
	FROM kanon.aview a ORDER BY a.id;

-- All of them, in any order and in any case; each is optional, but k must come from one of them.
DO LANGUAGE kanon $$
create dgh d; insert into dgh d (flu, lung), (asthma, lung), (ulcer, stomach);
create anonymization_view v1 on select * from person with
	anonymization_id id anonymization_quasi_id k, l anonymization_sensitive_attr disease dgh_name d
	k 3 l 2 t .5 match witness algorithm datafly block_size 20;
Create Anonymization_View v2 On Select * From person With
	Block_Size 30 Algorithm Datafly Match Cover T 1 L 1 K 2
	Anonymization_Sensitive_Attr disease, l Anonymization_Quasi_Id k Anonymization_Id id, "Full Name";
CREATE ANONYMIZATION_VIEW v3 ON SELECT * FROM person WITH ANONYMIZATION_OTHER * K 0;
CREATE ANONYMIZATION_VIEW v4 ON SELECT * FROM person WITH T 7e-1 K 4 ANONYMIZATION_SENSITIVE_ATTR disease;
CREATE ANONYMIZATION_VIEW v5 ON SELECT * FROM person WITH MATCH cover K +1 ANONYMIZATION_OTHER *;
CREATE ANONYMIZATION_VIEW v6 ON SELECT * FROM person WITH ANONYMIZATION_QUASI_ID l K 2
$$;
SELECT * FROM definition;
DO LANGUAGE kanon $$ CREATE ANONYMIZATION_VIEW v7 ON SELECT * FROM person WITH ANONYMIZATION_ID id; $$;
\echo :SQLSTATE
-- The grammar knows no default that the function does not have.
SELECT kanon.create_anonymization_view('f6', 'SELECT * FROM person', quasi_ids => '{"l": null}', k => 2,
    other => '{*}');
SELECT count(DISTINCT (k, l, t, match, algorithm, block_size)) FROM definition WHERE view IN ('v6'::regclass, 'f6');

-- Keywords as names: K 2 is a clause, k alone is a column.
DO LANGUAGE kanon $$
CREATE DGH k; CREATE DGH match; CREATE DGH "on"; CREATE DGH dgh; CREATE DGH insert; CREATE DGH materialized;
CREATE ANONYMIZATION_VIEW t ON SELECT * FROM person WITH
	ANONYMIZATION_ID match ANONYMIZATION_QUASI_ID k DGH_NAME k, l DGH_NAME "on", t DGH_NAME dgh K 2;
CREATE ANONYMIZATION_VIEW algorithm ON SELECT * FROM person WITH ANONYMIZATION_QUASI_ID t DGH_NAME match, l K 2;
CREATE ANONYMIZATION_VIEW "with" ON SELECT id AS with, k AS "anonymization_id", l AS "dgh_name" FROM person
	WITH ANONYMIZATION_QUASI_ID "anonymization_id", "dgh_name" ANONYMIZATION_ID "with" K 2;
$$;
SELECT * FROM definition WHERE view IN ('t'::regclass, 'algorithm', '"with"');
DO LANGUAGE kanon $$ CREATE ANONYMIZATION_VIEW k ON SELECT * FROM person WITH k REFERENCES match (k, l) K 2 $$;
\echo :SQLSTATE

-- Names as in PostgreSQL: folded unless quoted, cut at 63 bytes, schemas.
CREATE SCHEMA "My Schema";
CREATE TABLE "Odd ""Table""" ("Col; WITH K 5" int, "a""b" int, "Ünï" int, très_long int);
DO LANGUAGE kanon $$
CREATE DGH "Upper "";-- $x$ Case";
CREATE DGH Lower;
CREATE DGH a123456789b123456789c123456789d123456789e123456789f123456789g123456789;
CREATE ANONYMIZATION_VIEW "My Schema"."View.1" ON SELECT * FROM "Odd ""Table"""
	WITH ANONYMIZATION_QUASI_ID "Col; WITH K 5" DGH_NAME "Upper "";-- $x$ Case", "a""b" DGH_NAME LOWER, "Ünï", TRèS_LONG
		DGH_NAME a123456789b123456789c123456789d123456789e123456789f123456789g123456789
	K 2;
CREATE ANONYMIZATION_VIEW PUBLIC.Folded ON SELECT * FROM person WITH ANONYMIZATION_ID ID K 2;
CREATE ANONYMIZATION_VIEW pg_temp.temporary ON SELECT * FROM person WITH ANONYMIZATION_ID "id" K 2;
$$;
SELECT view, columns FROM definition WHERE view IN ('"My Schema"."View.1"'::regclass, 'folded', 'temporary');
SELECT relpersistence FROM pg_class WHERE oid = 'temporary'::regclass;
DO LANGUAGE kanon $$ DROP ANONYMIZATION_VIEW "My Schema"."View.1"; DROP ANONYMIZATION_VIEW FOLDED;
	DROP ANONYMIZATION_VIEW temporary $$;
SELECT to_regclass('"My Schema"."View.1"'), to_regclass('folded'), to_regclass('temporary');

-- Comments and empty statements, as anywhere in SQL.
DO LANGUAGE kanon $$
;;  -- nothing; CREATE DGH no1;
/* CREATE DGH no2; /* nested ' " */ still ; */
CREATE/**/DGH--x
  commented /* */ ; /**/ ; INSERT INTO DGH commented/* a, b */ c /* , */ , -- d
  e/*f*/; -- at the end $$;
DO LANGUAGE kanon '';
DO LANGUAGE kanon '-- only a comment';
SELECT * FROM kanon.dgh_edge WHERE dgh = 'commented';
SELECT name FROM kanon.dgh WHERE name LIKE 'no_';

-- In a transaction, and not in a read-only one.
BEGIN; DO LANGUAGE kanon 'CREATE DGH gone'; ROLLBACK;
SELECT count(*) FROM kanon.dgh WHERE name = 'gone';
BEGIN READ ONLY; DO LANGUAGE kanon 'CREATE DGH gone';
\echo :SQLSTATE
ROLLBACK;
-- Each statement sees the effects of the statements before it, also when a function runs the block.
CREATE FUNCTION make_and_drop() RETURNS bigint LANGUAGE plpgsql AS $f$
BEGIN
	EXECUTE $d$ DO LANGUAGE kanon $$ CREATE DGH inner_d; INSERT INTO DGH inner_d flu, illness;
		CREATE ANONYMIZATION_VIEW inner_v ON SELECT *
			FROM person WITH ANONYMIZATION_QUASI_ID disease DGH_NAME inner_d K 2;
		DROP ANONYMIZATION_VIEW inner_v; DROP DGH inner_d $$ $d$;
	RETURN (SELECT count(*) FROM kanon.dgh WHERE name = 'inner_d');
END $f$;
SELECT make_and_drop();
