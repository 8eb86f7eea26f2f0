-- Definitions and changes that materialized views refuse, and the messages that they give.
\set VERBOSITY default
CREATE ROLE matview_bad_analyst;
CREATE TABLE person (id integer PRIMARY KEY, nick text UNIQUE, age integer, zip text);
INSERT INTO person SELECT i, 'n' || i, 20 + i, '12' || i % 10 FROM generate_series(1, 12) AS i;
SELECT kanon.create_interval_dgh('ages', 0, '{10, 50}');
CREATE FUNCTION make(name text, source text, ids text[] DEFAULT '{id}', k integer DEFAULT 2) RETURNS regclass
	LANGUAGE sql AS $$
	SELECT kanon.create_anonymization_view(name, source, id => ids, quasi_ids => '{"age": "ages"}', k => k, materialized
		=> true, other => '{*}')
$$;
-- Identifiers: none, one that may be null, one that is not unique, one without order.
SELECT make('v', 'SELECT * FROM person', '{}');
SELECT make('v', 'SELECT * FROM person', '{nick}');
SELECT make('v', 'SELECT * FROM person', '{zip}');
SELECT make('v', 'SELECT id + 1 AS id, age FROM person');
SELECT make('v', 'SELECT point(id, id) AS id, age FROM person');
CREATE TABLE deferred (id integer PRIMARY KEY DEFERRABLE, age integer);
SELECT make('v', 'SELECT * FROM deferred');
-- A key of a parent says nothing about its children.
CREATE TABLE child () INHERITS (person);
SELECT make('v', 'SELECT id, age FROM person');
DROP TABLE child;
SELECT make('v', 'SELECT id, age FROM person', k => 1);
SELECT kanon.create_anonymization_view('v', 'SELECT * FROM person', id => '{id}', k => 2, materialized => true,
    other => '{*}');
SELECT kanon.create_anonymization_view('v', 'SELECT * FROM person', id => '{id}', quasi_ids => '{"age": "ages"}',
	k => 2, algorithm => 'mondrian', materialized => true, other => '{*}');
SELECT kanon.create_anonymization_view('v', 'SELECT * FROM person', id => '{id}', quasi_ids => '{"age": "ages"}',
	k => 2, block_size => 10, materialized => true, other => '{*}');
SELECT kanon.create_anonymization_view('v', 'SELECT * FROM person', id => '{id}', quasi_ids => '{"age": "ages"}',
	k => 2, keep_order => true, materialized => true, other => '{*}');
-- Tables that a crash, or the end of a session, empties.
CREATE UNLOGGED TABLE quick (id integer PRIMARY KEY, age integer);
SELECT make('v', 'SELECT * FROM quick');
CREATE TEMP TABLE brief (id integer PRIMARY KEY, age integer);
SELECT make('v', 'SELECT * FROM brief');
-- Nothing half-made remains.
SELECT count(*) FROM pg_class WHERE relname ~ '^(groups|members)_';
SELECT count(*) FROM kanon.aview;

-- Sources that triggers cannot follow: joins, aggregates, functions of the day.
CREATE TABLE visit (patient integer, day date);
INSERT INTO visit SELECT 1 + i % 12, '2026-01-01' FROM generate_series(1, 30) AS i;
SELECT make('joined', 'SELECT p.id, p.age, count(*) AS visits FROM person p JOIN visit v ON v.patient = p.id '
	'GROUP BY p.id');
SELECT count(*) FROM joined;
INSERT INTO visit VALUES (1, '2026-01-02');
DELETE FROM visit WHERE patient = 2;
SELECT count(*), sum(visits) FROM joined;
SELECT kanon.refresh('joined');
SELECT count(*), sum(visits) FROM joined;
SELECT make('today', 'SELECT id, age FROM person WHERE now() > ''2020-01-01''');
-- Identifiers that are not unique show when the groups are made.
SELECT make('twice', 'SELECT p.id, p.age FROM person p JOIN visit v ON v.patient = p.id');
DROP VIEW joined, today;

-- Triggers that are off or gone: refresh reports it, and brings in the missed changes.
SELECT make('kept', 'SELECT * FROM person');
SELECT id AS number FROM kanon.aview \gset
ALTER TABLE person DISABLE TRIGGER USER;
DELETE FROM person WHERE id = 3;
INSERT INTO person VALUES (30, 'n30', 33, '120'), (31, 'n31', 34, '121');
SELECT count(*) FROM kept;
SELECT kanon.refresh('kept');
SELECT count(*) FROM kept;
ALTER TABLE person ENABLE TRIGGER USER;
SELECT kanon.refresh('kept');
-- Not in a transaction that has changed the source; not for others; not of other views.
BEGIN;
DELETE FROM person WHERE id = 30;
SELECT kanon.refresh('kept');
ROLLBACK;
SELECT kanon.create_anonymization_view('plain', 'SELECT * FROM person', id => '{id}', quasi_ids => '{"age": "ages"}',
	k => 2, other => '{nick, zip}');
SELECT kanon.refresh('plain');
SELECT kanon.groups('plain');
SELECT kanon.refresh('person');
GRANT SELECT ON kept TO matview_bad_analyst;
GRANT SELECT ON person TO matview_bad_analyst;
SET ROLE matview_bad_analyst;
SELECT count(*) FROM kept;
SELECT kanon.refresh('kept');
SELECT kanon.groups('kept');
\set VERBOSITY terse
SELECT count(*) FROM kanon.members_:number;
\set VERBOSITY default
CREATE TEMP TABLE mine (id integer PRIMARY KEY, nick text, age integer, zip text);
CREATE TRIGGER spoof AFTER INSERT ON mine REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION
	kanon.keep_groups(:'number');
INSERT INTO mine VALUES (1, 'x', 1, '1');
RESET ROLE;
-- A published group keeps its definition: another k, another sequence is refused.
SELECT kanon.alter_anonymization_view('kept', k => 5);
SELECT kanon.refresh_sequence('kept');
-- The base table goes with the view only.
DROP TABLE person;
SET client_min_messages = warning;
DROP TABLE person CASCADE;
SELECT count(*) FROM pg_class WHERE relname ~ '^(groups|members)_';
DROP OWNED BY matview_bad_analyst;
DROP ROLE matview_bad_analyst;

-- Measures read the stored groups. A function that needs the rows of today is refused. The audit reports triggers that
-- are off.
CREATE TABLE measured (id integer PRIMARY KEY, age integer);
INSERT INTO measured SELECT i, i % 10 FROM generate_series(1, 60) AS i;
SELECT kanon.create_anonymization_view('measured_view', 'SELECT * FROM measured', id => '{id}',
	quasi_ids => '{"age": null}', k => 3, materialized => true);
SELECT kanon.quality('measured_view');
SELECT kanon.why_hidden('measured_view', '1');
SELECT rows, classes, k FROM kanon.k_anonymity('measured_view', '{age}');
ALTER TABLE measured DISABLE TRIGGER ALL;
SELECT topic, subject, measure, severity FROM kanon.audit('measured_view') WHERE severity <> 'ok' ORDER BY 1, 2, 3;

-- Stored values are shown by their output functions: a cast to json is its author's code, and would run with our
-- rights.
CREATE ROLE matview_bad_owner;
GRANT CREATE ON SCHEMA public TO matview_bad_owner;
SET ROLE matview_bad_owner;
CREATE TYPE mood AS ENUM ('ok', 'sad');
CREATE FUNCTION evil(mood) RETURNS json LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'ALTER ROLE matview_bad_owner SUPERUSER';
	RETURN '1'; END $$;
CREATE CAST (mood AS json) WITH FUNCTION evil(mood);
CREATE TABLE moods (id integer PRIMARY KEY, age integer, mood mood);
INSERT INTO moods SELECT i, 20, 'ok' FROM generate_series(1, 4) AS i;
SELECT kanon.create_anonymization_view('moods_view', 'SELECT * FROM moods', id => '{id}', quasi_ids => '{"age": null}',
	k => 2, materialized => true, other => '{mood}');
SELECT size, identifiers, others FROM kanon.groups('moods_view');
SELECT rolsuper FROM pg_roles WHERE rolname = 'matview_bad_owner';
-- Stored rows are shown only while the view's owner may read the table.
RESET ROLE;
ALTER TABLE moods OWNER TO CURRENT_USER;
SET ROLE matview_bad_owner;
SELECT count(*) FROM moods;
SELECT count(*) FROM moods_view;
SELECT count(*) FROM kanon.groups('moods_view');
-- A role that may read a table, but not create triggers on it.
RESET ROLE;
GRANT SELECT ON moods TO matview_bad_owner;
SET ROLE matview_bad_owner;
SELECT kanon.create_anonymization_view('followed', 'SELECT * FROM moods', id => '{id}', quasi_ids => '{"age": null}',
	k => 2, materialized => true, other => '{mood}');
RESET ROLE;
DROP TABLE moods CASCADE;
DROP OWNED BY matview_bad_owner CASCADE;
DROP ROLE matview_bad_owner;
