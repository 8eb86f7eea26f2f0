-- An A-view behaves as a view: renaming, moving, changing owners, dropping, and dependencies.
\set dir `echo "$PG_ABS_SRCDIR"`
\set people :dir '/data/people.sql'
\i :people
\set VERBOSITY terse
SET ROLE :"owner";
CREATE TEMP TABLE before AS TABLE people;
-- Compare the view's rows of before with its rows of now, under today's column names.
CREATE FUNCTION pg_temp.differs(view text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	result bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM ((TABLE before EXCEPT ALL TABLE %1$s) '
		'UNION ALL (TABLE %1$s EXCEPT ALL TABLE before)) d', view) INTO result;
	RETURN result;
END
$$;

-- Names: of the view, its columns, its schema, the table, the table's columns, a hierarchy.
ALTER VIEW people RENAME TO folk;
SELECT pg_temp.differs('folk');
ALTER VIEW folk RENAME COLUMN zip TO "Zip Code";
SELECT pg_temp.differs('folk');
SELECT count(*) FROM folk WHERE "Zip Code" = '013';
SELECT * FROM kanon.generalization_sequence('folk') LIMIT 2;
RESET ROLE;
CREATE SCHEMA elsewhere AUTHORIZATION :"owner";
SET ROLE :"owner";
ALTER VIEW folk SET SCHEMA elsewhere;
SELECT pg_temp.differs('elsewhere.folk');
ALTER TABLE person RENAME TO patient;
ALTER TABLE patient RENAME COLUMN age TO years;
ALTER TABLE patient SET SCHEMA elsewhere;
SELECT pg_temp.differs('elsewhere.folk');
UPDATE kanon.dgh SET name = 'decades' WHERE name = 'ages';
SELECT pg_temp.differs('elsewhere.folk');
RESET ROLE;
ALTER SCHEMA elsewhere RENAME TO there;
SET ROLE :"owner";
SELECT pg_temp.differs('there.folk');
SELECT kanon.alter_anonymization_view('there.folk', k => 1000);
SELECT count(*), count(disease) FROM there.folk;
SELECT kanon.alter_anonymization_view('there.folk', k => 4);
SELECT kanon.refresh_sequence('there.folk');
SELECT pg_temp.differs('there.folk');
ALTER VIEW there.folk SET SCHEMA public;
ALTER TABLE there.patient SET SCHEMA public;
COMMENT ON VIEW folk IS 'anonymous people';
\d folk

-- The table changes in ways that the view does not see.
ALTER TABLE patient ADD COLUMN new integer DEFAULT 7;
ALTER TABLE patient DROP COLUMN note;
SELECT pg_temp.differs('folk');
-- And in ways that it would.
ALTER TABLE patient DROP COLUMN zip;
ALTER TABLE patient ALTER COLUMN zip TYPE varchar;
DROP TABLE patient;

-- Given away: the new owner's rights count.
RESET ROLE;
GRANT CREATE ON SCHEMA public TO :"analyst";
ALTER VIEW folk OWNER TO :"analyst";
SET ROLE :"analyst";
SELECT count(*) FROM folk;
RESET ROLE;
GRANT SELECT ON patient TO :"analyst";
SET ROLE :"analyst";
SELECT count(*) FROM folk;
SELECT kanon.alter_anonymization_view('folk', k => 4);
RESET ROLE;
ALTER VIEW folk OWNER TO :"owner";
REVOKE SELECT ON patient FROM :"analyst";
SET ROLE :"owner";
SELECT kanon.alter_anonymization_view('folk', k => 4);
SET ROLE :"analyst";
SELECT kanon.alter_anonymization_view('folk', k => 4);

-- Views on top.
SET ROLE :"owner";
CREATE VIEW upper AS SELECT "Zip Code" AS zip, count(*) AS patients FROM folk GROUP BY 1;
CREATE MATERIALIZED VIEW stored AS SELECT * FROM upper;
SELECT sum(patients) FROM upper;
SELECT sum(patients) FROM stored;
DROP VIEW folk;
SELECT kanon.drop_anonymization_view('folk');
\d upper

-- Hierarchies in use stay.
\set VERBOSITY default
\set SHOW_CONTEXT never
SELECT kanon.drop_dgh('zips');
DELETE FROM kanon.dgh WHERE name = 'decades';
DO $$
BEGIN
	PERFORM kanon.drop_dgh('zips');
EXCEPTION WHEN dependent_objects_still_exist THEN
	RAISE NOTICE 'SQLSTATE %', SQLSTATE;
END
$$;

-- Its owner may replace its query by another: then it is no A-view, and kanon says so.
CREATE OR REPLACE VIEW witnessed AS SELECT name, years::text::kanon.generalized AS age, zip::kanon.generalized AS zip,
	disease, ward FROM patient;
SELECT count(*) FROM kanon.scan('witnessed') AS s (n text, a kanon.generalized, z kanon.generalized, d text, w integer);
SELECT kanon.refresh_sequence('witnessed');
SELECT kanon.drop_anonymization_view('witnessed');

-- Dropping: by any statement, the definition goes too.
RESET ROLE;
SELECT view FROM kanon.aview ORDER BY id;
SET ROLE :"owner";
SELECT kanon.create_anonymization_view('one', 'SELECT * FROM patient', quasi_ids => '{"zip": "zips"}', k => 2,
    other => '{*}');
SELECT kanon.create_anonymization_view('two', 'SELECT * FROM one', quasi_ids => '{"ward": null}', k => 2);
SELECT kanon.drop_anonymization_view('one');
DROP VIEW one CASCADE;
SELECT kanon.create_anonymization_view('one', 'SELECT * FROM patient', quasi_ids => '{"zip": "zips"}', k => 2,
    other => '{*}');
SELECT kanon.drop_anonymization_view('one');
RESET ROLE;
CREATE SCHEMA gone AUTHORIZATION :"owner";
SET ROLE :"owner";
SELECT kanon.create_anonymization_view('gone.three', 'SELECT * FROM patient', quasi_ids => '{"zip": "zips"}', k => 2,
    other => '{*}');
DROP SCHEMA gone CASCADE;
RESET ROLE;
SELECT view FROM kanon.aview ORDER BY id;
SET ROLE :"owner";
BEGIN;
DROP TABLE patient CASCADE;
ROLLBACK;
SELECT pg_temp.differs('folk');
DROP TABLE patient CASCADE;
RESET ROLE;
SELECT (SELECT count(*) FROM kanon.aview) AS views, (SELECT count(*) FROM kanon.aview_column) AS columns,
	(SELECT count(*) FROM kanon.aview_step) AS steps;
SET ROLE :"owner";
SELECT kanon.drop_dgh('zips');

-- Temporary ones: of tables that are, or in pg_temp; they end with the session.
CREATE TEMP TABLE visitor AS SELECT i AS id, i % 5 AS ward FROM generate_series(1, 20) i;
SELECT kanon.create_dgh('wards');
SELECT kanon.create_anonymization_view('visitors', 'SELECT * FROM visitor', id => '{id}',
	quasi_ids => '{"ward": "wards"}', k => 3);
SELECT kanon.create_anonymization_view('pg_temp.guests', 'SELECT 1 AS ward', quasi_ids => '{"ward": "wards"}', k => 3);
SELECT ward, count(*) FROM visitors GROUP BY ward ORDER BY ward;
SELECT * FROM guests;
-- A temporary relation of the same name does not take the place of a view.
CREATE TEMP TABLE shadowed (a integer);
SELECT kanon.create_anonymization_view('shadowed', 'SELECT 1 AS ward, 2 AS b', quasi_ids => '{"ward": "wards"}',
	k => 3, other => '{b}');
SELECT * FROM public.shadowed;
SELECT kanon.drop_anonymization_view('public.shadowed');
SELECT relname, relnamespace = pg_my_temp_schema() AS temporary FROM pg_class
	WHERE relname IN ('visitors', 'guests', 'shadowed') ORDER BY relname;
RESET ROLE;
SELECT view FROM kanon.aview ORDER BY id;
\c -
SELECT current_database() || '_owner' AS owner, current_database() || '_analyst' AS analyst \gset
DO $$
BEGIN
	WHILE EXISTS (SELECT FROM pg_class WHERE relname = 'visitors') LOOP
		PERFORM pg_sleep(0.01);
	END LOOP;
END
$$;
SET ROLE :"owner";
-- The definitions of dropped temporary views do not keep the hierarchy.
SELECT kanon.drop_dgh('wards');
RESET ROLE;
SELECT count(*) FROM kanon.aview;

\set end :dir '/data/people_end.sql'
\i :end
