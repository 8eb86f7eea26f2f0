-- Every bad argument gets an error that names the fault, and nothing is created.
\set dir `echo "$PG_ABS_SRCDIR"`
\set people :dir '/data/people.sql'
\i :people

CREATE FUNCTION try(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	hint text;
BEGIN
	EXECUTE command;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' / ', SQLSTATE, SQLERRM, nullif(detail, ''), nullif(hint, ''));
END
$$;

CREATE FUNCTION try_view(arguments text) RETURNS text LANGUAGE sql AS $$
	SELECT try('SELECT kanon.create_anonymization_view(' || arguments || ')')
$$;

SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only

-- Columns.
SELECT try_view($$'v', 'SELECT * FROM person', id => '{nam}', k => 2$$);
SELECT try_view($$'v', 'SELECT * FROM person', quasi_ids => '{"Age": "ages"}', k => 2$$);
SELECT try_view($$'v', 'SELECT * FROM person', sensitive => '{"illness": null}', k => 2$$);
SELECT try_view($$'v', 'SELECT * FROM person', id => '{name, name}', k => 2$$);
SELECT try_view($$'v', 'SELECT * FROM person', id => '{age}', quasi_ids => '{"age": null}', k => 2$$);
SELECT try_view($$'v', 'SELECT * FROM person', quasi_ids => '{"age": null}', sensitive => '{"age": null}', k => 2$$);
SELECT try_view($$'v', 'SELECT * FROM person', id => '{NULL}', k => 2$$);
SELECT try_view($$'v', 'SELECT name, age AS name FROM person', k => 2$$);
SELECT try_view($$'v', 'SELECT FROM person', k => 2$$);

-- Hierarchies.
SELECT try_view($$'v', 'SELECT * FROM person', quasi_ids => '{"age": "years"}', k => 2$$);
SELECT try_view($$'v', 'SELECT * FROM person', quasi_ids => '{"age": 3}', k => 2$$);
SELECT try_view($$'v', 'SELECT * FROM person', quasi_ids => '["age"]', k => 2$$);
SELECT try_view($$'v', 'SELECT * FROM person', quasi_ids => '{"age": {"dgh": "ages"}}', k => 2$$);
SELECT try_view($$'v', 'SELECT * FROM person', quasi_ids => '3', k => 2$$);

-- Hierarchies that know none of a column's values.
SELECT kanon.create_date_dgh('bad_input_days', '{day}');
SELECT try_view($$'v', 'SELECT * FROM person', quasi_ids => '{"age": "bad_input_days"}', k => 2$$);
SELECT try_view($$'v', 'SELECT *, date ''2000-01-01'' + age AS day FROM person', quasi_ids => '{"day": "ages"}',
	k => 2$$);
SELECT try_view($$'v', 'SELECT *, age > 30 AS old FROM person', sensitive => '{"old": "ages"}', k => 2$$);
SELECT try_view($$'v', 'SELECT *, ''2000-01-01''::text AS day FROM person', quasi_ids => '{"day": "bad_input_days"}',
	k => 2$$);
DROP VIEW v;
SELECT kanon.drop_dgh('bad_input_days');

-- Types that have no single values.
SELECT try_view($$'v', 'SELECT ARRAY[age] AS ages FROM person', quasi_ids => '{"ages": null}', k => 2$$);
SELECT try_view($$'v', 'SELECT person AS whole FROM person', quasi_ids => '{"whole": null}', k => 2$$);
SELECT try_view($$'v', 'SELECT ROW(age) AS whole FROM person', quasi_ids => '{"whole": null}', k => 2$$);
SELECT try_view($$'v', 'SELECT ROW(age) AS whole FROM person', k => 2, other => '{*}'$$);

-- Guarantees.
SELECT try_view($$'v', 'SELECT * FROM person'$$);
SELECT try_view($$'v', 'SELECT * FROM person', k => -1$$);
SELECT try_view($$'v', 'SELECT * FROM person', sensitive => '{"disease": null}', k => 2, l => 0$$);
SELECT try_view($$'v', 'SELECT * FROM person', sensitive => '{"disease": null}', k => 2, l => -5$$);
SELECT try_view($$'v', 'SELECT * FROM person', k => 2, l => 2$$);
SELECT try_view($$'v', 'SELECT * FROM person', sensitive => '{"disease": null}', k => 2, t => 0$$);
SELECT try_view($$'v', 'SELECT * FROM person', sensitive => '{"disease": null}', k => 2, t => 1.5$$);
SELECT try_view($$'v', 'SELECT * FROM person', sensitive => '{"disease": null}', k => 2, t => 'NaN'$$);
SELECT try_view($$'v', 'SELECT * FROM person', k => 2, t => 0.5$$);
SELECT try_view($$'v', 'SELECT * FROM person', k => 2, match => 'perhaps'$$);
SELECT try_view($$'v', 'SELECT * FROM person', k => 2, algorithm => 'magic'$$);
SELECT try_view($$'v', 'SELECT * FROM person', id => '{name}', k => 2, block_size => 0$$);
SELECT try_view($$'v', 'SELECT * FROM person', k => 2, block_size => 10$$);
SELECT try_view($$'v', 'SELECT to_json(name) AS who FROM person', id => '{who}', k => 2, block_size => 10$$);
SELECT try_view($$'v', 'SELECT * FROM person', profile => '{}', k => 2$$);
SELECT try_view($$'v', 'SELECT * FROM person', materialized => true, k => 2$$);

-- Names and sources.
SELECT try_view($$NULL, 'SELECT 1', k => 2$$);
SELECT try_view($$'v', NULL, k => 2$$);
SELECT try_view($$'my view', 'SELECT 1 AS a', k => 2$$);
SELECT try_view($$'nowhere.v', 'SELECT 1 AS a', k => 2, other => '{*}'$$);
SELECT try_view($$'people', 'SELECT 1 AS a', k => 2, other => '{*}'$$);
SELECT try_view($$'v', 'SELECT * FROM nobody', k => 2$$);
SELECT try_view($$'v', 'DELETE FROM person', k => 2$$);
SELECT try_view($$'v', 'SELECT 1 AS a; DROP TABLE person', k => 2$$);
SELECT try_view($$'v', 'SELECT 1 AS a) OR (true', k => 2$$);
SELECT try_view($$'v', 'SELECT * INTO copy FROM person', k => 2$$);
SELECT try_view($$'v', 'WITH gone AS (DELETE FROM person RETURNING *) SELECT * FROM gone', k => 2, other => '{*}'$$);
SELECT try_view($$'v', 'SELECT $1 AS a', k => 2$$);
SELECT try_view($$'v', '', k => 2$$);

-- Not an error: there are only four diseases and plague.
SELECT kanon.create_anonymization_view('warned', 'SELECT * FROM person', sensitive => '{"disease": null}', k => 2,
	l => 7, other => '{*}');
SELECT count(*), count(disease) FROM warned;
SELECT kanon.drop_anonymization_view('warned');

-- Changes.
SELECT try($$SELECT kanon.alter_anonymization_view('people', k => -1)$$);
SELECT try($$SELECT kanon.alter_anonymization_view('people', l => 0)$$);
SELECT try($$SELECT kanon.alter_anonymization_view('people', t => 2)$$);
SELECT try($$SELECT kanon.alter_anonymization_view('people', match => 'no')$$);
SELECT try($$SELECT kanon.alter_anonymization_view('people', block_size => 0)$$);
SELECT try($$SELECT kanon.alter_anonymization_view(NULL, k => 1)$$);
SELECT try($$SELECT kanon.alter_anonymization_view('person', k => 1)$$);
SELECT try($$SELECT kanon.alter_anonymization_view('nobody', k => 1)$$);
SELECT try($$SELECT kanon.drop_anonymization_view('person')$$);
SELECT try($$SELECT kanon.drop_anonymization_view('nobody')$$);
SELECT try($$SELECT kanon.refresh_sequence('person')$$);
SELECT try($$SELECT * FROM kanon.generalization_sequence(0)$$);
SELECT try($$SELECT kanon.alter_anonymization_view('people', l => 7)$$);

-- Nothing was created, nothing was lost.
SELECT view FROM kanon.aview ORDER BY id;
SELECT count(*) FROM kanon.aview_column;
SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v') ORDER BY relname;
SELECT count(*) FROM person;

\set end :dir '/data/people_end.sql'
\i :end
