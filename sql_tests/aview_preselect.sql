-- What is asked of the source depends on published values only, unless the reader may read the source or the view says
-- otherwise.
SET kanon.measure_views = off;
\set ECHO queries
SET client_min_messages = warning;
SET search_path = public;
CREATE ROLE preselect_owner;
CREATE ROLE preselect_analyst;
GRANT CREATE ON SCHEMA public TO preselect_owner;
SET ROLE preselect_owner;
-- Twenty people of each age; only the lonely one, who is suppressed, has the plague.
CREATE TABLE person (id int PRIMARY KEY, age int, disease text, ward int, note text COLLATE "POSIX",
    alias text COLLATE "C");
INSERT INTO person SELECT i, i % 10, 'd' || i % 7, i % 40, 'n' || i % 3, 'n' || i % 3 FROM generate_series(1, 200) i;
INSERT INTO person VALUES (1000, 99, 'plague', 77, 'lonely', 'lonely');
CREATE INDEX ON person (disease);
CREATE INDEX ON person (ward);
ANALYZE person;
CREATE TABLE choice (id int PRIMARY KEY, k int, shows_ward bool);
INSERT INTO choice SELECT id, CASE WHEN id = 1000 THEN -1 ELSE 3 END, id % 2 = 0 FROM person;
SELECT kanon.create_anonymization_view(name, 'SELECT id, age, disease, ward, note, alias FROM person', id => '{id}',
    quasi_ids => '{"age": null}', sensitive => '{"disease": null}', k => 3, match => match,
    other => '{*}', preselect => preselect, materialized => name ~ 'stored',
    profile => CASE WHEN name ~ 'chosen' THEN
        '{"table": "choice", "key": {"id": "id"}, "k": "k", "disclose": {"ward": "shows_ward"}}'::jsonb END) AS made
FROM (VALUES ('people', 'published', 'cover'), ('risky', 'hidden', 'cover'), ('witnessed', 'published', 'witness'),
    ('stored', 'published', 'cover'), ('chosen', 'published', 'cover'), ('stored_chosen', 'published', 'cover'),
    ('stored_risky', 'hidden', 'cover')) AS v (name, preselect, match);
GRANT SELECT ON people, risky, witnessed, stored, chosen, stored_chosen, stored_risky TO preselect_analyst;
RESET ROLE;
SELECT kanon.grant_access('public', 'care', 'lab');
SET kanon.purpose = 'care';
SET kanon.recipient = 'lab';

-- 1. Which conditions go to the source. The lines of EXPLAIN that tell it, whatever the plan's shape.
CREATE FUNCTION asked(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    result text := '';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line ~ 'Plan:|Pre-Filter:|Preselection:|Witness:|Post-Filter:' THEN
            result := concat_ws('; ', nullif(result, ''), trim(line));
        END IF;
    END LOOP;
    RETURN result;
END $$;
CREATE TABLE query (n int, text text);
INSERT INTO query VALUES
    (1, 'SELECT * FROM people WHERE ward = 7'),
    (2, 'SELECT * FROM people WHERE disease = ''d1'''),
    (3, 'SELECT * FROM people WHERE disease = ''d1'' AND ward = 7'),
    (4, 'SELECT * FROM people WHERE id = 7'),
    (5, 'SELECT * FROM risky WHERE disease = ''d1'''),
    (6, 'SELECT * FROM witnessed WHERE age = 3'),
    (7, 'SELECT * FROM stored WHERE ward = 7'),
    (8, 'SELECT * FROM stored_risky WHERE ward = 7'),
    (9, 'SELECT * FROM chosen WHERE note = ''n1'''),
    (10, 'SELECT * FROM chosen WHERE ward = 7'),
    (11, 'SELECT * FROM stored_chosen WHERE note = ''n1'''),
    (12, 'SELECT * FROM (VALUES (''d1'')) AS v (d) JOIN people ON disease = d'),
    (13, 'SELECT * FROM (VALUES (7)) AS v (w) JOIN people ON ward = w');
GRANT SELECT ON query TO PUBLIC;
SET kanon.plan = select_first;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET ROLE preselect_analyst;
SELECT n, text, asked(text) FROM query ORDER BY n;
RESET ROLE;
SELECT n, text, asked(text) FROM query ORDER BY n;
-- The answers are the same.
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT md5(string_agg(q::text, '','' ORDER BY q::text)) FROM (%s) AS q', query) INTO result;
    RETURN result;
END $$;
CREATE TABLE answer AS SELECT n, answer(text) FROM query;
GRANT SELECT ON answer TO PUBLIC;
SET ROLE preselect_analyst;
SELECT n FROM answer JOIN query USING (n) WHERE answer IS DISTINCT FROM answer(text);
RESET ROLE;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- 2. A comparison that does not know its collation raises an error where it is evaluated. That it is evaluated must not
-- tell that a hidden value was found, also where the view lets hidden values be preselected.
CREATE FUNCTION tried(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result bigint;
BEGIN
    EXECUTE query INTO result;
    RETURN result;
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate;
END $$;
SET ROLE preselect_analyst;
SELECT view, disease,
    tried(format('SELECT count(*) FROM %s WHERE disease = %L AND note < alias', view, disease)) AS "less",
    tried(format('SELECT count(*) FROM %s WHERE disease = %L AND note IN (alias, ''x'')', view, disease)) AS "in",
    tried(format('SELECT count(*) FROM %s WHERE disease = %L AND note = ANY (ARRAY[alias])', view, disease)) AS "any",
    tried(format('SELECT count(*) FROM %s WHERE CASE WHEN disease = %L THEN note < alias END', view, disease)) AS "case"
FROM unnest('{people, risky, stored, stored_risky, chosen}'::text[]) AS view,
    unnest('{plague, cholera, d1}'::text[]) AS disease
ORDER BY view COLLATE "C", disease COLLATE "C";
-- The same with a value from elsewhere, whose collation is another one.
SELECT view, disease,
    tried(format('SELECT count(*) FROM %s, (VALUES (''n'' COLLATE "C"), (''o'' COLLATE "C")) AS v (c) '
        'WHERE disease = %L AND note < c', view, disease)) AS "joined"
FROM unnest('{people, risky}'::text[]) AS view, unnest('{plague, cholera, d1}'::text[]) AS disease
ORDER BY view COLLATE "C", disease COLLATE "C";
RESET ROLE;

-- 3. Sorts of the source, and other things that the server logs, do not reach the client.
SET ROLE preselect_owner;
CREATE FUNCTION shout(t text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RAISE LOG 'saw %', t;
    RAISE NOTICE 'saw %', t;
    RETURN (SELECT max(x) FROM (SELECT t AS x UNION SELECT '' ORDER BY 1) AS sorted);
END $$;
CREATE FUNCTION sorted(t text) RETURNS text LANGUAGE sql STABLE AS
    $$ SELECT x FROM (SELECT t AS x UNION ALL SELECT '' ORDER BY 1 DESC) AS sorted LIMIT 1 $$;
SELECT kanon.create_anonymization_view('loud',
    'SELECT id, age, sorted(disease) AS disease FROM person WHERE id < 60 ORDER BY note', id => '{id}',
    quasi_ids => '{"age": null}', sensitive => '{"disease": null}', k => 3, block_size => 20) AS made;
SELECT kanon.create_anonymization_view('louder',
    'SELECT id, age, shout(disease) AS disease FROM person WHERE id = 1000',
    id => '{id}', quasi_ids => '{"age": null}', sensitive => '{"disease": null}', k => 3) AS made;
GRANT SELECT ON loud, louder TO preselect_analyst;
SET ROLE preselect_analyst;
SET trace_sort = on;
SET client_min_messages = log;
TABLE louder;
DO $$ BEGIN PERFORM FROM loud; END $$;
-- Errors reach the client after a quiet source.
SELECT count(*) / 0 FROM louder;
RESET trace_sort;
SET client_min_messages = warning;
RESET ROLE;

-- 4. Nothing of it is said to a role that writes without reading, either. The row of the other partition is not hers.
SET ROLE preselect_owner;
CREATE TABLE event (id int, part int, age int, disease text, PRIMARY KEY (id, part)) PARTITION BY LIST (part);
CREATE TABLE event_1 PARTITION OF event FOR VALUES IN (1);
CREATE TABLE event_2 PARTITION OF event FOR VALUES IN (2);
CREATE FUNCTION loudly(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RAISE WARNING 'saw %', t;
    IF t = 'bad' THEN
        RAISE data_exception USING MESSAGE = 'value ' || t;
    END IF;
    RETURN t;
END $$;
SET client_min_messages = error;
INSERT INTO event SELECT i, 1 + i % 2, i % 3, 'd' || i FROM generate_series(1, 40) i;
SELECT kanon.create_anonymization_view('events',
    'SELECT id, part, age, loudly(disease) AS disease FROM event', id => '{id, part}', other => '{*}',
    quasi_ids => '{"age": null}', sensitive => '{"disease": null}', k => 3, materialized => true) AS made;
GRANT INSERT, TRUNCATE ON event, event_1, event_2 TO preselect_analyst;
SET ROLE preselect_analyst;
SET client_min_messages = log;
TRUNCATE event_1;
-- Nor if the source fails for it.
SET ROLE preselect_owner;
CREATE OR REPLACE FUNCTION loudly(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RAISE WARNING 'saw %', t;
    IF t IN ('bad', 'd3') THEN
        RAISE data_exception USING MESSAGE = 'value ' || t;
    END IF;
    RETURN t;
END $$;
SET ROLE preselect_analyst;
TRUNCATE event_1;
INSERT INTO event VALUES (100, 1, 1, 'mine');
INSERT INTO event VALUES (101, 1, 1, 'bad');
INSERT INTO event VALUES (100, 1, 1, 'mine');
SET client_min_messages = warning;
SET ROLE preselect_owner;
SELECT count(*), count(*) FILTER (WHERE disease = 'mine') AS hers FROM events;
-- Whoever may read is told.
INSERT INTO event VALUES (102, 1, 1, 'bad');
RESET ROLE;

DROP OWNED BY preselect_owner, preselect_analyst CASCADE;
DROP TABLE query, answer;
DROP FUNCTION asked, answer, tried;
DROP ROLE preselect_owner, preselect_analyst;
