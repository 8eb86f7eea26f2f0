-- The source of a view runs in the world of its owner: what a reader or a writer sets in the session changes neither
-- values nor groups, what may change within a statement is read once, and row security counts for stored rows at once.
SET kanon.measure_views = off;
\set ECHO queries
SET client_min_messages = warning;
SET search_path = public;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO, MDY';
CREATE ROLE world_owner;
CREATE ROLE world_analyst;
CREATE ROLE world_1;
CREATE ROLE world_2;
GRANT world_1, world_2 TO world_analyst;
GRANT CREATE ON SCHEMA public TO world_owner;
DO $$
BEGIN
    PERFORM kanon.create_date_dgh('days', '{day, month, year}');
    PERFORM kanon.create_dgh('spans');
END $$;
INSERT INTO kanon.dgh_edge (dgh, child, parent) VALUES
    ('spans', '["2024-01-31 00:00:00+00","2024-02-01 00:00:00+00")', 'january'),
    ('spans', '["2024-02-01 00:00:00+00","2024-02-02 00:00:00+00")', 'february');
\set SHOW_CONTEXT never
SET ROLE world_owner;

-- 1. Between rescans a query sets what the source reads: a setting that follows the session, the role, and the role in
-- a row policy. The person alone in ward world_2 must not be shown in a cell that was found for world_1.
CREATE TABLE person (id int PRIMARY KEY, zip text, ward text, disease text);
INSERT INTO person SELECT i, '10', 'world_1', 'd' || i FROM generate_series(1, 6) i;
INSERT INTO person VALUES (100, '10', 'world_2', 'alone');
INSERT INTO person SELECT 100 + i, '20', 'world_2', 'x' || i FROM generate_series(1, 12) i;
INSERT INTO person SELECT 10000 + i, i::text, 'world_3', 'y' || i FROM generate_series(1000, 11020) i;
CREATE INDEX ON person (ward);
CREATE INDEX ON person (zip);
ANALYZE person;
CREATE TABLE guarded AS TABLE person;
CREATE INDEX ON guarded (ward);
CREATE INDEX ON guarded (zip);
ANALYZE guarded;
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
ALTER TABLE guarded FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON guarded USING (ward = current_user);
CREATE FUNCTION own_ward() RETURNS text LANGUAGE sql STABLE AS 'SELECT current_user::text';
SELECT kanon.create_anonymization_view(name, query, id => '{id}', quasi_ids => '{"zip": null}',
    sensitive => '{"disease": null}', other => '{*}', k => 5, session_settings => session) AS made
FROM (VALUES
    ('by_setting', $$SELECT * FROM person WHERE ward = current_setting('app.ward', true)$$, '{app.ward}'::text[]),
    ('by_role', 'SELECT * FROM person WHERE ward = current_user', NULL),
    ('by_function', 'SELECT * FROM person WHERE ward = own_ward()', NULL),
    ('by_policy', 'SELECT * FROM guarded', NULL)) AS v (name, query, session);
GRANT SELECT ON by_setting, by_role, by_function, by_policy TO world_analyst, world_1, world_2;
RESET ROLE;
SET SESSION AUTHORIZATION world_analyst;
SET kanon.plan = select_first;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET app.ward = 'world_1';
SELECT y AS ward, (SELECT count(*) FROM by_setting AS v WHERE v.ward = y) AS rows,
    (SELECT string_agg(v.zip::text, ',') FROM by_setting AS v WHERE v.ward = y AND v.disease = 'alone') AS his_zip
FROM (SELECT set_config('app.ward', x, false) AS y FROM (VALUES ('world_1'), ('world_2')) AS w (x) OFFSET 0) AS s;
SET ROLE world_1;
SELECT y AS ward, (SELECT count(*) FROM by_role AS v WHERE v.ward = y) AS rows,
    (SELECT string_agg(v.zip::text, ',') FROM by_role AS v WHERE v.ward = y AND v.disease = 'alone') AS his_zip
FROM (SELECT set_config('role', x, false) AS y FROM (VALUES ('world_1'), ('world_2')) AS w (x) OFFSET 0) AS s;
SET ROLE world_1;
SELECT v.zip, count(*), bool_or(v.disease = 'alone') AS with_him
FROM (SELECT set_config('role', x, false) AS y FROM (VALUES ('world_1'), ('world_2')) AS w (x) OFFSET 0) AS s
    JOIN LATERAL (SELECT * FROM by_role WHERE ward = s.y) AS v ON true GROUP BY v.zip ORDER BY v.zip::text;
SET ROLE world_1;
SELECT y AS ward, (SELECT count(*) FROM by_function AS v WHERE v.ward = y) AS rows,
    (SELECT string_agg(v.zip::text, ',') FROM by_function AS v WHERE v.ward = y AND v.disease = 'alone') AS his_zip
FROM (SELECT set_config('role', x, false) AS y FROM (VALUES ('world_1'), ('world_2')) AS w (x) OFFSET 0) AS s;
SET ROLE world_1;
SELECT v.zip, count(*), bool_or(v.disease = 'alone') AS with_him
FROM (SELECT set_config('role', x, false) AS y FROM (VALUES ('world_1'), ('world_2')) AS w (x) OFFSET 0) AS s
    JOIN LATERAL (SELECT * FROM by_function WHERE ward = s.y) AS v ON true GROUP BY v.zip ORDER BY v.zip::text;
SET ROLE world_1;
SELECT y AS ward, (SELECT count(*) FROM by_policy AS v WHERE v.ward = y) AS rows,
    (SELECT string_agg(v.zip::text, ',') FROM by_policy AS v WHERE v.ward = y AND v.disease = 'alone') AS his_zip
FROM (SELECT set_config('role', x, false) AS y FROM (VALUES ('world_1'), ('world_2')) AS w (x) OFFSET 0) AS s;
SET ROLE world_1;
SELECT v.zip, count(*), bool_or(v.disease = 'alone') AS with_him
FROM (SELECT set_config('role', x, false) AS y FROM (VALUES ('world_1'), ('world_2')) AS w (x) OFFSET 0) AS s
    JOIN LATERAL (SELECT * FROM by_policy WHERE ward = s.y) AS v ON true GROUP BY v.zip ORDER BY v.zip::text;
RESET SESSION AUTHORIZATION;
RESET app.ward;
RESET kanon.plan;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
-- The audit says so; and that functions of the source find names by the search_path.
SET ROLE world_owner;
SELECT v, f.subject, f.measure, f.severity
FROM unnest('{by_setting, by_role, by_function, by_policy}'::regclass[]) AS v,
    LATERAL kanon.audit_source(v) AS f ORDER BY v::text, 2, 3;
SELECT count(*) AS "in the audit" FROM kanon.audit('by_role') WHERE topic = 'source';
-- Names in strings and in double quotes are no reason.
SELECT kanon.create_anonymization_view('by_name',
    $$SELECT id, zip, disease AS "current_user" FROM person WHERE ward <> 'session_user'$$,
    other => '{*}', id => '{id}', quasi_ids => '{"zip": null}', k => 5) AS made;
SELECT * FROM kanon.audit_source('by_name');
-- The settings of a view are shown, but for the values of applications' settings.
SET app.token = 'secret';
SELECT kanon.create_anonymization_view('shown', 'SELECT id, zip FROM person', id => '{id}',
    quasi_ids => '{"zip": null}', k => 5, session_settings => '{DateStyle}') AS made;
RESET app.token;
SELECT s FROM kanon.aview_guarantee('shown') AS g, unnest(g.settings) AS s
WHERE s ~* '^(app|date|timez|search|row)' ORDER BY s COLLATE "C";

-- 2. Values that become days, or texts: with every way of reading, in every session the same groups.
CREATE TABLE visit (id int PRIMARY KEY, at timestamptz, day text, span tstzrange, ward int);
INSERT INTO visit SELECT i, '2024-01-31 20:00+00'::timestamptz + i * '25 minutes'::interval, '01/02/2024',
    CASE WHEN i < 10 THEN '[2024-01-31,2024-02-01)'::tstzrange ELSE '[2024-02-01,2024-02-02)'::tstzrange END, i % 3
FROM generate_series(1, 20) i;
-- Of the people of one day, half come on the same day and in the same month in Kiritimati. With six others of that
-- month these would be a group.
INSERT INTO visit SELECT 520 + i, '2024-12-01 12:00+00'::timestamptz + i * '1 day'::interval, '01/02/2024', NULL, 9999
FROM generate_series(0, 5) i;
INSERT INTO visit SELECT 500 + i,
    CASE WHEN i < 3 THEN '2024-12-31 05:00+00' ELSE '2024-12-31 20:00+00' END::timestamptz,
    '01/02/2024', NULL, 3 FROM generate_series(0, 5) i;
-- Rows enough that looking for one cell is worth it.
INSERT INTO visit
SELECT 1000 + i, '2025-01-01 12:00+00'::timestamptz + i * '1 day'::interval, '01/02/' || 1900 + i % 50, NULL, 100 + i
FROM generate_series(1, 3000) i;
CREATE INDEX ON visit (ward);
CREATE INDEX ON visit (at);
ANALYZE visit;
SELECT kanon.create_anonymization_view(name, 'SELECT id, at, day, span, ward FROM visit', id => '{id}',
    quasi_ids => quasi, other => '{*}', k => 5, match => match) AS made
FROM (VALUES ('at_cover', '{"at": "days"}'::jsonb, 'cover'), ('at_witness', '{"at": "days"}', 'witness'),
    ('day_cover', '{"day": "days"}', 'cover'), ('span_cover', '{"span": "spans"}', 'cover')) AS v (name, quasi, match);
GRANT SELECT ON at_cover, at_witness, day_cover, span_cover TO world_analyst;
CREATE TABLE expected AS
    SELECT 'at_cover' AS view, ward, at::text AS value, count(*) FROM at_cover WHERE ward < 4 GROUP BY 2, 3
    UNION ALL SELECT 'at_witness', ward, at::text, count(*) FROM at_witness WHERE ward < 4 GROUP BY 2, 3
    UNION ALL SELECT 'day_cover', ward, day::text, count(*) FROM day_cover WHERE ward < 4 GROUP BY 2, 3
    UNION ALL SELECT 'span_cover', ward, span::text, count(*) FROM span_cover WHERE ward < 4 GROUP BY 2, 3;
SELECT view, value, sum(count) FROM expected GROUP BY view, value ORDER BY view, value COLLATE "C";
CREATE FUNCTION differences() RETURNS TABLE (view text, ward int, rows bigint) LANGUAGE plpgsql AS $$
DECLARE
    v record;
BEGIN
    FOR v IN SELECT e.view AS name, regexp_replace(e.view, '_.*', '') AS col FROM public.expected AS e GROUP BY 1 LOOP
        FOR w IN 0 .. 3 LOOP
            RETURN QUERY EXECUTE format('WITH
                got AS (SELECT %2$I::text AS value, count(*) FROM %1$I WHERE ward = %3$s GROUP BY 1),
                wanted AS (SELECT value, count FROM public.expected WHERE view = %1$L AND ward = %3$s),
                d AS ((TABLE got EXCEPT TABLE wanted) UNION ALL (TABLE wanted EXCEPT TABLE got))
                SELECT %1$L, %3$s, count(*) FROM d HAVING count(*) > 0', v.name, v.col, w);
        END LOOP;
    END LOOP;
END $$;
GRANT SELECT ON expected TO world_analyst;
CREATE TABLE plan_in (plan text, zone text, style text);
INSERT INTO plan_in SELECT p, z, s FROM unnest('{anonymize_first, select_first, function}'::text[]) AS p,
    unnest('{UTC, Pacific/Kiritimati, Pacific/Pago_Pago}'::text[]) AS z,
    unnest('{"ISO, MDY", "German, DMY"}'::text[]) AS s;
GRANT SELECT ON plan_in TO world_analyst;
CREATE FUNCTION try_all() RETURNS TABLE (plan text, zone text, style text, view text, ward int) LANGUAGE plpgsql AS $$
BEGIN
    FOR plan, zone, style IN SELECT p.plan, p.zone, p.style FROM plan_in AS p LOOP
        PERFORM set_config('kanon.plan', plan, true), set_config('TimeZone', zone, true),
            set_config('DateStyle', style, true);
        FOR view, ward IN SELECT d.view, d.ward FROM differences() AS d LOOP
            RETURN NEXT;
        END LOOP;
    END LOOP;
END $$;
SET ROLE world_analyst;
SELECT * FROM try_all();
SET ROLE world_owner;
SELECT * FROM try_all();
-- Constants that an analyst writes are read in the analyst's session: half past ten in the evening of January 31 is on
-- February 1 in Kiritimati.
SET TimeZone = 'Pacific/Kiritimati';
SELECT count(*) FROM at_cover WHERE ward < 3 AND at = '2024-01-31 22:30+00'::timestamptz;
SET kanon.plan = anonymize_first;
SELECT count(*) FROM at_witness WHERE ward < 3 AND at = '2024-01-31 22:30+00'::timestamptz;
SET kanon.plan = select_first;
SELECT count(*) FROM at_witness WHERE ward < 3 AND at = '2024-01-31 22:30+00'::timestamptz;
RESET kanon.plan;
SET TimeZone = 'UTC';
SELECT count(*) FROM at_cover WHERE ward < 3 AND at = '2024-01-31 22:30+00'::timestamptz;

-- 3. Stored groups: a row that is inserted, changed or found by a refresh in another time zone joins the group of the
-- same day as in the owner's.
CREATE TABLE stay (id int PRIMARY KEY, at timestamptz, day text);
INSERT INTO stay SELECT i, '2024-01-31 20:00+00'::timestamptz + i * '25 minutes'::interval,
    CASE WHEN i < 10 THEN '01/02/2024' ELSE '02/01/2024' END
FROM generate_series(1, 20) i;
SELECT kanon.create_anonymization_view('stays', 'SELECT id, at FROM stay', id => '{id}', quasi_ids => '{"at": "days"}',
    k => 5, materialized => true) AS made;
SELECT kanon.create_anonymization_view('stay_days', 'SELECT id, day FROM stay', id => '{id}',
    quasi_ids => '{"day": "days"}', k => 5, materialized => true) AS made;
GRANT INSERT ON stay TO world_analyst;
GRANT SELECT ON stays, stay_days TO world_analyst;
SELECT at, count(*) FROM stays GROUP BY at ORDER BY at::text;
SELECT day, count(*) FROM stay_days GROUP BY day ORDER BY day::text;
RESET ROLE;
SET SESSION AUTHORIZATION world_analyst;
SET TimeZone = 'Pacific/Kiritimati';
SET DateStyle = 'German, DMY';
INSERT INTO stay VALUES (100, '2024-01-31 20:00+00', '01/02/2024');
SELECT at, count(*) FROM stays GROUP BY at ORDER BY at::text;
SELECT day, count(*) FROM stay_days GROUP BY day ORDER BY day::text;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION world_owner;
SET TimeZone = 'Pacific/Kiritimati';
SET DateStyle = 'German, DMY';
UPDATE stay SET at = at + '1 second' WHERE id IN (1, 100);
SELECT at, count(*) FROM stays GROUP BY at ORDER BY at::text;
SELECT kanon.refresh('stays', true), kanon.refresh('stay_days', true);
SELECT at, count(*) FROM stays GROUP BY at ORDER BY at::text;
SELECT day, count(*) FROM stay_days GROUP BY day ORDER BY day::text;
RESET SESSION AUTHORIZATION;
SET ROLE world_owner;
SET TimeZone = 'UTC';
SELECT kanon.create_anonymization_view('wrong', 'SELECT id, at FROM stay', id => '{id}', quasi_ids => '{"at": "days"}',
    k => 5, materialized => true, session_settings => '{TimeZone}');

-- 4. Names are found where the owner found them, also when a writer's transaction commits.
CREATE FUNCTION code(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN reverse(t); END $$;
CREATE TABLE entry (id int PRIMARY KEY, age int, note text);
INSERT INTO entry SELECT i, i % 3, 'n' || i FROM generate_series(1, 30) i;
SELECT kanon.create_anonymization_view('entries',
    $$SELECT id, age, code(note) AS note FROM entry WHERE code(note) <> 'x'$$, id => '{id}',
    quasi_ids => '{"age": null}', other => '{*}', k => 5, materialized => true) AS made;
GRANT INSERT ON entry TO world_analyst;
RESET ROLE;
CREATE SCHEMA lure AUTHORIZATION world_analyst;
SET SESSION AUTHORIZATION world_analyst;
CREATE TABLE lure.heard (who text, t text);
GRANT ALL ON lure.heard TO PUBLIC;
GRANT USAGE ON SCHEMA lure TO PUBLIC;
CREATE FUNCTION lure.reverse(t text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO lure.heard VALUES (current_user, t);
    RETURN t;
END $$;
SET search_path = lure, pg_catalog, public;
INSERT INTO public.entry VALUES (100, 1, 'abc');
SELECT count(*) AS heard FROM lure.heard;
RESET SESSION AUTHORIZATION;
SET search_path = public;
SET ROLE world_owner;
SELECT note FROM entries WHERE note ~ '[abc]';

-- 5. Row security that is enabled or changed later counts for stored rows at once, for whoever reads them.
RESET ROLE;
CREATE TABLE patient (id int PRIMARY KEY, age int, ward int);
INSERT INTO patient SELECT i, i % 3, i % 2 FROM generate_series(1, 60) i;
GRANT SELECT, TRIGGER ON patient TO world_owner;
SET ROLE world_owner;
SELECT kanon.create_anonymization_view('patients', 'SELECT id, age, ward FROM patient', id => '{id}',
    quasi_ids => '{"age": null}', other => '{*}', k => 5, materialized => true) AS made;
GRANT SELECT ON patients TO world_analyst;
SELECT count(*), count(*) FILTER (WHERE ward = 1) AS ward_1 FROM patients;
PREPARE all_patients AS SELECT count(*) FROM patients;
EXECUTE all_patients;
RESET ROLE;
ALTER TABLE patient ENABLE ROW LEVEL SECURITY;
CREATE POLICY even ON patient USING (ward = 0);
SET ROLE world_analyst;
SELECT count(*) FROM patients;
SELECT count(*) FROM kanon.violations('patients', '{age}', 5);
SET ROLE world_owner;
EXECUTE all_patients;
SELECT count(*) FROM kanon.groups('patients');
SELECT count(*) FROM kanon.tally('patients');
SELECT rows FROM kanon.quality('patients');
SELECT kanon.refresh('patients');
SELECT count(*), count(*) FILTER (WHERE ward = 1) AS ward_1 FROM patients;
SELECT sum(size) FROM kanon.groups('patients');
RESET ROLE;
ALTER POLICY even ON patient USING (ward = 1);
SET ROLE world_analyst;
SELECT count(*) FROM patients;
RESET ROLE;
-- Without row security there is nothing to hide; and it does not hold for a role that bypasses it.
ALTER TABLE patient DISABLE ROW LEVEL SECURITY;
SET ROLE world_analyst;
SELECT count(*) FROM patients;
RESET ROLE;
ALTER TABLE patient ENABLE ROW LEVEL SECURITY;
ALTER ROLE world_owner BYPASSRLS;
SET ROLE world_analyst;
SELECT count(*) FROM patients;
RESET ROLE;

-- 6. preselect can be altered, and set by a statement.
SET ROLE world_owner;
DO LANGUAGE kanon $$
    CREATE ANONYMIZATION_VIEW stated ON SELECT id, zip, disease FROM person
    WITH ANONYMIZATION_ID id ANONYMIZATION_QUASI_ID zip ANONYMIZATION_SENSITIVE_ATTR disease K 5 PRESELECT hidden;
$$;
SELECT preselect FROM kanon.aview_guarantee('stated');
SELECT measure, severity FROM kanon.audit_source('stated');
SELECT kanon.alter_anonymization_view('stated', preselect => 'published');
SELECT preselect FROM kanon.aview_guarantee('stated');
SELECT kanon.alter_anonymization_view('stated', preselect => 'all');
SELECT kanon.alter_anonymization_view('patients', preselect => 'hidden');
SELECT kanon.alter_anonymization_view('patients', preselect => 'hidden', k => 6);
SELECT preselect, k FROM kanon.aview_guarantee('patients');
RESET ROLE;

DROP OWNED BY world_owner, world_analyst CASCADE;
DROP TABLE patient CASCADE;
DROP ROLE world_owner, world_analyst, world_1, world_2;
