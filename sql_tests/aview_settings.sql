-- The source of a view is read with the settings of the view's creation, whatever the reader's session has.
\set ECHO queries
SET client_min_messages = warning;
SET search_path = public;
CREATE ROLE settings_reader;
CREATE SCHEMA lure;
GRANT ALL ON SCHEMA lure TO settings_reader;

-- 1. Every setting that a role may change has a verdict.
CREATE TEMP TABLE verdict (setting text, reason text);
INSERT INTO verdict
SELECT setting, 'fixed' FROM unnest('{array_nulls, backslash_quote, bytea_output, DateStyle, default_text_search_config,
    extra_float_digits, gin_fuzzy_search_limit, IntervalStyle, lc_monetary, lc_numeric, lc_time, quote_all_identifiers,
    row_security, search_path, standard_conforming_strings, TimeZone, timezone_abbreviations, transform_null_equals,
    xmlbinary, xmloption}'::text[]) AS setting;
INSERT INTO verdict
SELECT name, reason FROM pg_settings JOIN (VALUES
    ('^(enable_|geqo|.*_cost$|jit|max_parallel|min_parallel|effective_|.*work_mem$|hash_mem|.*_limit$|plan_cache_mode)',
        'how'),
    ('^(cursor_tuple_fraction|constraint_exclusion|default_statistics_target|parallel_leader|force_parallel|debug_par)',
        'how'),
    ('^(recursive_worktable|stats_fetch|vacuum_|temp_|backend_flush|maintenance_io|commit_|synchronize_seqscans)',
        'how'),
    ('^(statement_timeout|lock_timeout|idle_|tcp_|client_connection|transaction_timeout)', 'when it ends'),
    ('^(log_|debug_|trace_|client_min_messages|exit_on_error|application_name|track_|update_process|wal_)', 'reports'),
    ('^(synchronous_commit|default_transaction|transaction_|default_table|default_toast|check_function)', 'writes'),
    ('^(password_encryption|scram|createrole|event_triggers|gin_pending|escape_string_warning)', 'no value'),
    ('^(file_copy_method|io_|md5_password_warnings|icu_validation_level|ssl_renegotiation_limit)', 'no value'),
    ('^(client_encoding|session_authorization|role|seed|local_preload|send_|restrict_nonsystem)',
        'only for code that asks for it'))
    AS patterns (pattern, reason) ON lower(name) ~ pattern WHERE name NOT IN (SELECT setting FROM verdict);
SELECT name AS "has no verdict" FROM pg_settings
WHERE context = 'user' AND name NOT LIKE '%.%' AND name NOT IN (SELECT setting FROM verdict) ORDER BY name;
CREATE TABLE one (a int);
SELECT kanon.create_anonymization_view('none', 'SELECT a FROM one', quasi_ids => '{"a": null}', k => 2) AS made;
SELECT setting AS "is not fixed" FROM verdict
WHERE reason = 'fixed' AND setting NOT IN (
    SELECT split_part(pinned, '=', 1) FROM kanon.aview, unnest(settings) AS pinned WHERE view = 'none'::regclass);
SELECT pinned FROM kanon.aview, unnest(settings) AS pinned
WHERE view = 'none'::regclass AND pinned LIKE 'search_path=%';

-- 2. The answer is the same in every session: a day by TimeZone, a text by DateStyle and others.
CREATE TABLE visit (id int PRIMARY KEY, at timestamptz, took interval, share float8, doc bytea, zip text, note text);
INSERT INTO visit
SELECT i, '2024-01-01 00:00+00'::timestamptz + i * '37 minutes'::interval, i * '1 hour'::interval, i / 7.0,
    decode(lpad(to_hex(i % 256), 2, '0'), 'hex'), (i % 4)::text, 'n' || i % 3
FROM generate_series(1, 200) i;
SET TimeZone = 'UTC';
SELECT kanon.create_anonymization_view('visits', $$SELECT id, at::date::text AS day, took::text AS took,
        share::real::text AS share, doc::text AS doc, to_char(at, 'TMMonth HH24') AS hour, zip FROM visit$$,
    id => '{id}', quasi_ids => '{"zip": null}', k => 3, other => '{*}') AS made;
GRANT SELECT ON visits TO settings_reader;
SELECT md5(string_agg(v::text, ',' ORDER BY v::text)) AS usual FROM visits v \gset
SET ROLE settings_reader;
SET TimeZone = 'Pacific/Kiritimati';
SET DateStyle = 'German';
SET IntervalStyle = 'iso_8601';
SET bytea_output = 'escape';
SET extra_float_digits = -15;
PREPARE again AS SELECT md5(string_agg(v::text, ',' ORDER BY v::text)) = $1 AS "as usual" FROM visits v;
EXECUTE again(:'usual');
SET TimeZone = 'Pacific/Pago_Pago';
EXECUTE again(:'usual');
-- The session has its own settings back.
SHOW TimeZone;
SHOW DateStyle;
RESET ALL;
SET search_path = public;
SET client_min_messages = warning;

-- 3. Names in functions of the source are found where the view's owner found them.
RESET ROLE;
CREATE FUNCTION code(t text) RETURNS text LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN upper(reverse(t)); END $$;
SELECT kanon.create_anonymization_view('coded', 'SELECT id, code(note) AS note, zip FROM visit',
    id => '{id}', quasi_ids => '{"zip": null}', k => 3, other => '{note}') AS made;
GRANT SELECT ON coded TO settings_reader;
SET ROLE settings_reader;
CREATE TABLE lure.heard (t text, who text);
CREATE FUNCTION lure.reverse(t text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO lure.heard VALUES (t, current_user);
    RETURN t;
END $$;
CREATE FUNCTION lure.upper(t text) RETURNS text LANGUAGE sql AS $$ SELECT lure.reverse(t) $$;
SET search_path = lure, pg_catalog, public;
SELECT note, count(*) FROM public.coded GROUP BY note ORDER BY note COLLATE "C";
SELECT count(*) AS violations FROM kanon.violations('public.coded', '{zip}', 3);
SELECT count(*) AS heard FROM lure.heard;
RESET search_path;
SET search_path = public;
RESET ROLE;

-- 4. Settings of applications are as they were when the view was made, unless the view says otherwise.
CREATE FUNCTION ward() RETURNS text LANGUAGE sql STABLE
    AS $$ SELECT coalesce(nullif(current_setting('app.ward', true), ''), '0') $$;
SELECT kanon.create_anonymization_view('fixed', 'SELECT id, zip, ward() AS ward FROM visit',
    id => '{id}', quasi_ids => '{"zip": null}', k => 3, other => '{ward}') AS made;
SELECT kanon.create_anonymization_view('free', 'SELECT id, zip, ward() AS ward FROM visit',
    id => '{id}', quasi_ids => '{"zip": null}', k => 3, session_settings => '{app.ward}', other => '{ward}') AS made;
SELECT kanon.create_anonymization_view('wrong', 'SELECT id, zip FROM visit',
    quasi_ids => '{"zip": null}', k => 3, session_settings => '{wrd}', other => '{id}');
GRANT SELECT ON fixed, free TO settings_reader;
SET ROLE settings_reader;
SET app.ward = '7';
SELECT DISTINCT ward FROM fixed;
SELECT DISTINCT ward FROM free;
SHOW app.ward;

-- 5. What the source says about rows goes to the log, of whatever level; to readers of the source it goes as usual.
RESET ROLE;
CREATE FUNCTION odd(t text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RAISE NOTICE 'notice %', t;
    RAISE WARNING 'warning %', t;
    RAISE INFO 'info %', t;
    RAISE LOG 'log %', t;
    RETURN t;
END $$;
SELECT kanon.create_anonymization_view('odds', 'SELECT id, odd(zip) AS zip FROM visit WHERE id < 3',
    id => '{id}', quasi_ids => '{"zip": null}', k => 2) AS made;
GRANT SELECT ON odds TO settings_reader;
SET client_min_messages = notice;
SELECT count(*) FROM odds;
SET ROLE settings_reader;
SET client_min_messages = log;
SELECT count(*) FROM odds;
SET client_min_messages = warning;

-- 6. The blocks that the source reads are not added to the counters of a stranger.
CREATE FUNCTION pg_temp.blocks(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || query INTO plan;
    RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::int + (plan->0->'Plan'->>'Shared Read Blocks')::int;
END $$;
CREATE FUNCTION pg_temp.answer(day text) RETURNS bigint LANGUAGE sql
    AS $$ SELECT count(*) FROM visits AS v WHERE v.day = answer.day $$;
-- The first runs fill caches.
SELECT count(pg_temp.blocks('SELECT pg_temp.answer(''2024-01-02'')')) FROM generate_series(1, 3);
SELECT pg_temp.blocks('SELECT pg_temp.answer(''2024-01-02'')') - pg_temp.blocks('SELECT pg_temp.answer(''1999-01-01'')')
    AS difference;
RESET ROLE;

DROP OWNED BY settings_reader;
DROP SCHEMA lure CASCADE;
DROP TABLE one, visit CASCADE;
DROP FUNCTION code, ward, odd;
DROP ROLE settings_reader;
