-- Every bad profile gets an error that names the fault, and nothing is created.
CREATE FUNCTION try(profile text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    hint text;
BEGIN
    PERFORM kanon.create_anonymization_view('v', 'SELECT * FROM person', id => '{name}', quasi_ids => '{"age": null}',
        sensitive => '{"disease": null}', profile => profile::jsonb, other => '{ward}');
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' / ', SQLSTATE, SQLERRM, nullif(detail, ''), nullif(hint, ''));
END
$$;
CREATE TABLE person (name text PRIMARY KEY, age int, disease text, ward int);
INSERT INTO person SELECT 'n' || i, 20 + i % 3, 'd' || i % 2, i FROM generate_series(1, 12) i;
CREATE TABLE choices (name text, k int, lvl text, ok bool, till timestamptz, day date, moment timestamp, big bigint,
    purpose text, recipient text,
    PRIMARY KEY (name, purpose, recipient));
CREATE SEQUENCE counter;
\pset format unaligned
\pset tuples_only
SELECT try('[]');
SELECT try('{"table": "choices"}');
SELECT try('{"key": {"name": "name"}}');
SELECT try('{"table": "choices", "key": {}, "k": "k"}');
SELECT try('{"table": "choices", "key": "name", "k": "k"}');
SELECT try('{"table": "choices", "key": {"name": 1}, "k": "k"}');
SELECT try('{"table": "choices", "key": {"name": "name"}, "K": "k"}');
SELECT try('{"table": "choices", "key": {"name": "name"}, "k": 5}');
SELECT try('{"table": "choices", "key": {"name": "name"}}');
SELECT try('{"table": "nowhere", "key": {"name": "name"}, "k": "k"}');
SELECT try('{"table": "counter", "key": {"name": "name"}, "k": "k"}');
SELECT try('{"table": "choices", "key": {"name": "nam"}, "k": "k"}');
SELECT try('{"table": "choices", "key": {"nam": "name"}, "k": "k"}');
SELECT try('{"table": "choices", "key": {"age": "name"}, "k": "k"}');
SELECT try('{"table": "choices", "key": {"name": "name"}, "k": "kay"}');
SELECT try('{"table": "choices", "key": {"name": "name"}, "k": "lvl"}');
SELECT try('{"table": "choices", "key": {"name": "name"}, "k": "k", "sa_level": "lvl"}');
SELECT try('{"table": "choices", "key": {"name": "name"}, "k": "k", "sa_level": {"age": "k"}}');
SELECT try('{"table": "choices", "key": {"name": "name"}, "k": "k", "sa_level": {"illness": "k"}}');
SELECT try('{"table": "choices", "key": {"name": "name"}, "k": "k", "disclose": {"age": "k"}}');
SELECT try('{"table": "choices", "key": {"name": "name"}, "k": "k", "disclose": {"aging": "ok"}}');
SELECT try('{"table": "choices", "key": {"name": "name"}, "k": "k", "retain": {"age": "moment"}}');
SELECT try('{"table": "choices", "key": {"name": "name"}, "k": "k", "purpose": "why"}');
SELECT try('{"table": "choices", "key": {"name": "name"}, "k": "k", "purpose": "purpose", "recipient": "whom"}');
SELECT to_regclass('v'), (SELECT count(*) FROM kanon.aview), (SELECT count(*) FROM kanon.aview_column);
-- Good profiles.
SELECT try('{"table": "choices", "key": {"name": "name"}, "k": "big", "sa_level": {"disease": "k"}, "retain": {"age": '
    '"till", "ward": "day"}, "purpose": "purpose", "recipient": null}');
SELECT try('{"table": "choices", "key": {"name": "name"}, "k": "k"}');
-- Odd choices count as the strictest; the k of a giant is no number that overflows.
SELECT kanon.grant_access('public', 'p', 'r');
SET kanon.purpose = p;
SET kanon.recipient = r;
BEGIN; -- in which now() is the same
INSERT INTO choices (name, big, k, till, day, purpose, recipient)
    SELECT 'n' || i, CASE i WHEN 1 THEN -1 WHEN 2 THEN 9e18 WHEN 3 THEN 3000000000 ELSE 1 END,
        CASE i WHEN 4 THEN -7 WHEN 5 THEN 100 ELSE 0 END,
        CASE i WHEN 6 THEN 'infinity' WHEN 7 THEN '-infinity' WHEN 8 THEN now() - interval '1 second'
            ELSE now() + interval '1 day' END,
        CASE i WHEN 9 THEN 'infinity' WHEN 10 THEN (now() AT TIME ZONE 'UTC')::date - 1
            ELSE (now() AT TIME ZONE 'UTC')::date END, 'p', 'r'
    FROM generate_series(1, 12) i;
SELECT ward, age, disease FROM v ORDER BY ward, age;
-- A session's time zone does not change which day it is.
SET timezone = 'Etc/GMT+12';
SELECT count(ward), count(age) FROM v;
SET timezone = 'Etc/GMT-14';
SELECT count(ward), count(age) FROM v;
COMMIT;
SELECT try('{"table": "choices", "key": {"name": "name"}, "k": "k"}');
DROP VIEW v;
-- Two rows of choices for one person, purpose and recipient: the strictest counts, and does not multiply rows.
ALTER TABLE choices DROP CONSTRAINT choices_pkey;
TRUNCATE choices;
INSERT INTO choices (name, k, ok, till, purpose, recipient) SELECT name, 0, true, 'infinity', 'p', 'r' FROM person;
INSERT INTO choices (name, k, ok, till, purpose, recipient) VALUES ('n1', 1, true, 'infinity', 'p', 'r'),
    ('n2', 0, false, 'infinity', 'p', 'r'),
    ('n3', 0, true, '-infinity', 'p', 'r'), ('n4', NULL, true, 'infinity', 'p', 'r'),
    ('n5', -1, true, 'infinity', 'p', 'r');
SELECT try('{"table": "choices", "key": {"name": "name"}, "k": "k", "disclose": {"disease": "ok"}, "retain": {"age": '
    '"till"}, "purpose": "purpose", "recipient": "recipient"}');
SELECT * FROM v ORDER BY ward;
SELECT * FROM kanon.aview_profile('v');
SELECT * FROM kanon.aview_columns('v');
DROP VIEW v;
-- A view promises no key.
CREATE VIEW all_choices AS SELECT * FROM choices;
SELECT try('{"table": "all_choices", "key": {"name": "name"}, "k": "k", '
    '"purpose": "purpose", "recipient": "recipient"}');
SELECT name, ward FROM v WHERE ward < 7 ORDER BY ward;
