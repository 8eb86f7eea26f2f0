-- Functions, operators and error messages of an analyst see published values only, in every plan and for every match
-- mode.
\set dir `echo "$PG_ABS_SRCDIR"`
\set people :dir '/data/people.sql'
\i :people
SET ROLE :"owner";
GRANT SELECT ON people, witnessed TO :"analyst";
RESET ROLE;
CREATE SCHEMA attic AUTHORIZATION :"analyst";
SET search_path = attic, public;

SET ROLE :"analyst";
CREATE TEMP TABLE seen (what text);

-- Cheap enough to come first, and eager to tell.
CREATE FUNCTION tell(text) RETURNS boolean LANGUAGE plpgsql STABLE COST 0.0000001 AS $$
BEGIN
	RAISE NOTICE '%', $1;
	RETURN true;
END
$$;
CREATE FUNCTION tell_equal(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 0.0000001 AS $$
BEGIN
	RAISE NOTICE '%', $1;
	RETURN $1 = $2;
END
$$;
CREATE OPERATOR === (LEFTARG = text, RIGHTARG = text, FUNCTION = tell_equal, RESTRICT = eqsel, JOIN = eqjoinsel);
-- Keep the argument, as an attacker's function would.
CREATE FUNCTION keep(text) RETURNS boolean LANGUAGE plpgsql VOLATILE COST 0.0000001 AS $$
BEGIN
	INSERT INTO seen VALUES ($1);
	RETURN true;
END
$$;
-- Run a query, and keep the values that the functions saw, also when an error ends it.
CREATE FUNCTION listen(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLERRM;
END
$$;
-- The values that only a raw row has: Lonely's values, and ages and zips that are published generalized.
CREATE FUNCTION is_raw(text) RETURNS boolean LANGUAGE sql AS $$
	SELECT $1 ~ 'Lonely|plague|9x9|^99$|"99"' OR $1 ~ '^p[0-9]+$'
$$;

-- The published row of Lonely, and the form of all others.
SELECT * FROM people WHERE ward = 77;
SELECT count(*) FROM people WHERE zip::text ~ '^\d+$' AND age::text ~ '^\d+$';

-- 1. Volatile functions in every place of a query.
DO $$
DECLARE
	plan text;
	view text;
	query text;
BEGIN
	FOREACH plan IN ARRAY '{auto, anonymize_first, select_first, function}'::text[] LOOP
		PERFORM set_config('kanon.plan', plan, false);
		FOREACH view IN ARRAY '{people, witnessed}'::text[] LOOP
			FOREACH query IN ARRAY ARRAY [
				'SELECT count(*) FROM %s WHERE keep(name) AND keep(age::text) AND keep(zip::text) AND keep(disease) '
					'AND ward = 77',
				'SELECT count(*) FROM %s WHERE ward = 77 AND disease IS NOT DISTINCT FROM NULL AND keep(disease)',
				'SELECT count(*) FROM %s WHERE (ward = 77 AND keep(disease)) OR keep(name)',
				'SELECT count(*) FROM %s WHERE CASE WHEN disease = ''plague'' THEN keep(''plague'') END',
				'SELECT count(*) FROM %s WHERE age = 99 AND zip = ''9x9'' AND keep(disease) AND keep(age)',
				'SELECT count(*) FROM %s WHERE CASE WHEN age = 99 AND zip = ''9x9'' '
					'AND disease IS NOT NULL THEN keep(''plague'') END',
				'SELECT count(*) FROM %s AS v WHERE keep(v::text)',
				'SELECT keep(name), keep(age), keep(zip), keep(disease) FROM %s WHERE ward = 77',
				'SELECT count(*) FROM %s v JOIN (VALUES (77), (3)) AS x (w) ON v.ward = x.w AND keep(v.disease) '
					'AND keep(v.age)',
				'SELECT count(*) FROM (VALUES (77), (3)) AS x (w), LATERAL (SELECT * FROM %s WHERE ward = w '
					'AND keep(disease)) s',
				'SELECT count(*) FROM %s GROUP BY zip HAVING keep(zip) AND keep(max(disease))',
				'SELECT count(*) FILTER (WHERE keep(disease)) FROM %s WHERE ward = 77',
				'SELECT 1 FROM %s WHERE ward = 77 ORDER BY keep(disease), keep(age)',
				'SELECT EXISTS (SELECT FROM %s WHERE ward = 77 AND keep(disease) AND keep(zip))']
			LOOP
				EXECUTE format(query, view);
			END LOOP;
		END LOOP;
	END LOOP;
	RESET kanon.plan;
END
$$;
SELECT count(*) > 5000 AS "there was much to see", count(*) FILTER (WHERE is_raw(what)) AS raw FROM seen;
TRUNCATE seen;

-- 2. Functions that are said to be stable or immutable may go to the source: they tell by notices.
SET client_min_messages = notice;
SET kanon.plan = select_first;
SELECT count(*) FROM people WHERE tell(disease) AND ward = 77;
SELECT count(*) FROM witnessed WHERE tell(disease) AND ward = 77 AND age = 99;
SELECT count(*) FROM people WHERE disease === 'plague' AND ward = 77;
SELECT count(*) FROM people WHERE name === 'Lonely' AND ward = 77;
SELECT count(*) FROM people WHERE zip === '9x9' AND ward = 77;
SELECT count(*) FROM people WHERE tell(ward::text) AND ward = 77;
SELECT count(*) FROM people v JOIN (VALUES (77)) AS x (w) ON v.ward = w AND v.disease === 'plague';
RESET kanon.plan;

-- 3. Rows that the source leaves out are as hidden.
SET ROLE :"owner";
SELECT kanon.create_anonymization_view('small',
	'SELECT name, zip, ward, note FROM person WHERE ward = 3 AND name < ''p13''',
	id => '{name}', quasi_ids => '{"zip": "zips"}', k => 2, other => '{ward, note}');
SELECT kanon.create_anonymization_view('joined',
	'SELECT p.name, p.zip, p.ward, p.note FROM person p JOIN (VALUES (3)) AS x (w) ON x.w = p.ward '
		'WHERE p.name < ''p13''',
	id => '{name}', quasi_ids => '{"zip": "zips"}', k => 2, other => '{ward, note}');
GRANT SELECT ON small, joined TO :"analyst";
SET ROLE :"analyst";
SET kanon.plan = select_first;
SELECT count(*) FROM small;
-- What a function sees, sorted: rows come in random order.
CREATE FUNCTION remember(text) RETURNS boolean LANGUAGE sql COST 0.0001 AS $$
	SELECT set_config('test.seen', current_setting('test.seen') || $1 || ';', false) <> '' $$;
SET test.seen = '';
SELECT count(*) FROM small WHERE remember(note);
SELECT seen FROM string_to_table(current_setting('test.seen'), ';') AS seen WHERE seen <> '' ORDER BY seen;
SET test.seen = '';
SELECT count(*) FROM joined WHERE remember(note) AND NOT remember(note);
SELECT seen FROM string_to_table(current_setting('test.seen'), ';') AS seen WHERE seen <> '' ORDER BY seen;
DO $$
BEGIN
	PERFORM count(*) FROM small WHERE note::integer > 0;
EXCEPTION WHEN invalid_text_representation THEN
	RAISE NOTICE 'an error names %', CASE WHEN SQLERRM ~ '"note 1[012]3"$' THEN 'a published note' ELSE SQLERRM END;
END
$$;
RESET kanon.plan;

-- 4. Errors name published values.
DO $$
DECLARE
	plan text;
	view text;
	query text;
	heard text;
	total integer := 0;
BEGIN
	FOREACH plan IN ARRAY '{auto, anonymize_first, select_first, function}'::text[] LOOP
		PERFORM set_config('kanon.plan', plan, false);
		FOREACH view IN ARRAY '{people, witnessed}'::text[] LOOP
			FOREACH query IN ARRAY ARRAY [
				'SELECT count(*) FROM %s WHERE ward = 77 AND disease::integer > 0',
				'SELECT count(*) FROM %s WHERE ward = 77 AND zip::text::integer > 0',
				'SELECT count(*) FROM %s WHERE ward = 77 AND 1 / (99 - coalesce((age::text)::integer, 0)) > 0',
				'SELECT count(*) FROM %s WHERE ward = 77 AND name::integer > 0',
				'SELECT count(*) FROM %s WHERE age = 99 AND zip::numrange IS NOT NULL',
				'SELECT count(*) FROM %s WHERE disease = ''plague'' AND 1 / (ward - 77) > 0',
				'SELECT count(*) FROM %s WHERE CASE WHEN disease = ''plague'' THEN 1 / (ward - ward) > 0 END',
				'SELECT count(*) FROM %s v WHERE ward = 77 AND v::text::integer > 0']
			LOOP
				heard := listen(format(query, view));
				total := total + 1;
				IF is_raw(heard) OR heard ~ 'division' THEN
					RAISE WARNING '% %: %', plan, format(query, view), heard;
				END IF;
			END LOOP;
		END LOOP;
	END LOOP;
	RESET kanon.plan;
	RAISE NOTICE '% queries', total;
END
$$;

-- 5. An error of the source itself says nothing but its SQLSTATE, unless one may read the source.
SET ROLE :"owner";
SELECT kanon.create_anonymization_view('fragile',
	'SELECT name, zip, (CASE WHEN ward < 80 THEN ward::text ELSE note END)::integer AS ward FROM person',
	id => '{name}', quasi_ids => '{"zip": "zips"}', k => 2, other => '{ward}');
UPDATE person SET ward = 80 WHERE name = 'Lonely';
GRANT SELECT ON fragile TO :"analyst";
\set VERBOSITY sqlstate
SELECT count(ward) FROM fragile;
\set VERBOSITY default
SELECT count(ward) FROM fragile;
SET ROLE :"analyst";
SELECT count(ward) FROM fragile;
\set VERBOSITY sqlstate
SELECT count(ward) FROM fragile;
\set VERBOSITY default
SET kanon.plan = function;
SELECT count(ward) FROM fragile;
RESET kanon.plan;
SET ROLE :"owner";
UPDATE person SET ward = 77 WHERE name = 'Lonely';

-- 6. PostgreSQL's own counters of rows read are a channel that doc/security.md describes: a row that an index on a
-- sensitive column finds is counted, be it suppressed. The advice given there closes it.
CREATE TABLE sick (id integer PRIMARY KEY, age integer, disease text);
INSERT INTO sick SELECT i, 20, 'flu' FROM generate_series(1, 50) AS i UNION ALL VALUES (51, 70, 'plague'),
	(52, 80, 'plague'), (53, 90, 'gout');
CREATE INDEX ON sick (disease);
ANALYZE sick;
SELECT kanon.create_anonymization_view('sicks', 'SELECT * FROM sick', id => '{id}', quasi_ids => '{"age": null}',
	sensitive => '{"disease": null}', k => 5);
GRANT SELECT ON sicks TO :"analyst";
SET ROLE :"analyst";
BEGIN;
SET LOCAL kanon.plan = select_first;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
SELECT idx_tup_fetch AS nothing FROM pg_stat_xact_user_tables WHERE relname = 'sick' \gset
SELECT count(*) FROM sicks WHERE disease = 'plague';
SELECT idx_tup_fetch AS plague FROM pg_stat_xact_user_tables WHERE relname = 'sick' \gset
SELECT count(*) FROM sicks WHERE disease = 'gout';
SELECT idx_tup_fetch AS gout FROM pg_stat_xact_user_tables WHERE relname = 'sick' \gset
SELECT :plague - :nothing - (:gout - :plague) AS "how many more have the plague than the gout";
RESET ROLE;
DO $$
DECLARE
	counter regprocedure;
BEGIN
	FOR counter IN SELECT oid FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ^@ 'pg_stat_get_'
		AND proargtypes = '26' LOOP
		EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', counter);
	END LOOP;
END
$$;
SET ROLE :"analyst";
\set VERBOSITY terse
SAVEPOINT before;
SELECT pg_stat_get_xact_tuples_fetched('sick_disease_idx'::regclass);
ROLLBACK TO before;
SELECT sum(seq_tup_read), sum(idx_tup_fetch) FROM pg_stat_xact_all_tables;
ROLLBACK TO before;
SELECT sum(idx_tup_read) FROM pg_stat_all_indexes;
ROLLBACK TO before;
SELECT sum(heap_blks_hit) FROM pg_statio_all_tables;
ROLLBACK TO before;
SELECT sum(tup_fetched) FROM pg_stat_database;
ROLLBACK;
\set VERBOSITY default
SET ROLE :"owner";
DROP TABLE sick CASCADE;

\set end :dir '/data/people_end.sql'
\i :end
