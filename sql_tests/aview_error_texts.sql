-- Errors in the source quote raw values, whatever their SQLSTATE; a role that may not read the source gets none of it.
SET client_min_messages = warning;
SET kanon.measure_views = off;
CREATE ROLE error_reader;
CREATE TABLE person (id int PRIMARY KEY, age int, note text);
INSERT INTO person SELECT i, 20 + i % 5, 'integer' FROM generate_series(1, 50) AS i;
INSERT INTO person VALUES (99, 99, 'bob.has.hiv');
CREATE FUNCTION deny(state text, note text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
	IF note <> 'integer' THEN
		RAISE EXCEPTION USING ERRCODE = state, MESSAGE = note, DETAIL = note, HINT = note;
	END IF;
	RETURN note;
END
$$;
CREATE FUNCTION pg_temp.try_query(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	state text;
	message text;
	detail text;
	hint text;
	context text;
BEGIN
	EXECUTE query;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
		hint = PG_EXCEPTION_HINT, context = PG_EXCEPTION_CONTEXT;
	RETURN state || CASE WHEN concat(message, detail, hint, context) ~ 'hiv' THEN ' quotes a value'
		ELSE ' is silent' END;
END
$$;
SELECT kanon.create_anonymization_view('error_' || n, format('SELECT id, age, %s AS note FROM person', expression),
	id => '{id}', quasi_ids => '{"age": null}', sensitive => '{"note": null}', k => 5)
FROM unnest(ARRAY['to_regtype(note)::text', 'note::regclass::text', 'deny(''0A000'', note)', 'deny(''42501'', note)',
	'deny(''25001'', note)', 'deny(''40001'', note)', 'deny(''53100'', note)', 'deny(''54000'', note)',
	'deny(''55006'', note)', 'note::int::text']) WITH ORDINALITY AS e (expression, n);
GRANT SELECT ON error_1, error_2, error_3, error_4, error_5, error_6, error_7, error_8, error_9, error_10
	TO error_reader;
-- The owner sees them.
SELECT pg_temp.try_query('SELECT max(note) FROM error_3');
SET ROLE error_reader;
SELECT n, pg_temp.try_query('SELECT max(note) FROM error_' || n) FROM generate_series(1, 10) AS n;
RESET ROLE;
-- What PostgreSQL says itself about rights is passed on.
REVOKE ALL ON FUNCTION deny FROM PUBLIC;
SET ROLE error_reader;
SELECT max(note) FROM error_3;
RESET ROLE;
-- A role that writes can learn what is suppressed: the audit says so.
GRANT INSERT, TRIGGER ON person TO error_reader;
SELECT severity, measure, left(advice, 90) AS advice FROM kanon.audit_catalog('error_1') WHERE subject = 'error_reader';
REVOKE SELECT ON error_1 FROM error_reader;
SELECT severity, measure, left(advice, 90) AS advice FROM kanon.audit_catalog('error_1') WHERE subject = 'error_reader';
DROP TABLE person CASCADE;
DROP FUNCTION deny;
DROP ROLE error_reader;
