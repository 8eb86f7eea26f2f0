-- The session's cache of definitions of A-views is never stale, whatever way a definition changes and a transaction
-- ends.
-- Changes by other sessions: specs/aview_definition_changes.
SET kanon.measure_views = off;
CREATE TABLE person (id int PRIMARY KEY, age int, city int, job text);
INSERT INTO person SELECT i, 20 + i, i % 4, 'job ' || i % 2 FROM generate_series(0, 19) AS i;
SELECT kanon.create_interval_dgh('ages', 0, '{5,10}');
SELECT kanon.create_interval_dgh('cities', 0, '{2}');
SELECT kanon.create_anonymization_view('people', 'SELECT * FROM person', id => '{id}',
    quasi_ids => '{"age": "ages", "city": "cities"}', k => 2, other => '{*}');
-- What the view publishes: its values of both quasi-identifiers, and how many names there are; by a plan that stays.
CREATE FUNCTION seen(OUT seen text) LANGUAGE plpgsql AS $$
BEGIN
    SELECT string_agg(DISTINCT age::text, ' ' ORDER BY age::text) || ' | '
        || string_agg(DISTINCT city::text, ' ' ORDER BY city::text)
        || ' | ' || count(id) INTO seen FROM people;
END
$$;
PREPARE policy AS SELECT count(id), min(age::text) FROM people;
EXECUTE policy;
SELECT seen();

-- Transactions and savepoints that end either way.
BEGIN;
SELECT kanon.alter_anonymization_view('people', k => 0);
SELECT seen();
ROLLBACK;
SELECT seen();
BEGIN;
SAVEPOINT one;
SELECT kanon.alter_anonymization_view('people', k => 20);
SELECT seen();
SAVEPOINT two;
SELECT kanon.alter_anonymization_view('people', k => 0);
SELECT seen();
EXECUTE policy;
ROLLBACK TO two;
SELECT seen();
EXECUTE policy;
SELECT kanon.alter_anonymization_view('people', k => 1);
RELEASE two;
SELECT seen();
ROLLBACK TO one;
SELECT seen();
SELECT kanon.alter_anonymization_view('people', k => 3);
COMMIT;
SELECT seen();
EXECUTE policy;

-- In the middle of a function, and behind an exception.
DO $$
BEGIN
    FOR i IN 0 .. 2 LOOP
        BEGIN
            PERFORM kanon.alter_anonymization_view('people', k => i * 10);
            RAISE NOTICE '%: %', i, seen();
            IF i <> 1 THEN
                RAISE EXCEPTION 'given up';
            END IF;
        EXCEPTION WHEN raise_exception THEN
            RAISE NOTICE 'after %: %', i, seen();
        END;
    END LOOP;
END
$$;
SELECT seen();

-- The rows of the definition, written in every way.
UPDATE kanon.aview SET k = 2 WHERE view = 'people'::regclass;
SELECT seen();
UPDATE kanon.aview_column SET dgh = NULL WHERE aview = (SELECT id FROM kanon.aview) AND attnum = 2;
SELECT seen();
UPDATE kanon.aview_column SET dgh = 'ages' WHERE aview = (SELECT id FROM kanon.aview) AND attnum = 2;
SELECT seen();
SELECT * FROM kanon.generalization_sequence('people');
TRUNCATE kanon.aview_step;
SELECT * FROM kanon.generalization_sequence('people');
SELECT seen();
BEGIN;
DELETE FROM kanon.aview_column WHERE attnum = 3;
EXECUTE policy;
ROLLBACK;
SELECT seen();
SELECT kanon.refresh_sequence('people');
SELECT * FROM kanon.generalization_sequence('people');

-- A hierarchy.
UPDATE kanon.dgh SET widths = '{7}' WHERE name = 'ages';
SELECT seen();
BEGIN;
UPDATE kanon.dgh SET widths = '{10}' WHERE name = 'ages';
SELECT seen();
ROLLBACK;
SELECT seen();
UPDATE kanon.dgh SET name = 'years' WHERE name = 'ages';
SELECT seen();

-- The view: its columns, its owner, its name, its query.
ALTER VIEW people RENAME COLUMN age TO years;
SELECT years, count(*) FROM people GROUP BY years ORDER BY years::text;
EXECUTE policy;
ALTER VIEW people RENAME COLUMN years TO age;
CREATE ROLE aview_definition_cache_owner;
GRANT ALL ON SCHEMA public TO aview_definition_cache_owner;
ALTER VIEW people OWNER TO aview_definition_cache_owner;
SELECT count(*) FROM people;
ALTER VIEW people OWNER TO CURRENT_USER;
SELECT count(*) FROM people;
DROP OWNED BY aview_definition_cache_owner;
DROP ROLE aview_definition_cache_owner;
BEGIN;
ALTER VIEW people RENAME TO folk;
SELECT count(*) FROM folk;
EXECUTE policy;
ROLLBACK;
SELECT count(*) FROM people;
BEGIN;
CREATE OR REPLACE VIEW people AS SELECT id, NULL::kanon.generalized AS age, NULL::kanon.generalized AS city,
    job FROM person;
SELECT count(age), count(id) FROM people;
SELECT * FROM kanon.scan('people'::regclass) AS s (id int, age kanon.generalized, city kanon.generalized, job text);
ROLLBACK;
EXECUTE policy;
SELECT seen();

-- A cursor goes on with the definition that it was opened with.
BEGIN;
DECLARE open CURSOR FOR SELECT id, age FROM people ORDER BY age::text, id;
FETCH 1 FROM open;
SELECT kanon.alter_anonymization_view('people', k => 0);
UPDATE kanon.dgh SET widths = '{5}' WHERE name = 'years';
SELECT seen();
FETCH 8 FROM open;
ROLLBACK;

-- Choices: the session's purpose and recipient are part of the definition, and so is the key of the table of choices.
CREATE TABLE choice (id int, purpose text, recipient text, k int, PRIMARY KEY (id, purpose, recipient));
INSERT INTO choice SELECT i, p, 'ward', CASE p WHEN 'care' THEN 0 ELSE 2 END FROM generate_series(0, 19) AS i,
    unnest('{care,study}'::text[]) AS p;
SELECT kanon.create_anonymization_view('persons', 'SELECT * FROM person', id => '{id}',
    quasi_ids => '{"age": "years", "city": "cities"}',
    profile => '{"table": "choice", "key": {"id": "id"}, "k": "k", "purpose": "purpose", "recipient": "recipient"}',
    other => '{job}');
SELECT kanon.grant_access('public', p, 'ward') FROM unnest('{care,study}'::text[]) AS p;
PREPARE names AS SELECT count(id) FROM persons;
SET kanon.recipient = 'ward';
SET kanon.purpose = 'care';
EXECUTE names;
SET kanon.purpose = 'study';
EXECUTE names;
SET kanon.purpose = 'care';
EXECUTE names;
SET kanon.purpose = 'care';
BEGIN;
ALTER TABLE choice DROP CONSTRAINT choice_pkey;
EXECUTE names;
ROLLBACK;
EXECUTE names;
ALTER TABLE choice DROP CONSTRAINT choice_pkey;
EXECUTE names;
ALTER TABLE choice ADD UNIQUE (purpose, recipient, id);
EXECUTE names;

-- The view goes and comes again; then the extension does, and the first view has a number that another one had.
DROP VIEW people, persons;
EXECUTE policy;
SELECT kanon.create_anonymization_view('people', 'SELECT * FROM person', id => '{id}', quasi_ids => '{"age": "years"}',
    k => 4, other => '{*}');
EXECUTE policy;
DROP VIEW people;
SET client_min_messages = warning;
DROP EXTENSION kanon CASCADE;
CREATE EXTENSION kanon;
RESET client_min_messages;
SELECT kanon.create_interval_dgh('tens', 0, '{10}');
SELECT kanon.create_anonymization_view('people', 'SELECT * FROM person', id => '{id}', quasi_ids => '{"age": "tens"}',
    k => 4, other => '{*}');
SELECT age, count(id), count(*) FROM people GROUP BY age ORDER BY age::text;
-- The extension's own tables and their schema are found again, too.
BEGIN;
ALTER TABLE kanon.dgh RENAME TO hierarchies;
SELECT count(*) FROM people;
ROLLBACK;
SELECT count(*) FROM people;
BEGIN;
ALTER SCHEMA kanon RENAME TO other;
SELECT count(*) FROM people;
ROLLBACK;
SELECT count(*) FROM people;
