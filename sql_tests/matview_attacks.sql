-- Attacks on materialized views: by an owner whose code would run as another role, and by an analyst whose functions
-- watch.
SET client_min_messages = warning;
DO $$
BEGIN
	PERFORM kanon.create_interval_dgh('ages', 0, '{10, 50}');
	PERFORM kanon.create_prefix_dgh('zips', 3);
	PERFORM kanon.grant_access('public', p, 'lab') FROM unnest('{care, study}'::text[]) AS p;
END
$$;
SET kanon.recipient = 'lab';
SET kanon.purpose = 'care';
CREATE ROLE matview_mallory;
CREATE SCHEMA mallory AUTHORIZATION matview_mallory;

-- 1. Operators of the owner's, in the profile's key: planned and run with her rights, no matter which role causes it.
CREATE TABLE public.seen_as (who name);
GRANT INSERT ON seen_as TO PUBLIC;
SET SESSION AUTHORIZATION matview_mallory;
SET search_path = mallory, public;
CREATE TABLE person (id int PRIMARY KEY, age int);
INSERT INTO person SELECT i, i FROM generate_series(1, 40) i;
CREATE TYPE who AS ENUM ('a');
CREATE TABLE choices (w who, k int);
INSERT INTO choices VALUES ('a', 3);
CREATE FUNCTION note() RETURNS int LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	INSERT INTO public.seen_as VALUES (current_user);
	RETURN 1;
END
$$;
CREATE FUNCTION evil(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN mallory.note(); END $$;
CREATE FUNCTION eq(who, int) RETURNS bool LANGUAGE sql IMMUTABLE AS $$ SELECT ($2 > 0) AND mallory.evil(1) = 1 $$;
CREATE OPERATOR = (LEFTARG = who, RIGHTARG = int, FUNCTION = eq);
SELECT kanon.create_anonymization_view('v', 'SELECT * FROM person', id => '{id}', quasi_ids => '{"age": "ages"}',
	k => 3, materialized => true,
	profile => '{"table": "choices", "key": {"id": "w"}, "k": "k"}');
-- Through the event trigger, which runs with the rights of kanon's owner.
CREATE TABLE kid () INHERITS (person);
RESET SESSION AUTHORIZATION;
-- Caused by a role that changes the table or refreshes the view.
INSERT INTO mallory.person VALUES (101, 33);
UPDATE mallory.choices SET k = 4;
SELECT kanon.refresh('mallory.v') >= 0 AS refreshed;
SELECT DISTINCT who FROM seen_as WHERE who <> 'matview_mallory';

-- 2. Code that says it changes nothing, and changes the table, or the view, while its groups are brought up to date.
SET SESSION AUTHORIZATION matview_mallory;
CREATE TABLE armed AS SELECT true;
CREATE TABLE heard (message text);
CREATE OR REPLACE FUNCTION note() RETURNS int LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	IF EXISTS (SELECT FROM mallory.armed) THEN
		DELETE FROM mallory.armed;
		BEGIN
			CREATE OR REPLACE VIEW mallory.v AS SELECT NULL::int AS id, NULL::kanon.generalized AS age;
			INSERT INTO mallory.person SELECT i, i FROM generate_series(1001, 1010) i;
		EXCEPTION WHEN OTHERS THEN
			INSERT INTO mallory.heard VALUES (SQLERRM);
		END;
	END IF;
	RETURN 1;
END
$$;
CREATE OR REPLACE FUNCTION eq(who, int) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM mallory.note();
	RETURN true; END $$;
INSERT INTO person SELECT i, i FROM generate_series(201, 210) i;
SELECT count(*) FROM person;
RESET SESSION AUTHORIZATION;
INSERT INTO mallory.armed VALUES (true);
SELECT kanon.refresh('mallory.v') AS missed;
SELECT message FROM mallory.heard;
-- Operators that are not immutable are refused: triggers cannot follow them.
SET SESSION AUTHORIZATION matview_mallory;
CREATE OR REPLACE FUNCTION eq(who, int) RETURNS bool LANGUAGE plpgsql VOLATILE AS $$ BEGIN RETURN true; END $$;
SET client_min_messages = notice;
SELECT kanon.create_anonymization_view('w', 'SELECT * FROM person', id => '{id}', quasi_ids => '{"age": "ages"}',
	k => 3, materialized => true,
	profile => '{"table": "choices", "key": {"id": "w"}, "k": "k"}');
SET client_min_messages = warning;
-- 3. A view that cannot be read any more does not stand in the way of other people's tables.
CREATE OR REPLACE VIEW v AS SELECT NULL::int AS id, NULL::kanon.generalized AS age;
RESET SESSION AUTHORIZATION;
RESET search_path;
CREATE TABLE apart (a int) PARTITION BY LIST (a);
CREATE TABLE apart_1 PARTITION OF apart DEFAULT;
DROP TABLE apart;
DROP SCHEMA mallory CASCADE;
DROP ROLE matview_mallory;

-- 4. A function that sees rows before what they were found by is checked on what is published tells whose they are. In
-- logical views, too.
CREATE TABLE person (id int PRIMARY KEY, age int, d text, ward int);
INSERT INTO person SELECT i, 20 + i % 30, 'd' || i, i % 7 FROM generate_series(1, 60) i;
CREATE TABLE choices (id int, purpose text, k int, s bool, PRIMARY KEY (id, purpose));
INSERT INTO choices SELECT i, 'care', 3, i % 2 = 0 FROM generate_series(1, 60) i;
SELECT kanon.create_anonymization_view(name, 'SELECT * FROM person', id => '{id}', quasi_ids => '{"age": "ages"}',
	sensitive => '{"d": null}', materialized => name <> 'logical', preselect => 'hidden',
	other => '{ward}',
	k => 3, profile => format('{"table": "choices", "key": {"id": "id"}, "k": "k", "purpose": "purpose", '
		'"disclose": {"%s": "s"}}', hides)::jsonb)
FROM (VALUES ('kept', 'ward'), ('kept_age', 'age'), ('logical', 'ward')) AS v (name, hides);
CREATE ROLE matview_watcher;
GRANT SELECT ON kept, kept_age, logical TO matview_watcher;
SET ROLE matview_watcher;
CREATE TEMP TABLE watched (value text);
CREATE FUNCTION pg_temp.watch(a anyelement) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN INSERT INTO watched
	VALUES (a::text); RETURN true; END $$;
CREATE FUNCTION pg_temp.surplus(query text, setting text, OUT answer bigint, OUT watched_more bigint)
	LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM watched;
	PERFORM set_config('kanon.plan', setting, true);
	EXECUTE query INTO answer;
	watched_more := (SELECT count(*) FROM watched) - answer;
END
$$;
SELECT q.*, p.plan, s.* FROM (VALUES
	('SELECT count(*) FROM kept WHERE pg_temp.watch(d) AND ward = 1'),
	('SELECT count(*) FROM kept WHERE pg_temp.watch(d) AND id = 7'),
	('SELECT count(*) FROM kept_age WHERE pg_temp.watch(d) AND age = 43'),
	('SELECT count(*) FROM logical WHERE pg_temp.watch(d) AND ward = 1'),
	('SELECT count(*) FROM logical WHERE pg_temp.watch(d) AND id = 7')) AS q (query),
	(VALUES ('auto'), ('select_first')) AS p (plan), pg_temp.surplus(q.query, p.plan) AS s
ORDER BY q.query, p.plan;
RESET ROLE;
DROP TABLE person, choices CASCADE;

-- 5. A person with nothing to disclose is no witness, whatever else the query asks for.
CREATE TABLE person (id integer PRIMARY KEY, age integer, zip text, disease text);
INSERT INTO person SELECT i, i * 7 % 90, lpad((i * 13 % 100)::text, 3, '0'), 'd' || i % 4
	FROM generate_series(1, 400) AS i;
CREATE TABLE wish (id integer PRIMARY KEY, show_age boolean);
INSERT INTO wish SELECT i, false FROM generate_series(1, 400) AS i;
SELECT kanon.create_anonymization_view('kept', 'SELECT * FROM person', id => '{id}',
	quasi_ids => '{"age": "ages", "zip": "zips"}', sensitive => '{"disease": null}', k => 5,
	match => 'witness', materialized => true,
	profile => '{"table": "wish", "key": {"id": "id"}, "disclose": {"age": "show_age"}}');
SELECT count(*) FROM kept WHERE age = 7;
SELECT disease, count(*) FROM kept WHERE age = 7 GROUP BY disease;
SELECT count(*) FROM kept WHERE age IS NULL;
UPDATE wish SET show_age = true;
SELECT count(*) > 0 AS found FROM kept WHERE age = 7;
DROP TABLE person, wish CASCADE;

-- 6. Groups that are smaller for one purpose, for people who ask for a larger k for another purpose.
CREATE TABLE person (id int PRIMARY KEY, age int);
INSERT INTO person SELECT i, 20 + i FROM generate_series(1, 5) i;
CREATE TABLE choices (id int, purpose text, k int, PRIMARY KEY (id, purpose));
INSERT INTO choices SELECT i, 'care', 5 FROM generate_series(1, 5) i;
INSERT INTO choices SELECT i, 'study', 2 FROM generate_series(1, 2) i;
SELECT kanon.create_anonymization_view('kept', 'SELECT * FROM person', id => '{id}', quasi_ids => '{"age": "ages"}',
	materialized => true,
	profile => '{"table": "choices", "key": {"id": "id"}, "k": "k", "purpose": "purpose"}');
SELECT count(*) FROM kept;
SET kanon.purpose = 'study';
SELECT count(*) FROM kept;
SET kanon.purpose = 'care';
SELECT kanon.drop_anonymization_view('kept');
-- 7. Choices that cannot be followed any more count as they are now.
CREATE ROLE matview_holder;
GRANT ALL ON person, choices TO matview_holder;
CREATE SCHEMA holder AUTHORIZATION matview_holder;
UPDATE choices SET k = 3;
SET ROLE matview_holder;
SELECT kanon.create_anonymization_view('holder.kept', 'SELECT * FROM public.person', id => '{id}',
	quasi_ids => '{"age": "ages"}', materialized => true, k => 3,
	profile => '{"table": "public.choices", "key": {"id": "id"}, "k": "k", "purpose": "purpose"}');
SELECT count(*) FROM holder.kept;
RESET ROLE;
ALTER TABLE choices ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_of_them ON choices USING (true);
UPDATE choices SET k = 100 WHERE id = 1;
SELECT count(*) FROM holder.kept;
-- An owner who may not read the rows any more, which are in a query of their own where there are choices, has nothing
-- to show.
ALTER TABLE choices DISABLE ROW LEVEL SECURITY;
UPDATE choices SET k = 3;
SELECT count(*) FROM holder.kept;
REVOKE SELECT ON person FROM matview_holder;
SELECT count(*) FROM holder.kept;
SELECT kanon.groups('holder.kept');
GRANT SELECT ON person TO matview_holder;
-- A trigger that is dropped is reported by the audit, blocks no statement, and comes back with refresh.
DO $$
BEGIN
	EXECUTE format('DROP TRIGGER kanon_%s_insert ON person',
		(SELECT id FROM kanon.aview WHERE view = 'holder.kept'::regclass));
END
$$;
SELECT regexp_replace(subject, '[0-9]+', 'N') AS subject, measure, severity FROM kanon.audit('holder.kept')
	WHERE topic = 'trigger';
SELECT kanon.refresh('holder.kept') IS NOT NULL AS refreshed;
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'person'::regclass AND tgname LIKE 'kanon_%';
SELECT regexp_replace(subject, '[0-9]+', 'N') AS subject, measure, severity FROM kanon.audit('holder.kept')
	WHERE topic = 'trigger';
DROP SCHEMA holder CASCADE;
REVOKE ALL ON person, choices FROM matview_holder;
DROP TABLE choices, person CASCADE;
-- 8. Partitions that come with a schema are followed, too.
CREATE TABLE person (id int PRIMARY KEY, age int) PARTITION BY RANGE (id);
CREATE TABLE person_1 PARTITION OF person FOR VALUES FROM (0) TO (100);
INSERT INTO person SELECT i, i FROM generate_series(1, 20) i;
SELECT kanon.create_anonymization_view('kept', 'SELECT * FROM person', id => '{id}', quasi_ids => '{"age": "ages"}',
	k => 3, materialized => true);
CREATE SCHEMA beside CREATE TABLE person_2 PARTITION OF public.person FOR VALUES FROM (100) TO (200);
INSERT INTO beside.person_2 SELECT 100 + i, i FROM generate_series(1, 20) i;
SELECT count(*) FROM kept;
DROP TABLE person CASCADE;
DROP SCHEMA beside;
-- 9. Identifiers of a domain that is never null; columns named like the extension's own; a row that was in a group
-- stays in one.
CREATE DOMAIN key_type AS integer NOT NULL;
CREATE TABLE person (id key_type PRIMARY KEY, age int);
CREATE TABLE wish (id int PRIMARY KEY, k int);
INSERT INTO person SELECT i, 20 + i / 4 FROM generate_series(1, 20) i;
INSERT INTO wish VALUES (20, 0);
SELECT kanon.create_anonymization_view('kept', 'SELECT * FROM person', id => '{id}', quasi_ids => '{"age": "ages"}',
	k => 3, materialized => true);
SELECT count(*), count(id) FROM kept;
SELECT kanon.create_anonymization_view('chosen', 'SELECT * FROM person', id => '{id}', quasi_ids => '{"age": "ages"}',
	k => 3, materialized => true,
	profile => '{"table": "wish", "key": {"id": "id"}, "k": "k"}');
SELECT count(*), count(id) FROM chosen;
INSERT INTO wish VALUES (1, 0);
UPDATE person SET age = 23 WHERE id = 1;
SELECT count(*), count(id) FROM chosen;
SELECT kanon.create_anonymization_view('named', 'SELECT id, age, 1 AS "kanon k" FROM person', id => '{id}',
	quasi_ids => '{"age": "ages"}', k => 3,
	profile => '{"table": "wish", "key": {"id": "id"}, "k": "k"}', other => '{kanon k}');
DROP TABLE person, wish CASCADE;
DROP OWNED BY matview_watcher, matview_holder;
DROP ROLE matview_watcher, matview_holder;
