-- Every kind of finding, each with its advice; and none for a view without faults.
\set dir `echo "$PG_ABS_SRCDIR"`
\set people :dir '/data/people.sql'
\i :people
\set SHOW_CONTEXT never
SELECT current_database() || '_doctor' AS doctor, current_database() || '_reader' AS reader \gset
CREATE ROLE :"doctor";
CREATE ROLE :"reader";
SET ROLE :"owner";
-- Roles are named after the database: shown without it.
CREATE FUNCTION shown(text) RETURNS text LANGUAGE sql AS $$ SELECT replace($1, current_database(), 'test') $$;
CREATE FUNCTION found(view regclass) RETURNS TABLE (topic text, subject text, measure text, value numeric,
	severity text, advice text)
	LANGUAGE sql AS $$ SELECT topic, shown(subject), measure, round(value::numeric, 4), severity, shown(advice)
		FROM kanon.audit(view) $$;

-- Numbers by hand: three groups of two people, one person suppressed.
CREATE TABLE small (who text PRIMARY KEY, age integer, ill text);
INSERT INTO small VALUES ('a', 20, 'flu'), ('b', 20, 'flu'), ('c', 31, 'flu'), ('d', 32, 'hiv'), ('e', 33, 'hiv'),
	('f', 33, 'flu'), ('g', 77, 'flu');
SELECT kanon.create_interval_dgh('tens', 0, '{10}');
SELECT kanon.create_anonymization_view('small_view', 'SELECT * FROM small', id => '{who}',
	quasi_ids => '{"age": "tens"}', sensitive => '{"ill": null}', k => 2);
-- Prosecutor: at most 1/2, on average 3 groups / 6 people; at risk: all six are in groups below 5.
-- Alone before: 31, 32 and 77.  Loss: two rows lose 10 of the 57 years, one all.
SELECT rows, people, fate, box FROM kanon.tally('small_view') WHERE "column" IS NULL ORDER BY box;
SELECT topic, measure, value, severity FROM found('small_view');
SELECT DISTINCT topic, advice FROM found('small_view') WHERE advice IS NOT NULL ORDER BY 1, 2;
SELECT round((2 * 10 / 57.0 + 1) / 7, 4) AS loss, round(5 / 7.0, 4) AS distinction,
	round(1 - (2 + 2) / 42.0, 4) AS separation;

-- A stricter threshold, and a looser one.
SELECT measure, severity, advice FROM kanon.audit('small_view', 0.05) WHERE topic = 'risk' AND measure ~ 'prosecutor';
SELECT measure, value, severity FROM kanon.audit('small_view', 0.5) WHERE topic = 'risk';
SELECT kanon.audit('small_view', 0);
SELECT kanon.audit('small_view', 1.5);

-- A register of the population makes the journalist's risk smaller: one of them is 20 (fewer than in the view: two
-- count), four are 33, forty are in their thirties.
CREATE TABLE register AS SELECT 20 + i % 10 AS age FROM generate_series(1, 10) i UNION ALL SELECT 30 + i % 10
	FROM generate_series(1, 40) i;
SELECT * FROM kanon.linked_groups('small_view', 'register', '{age}') ORDER BY 1;
SELECT measure, round(value::numeric, 4) AS value FROM kanon.audit('small_view', population => 'register')
	WHERE topic = 'risk';
-- Marketer: (2/2 + 2/4 + 2/40) of 6 people.
SELECT round((1 + 0.5 + 0.05) / 6, 4) AS marketer;
SELECT * FROM kanon.audit_risks('{2,4}', '{10,40}', 0.2);
SELECT * FROM kanon.audit_risks('{2,4}', NULL, 0.2);
SELECT * FROM kanon.audit_risks('{}', NULL, 0.2);

-- Columns without a role that give people away: by name, by type, by values; alone and beside the others.
CREATE TABLE careless (who text, age integer, email text, device uuid, remark text, seat integer, blob json, shade text,
	ill text);
INSERT INTO careless SELECT 'w' || i, 20 + i % 3, 'm' || i % 2,
	('00000000-0000-0000-0000-' || lpad((i % 2)::text, 12, '0'))::uuid, 'x', i, '{}',
	CASE WHEN i = 1 THEN 'rare' ELSE 'usual' END, 'flu' FROM generate_series(1, 30) i;
SELECT kanon.create_anonymization_view('careless_view', 'SELECT * FROM careless', id => '{who}',
	quasi_ids => '{"age": null}', sensitive => '{"ill": null}', k => 5, other => '{*}');
SELECT subject, value, severity, advice FROM found('careless_view') WHERE topic = 'undeclared';
-- All rows have the flu.
SELECT subject, measure, value, severity, advice FROM found('careless_view') WHERE topic = 'diversity';

-- Values that a hierarchy does not know.
SELECT kanon.create_dgh('ills');
INSERT INTO kanon.dgh_edge VALUES ('ills', 'flu', 'viral');
SELECT kanon.create_anonymization_view('unknown_view', 'SELECT who, ill FROM small', id => '{who}',
	quasi_ids => '{"ill": "ills"}', k => 2);
SELECT topic, subject, measure, value, severity, advice FROM found('unknown_view') WHERE topic = 'uncovered';

-- No k worth the name; nothing but suppressed rows; no rows at all.
SELECT kanon.create_anonymization_view('open_view', 'SELECT * FROM small', quasi_ids => '{"age": "tens"}', k => 1,
    other => '{who, ill}');
SELECT topic, measure, value, severity, advice FROM found('open_view') WHERE severity = 'critical';
SELECT kanon.create_anonymization_view('closed_view', 'SELECT * FROM small', quasi_ids => '{"age": "tens"}', k => 100,
    other => '{who, ill}');
SELECT topic, measure, value, severity FROM found('closed_view') WHERE topic <> 'undeclared';
SELECT kanon.create_anonymization_view('empty_view', 'SELECT * FROM small WHERE false', quasi_ids => '{"age": "tens"}',
	k => 2, other => '{who, ill}');
SELECT topic, measure, value, severity FROM found('empty_view') WHERE topic <> 'undeclared';

-- Roles that need no view: by a grant, by PUBLIC, by a column, by membership, by pg_read_all_data; also below another
-- view.
CREATE VIEW between AS SELECT * FROM small;
SELECT kanon.create_anonymization_view('upper_view', 'SELECT * FROM between', quasi_ids => '{"age": "tens"}', k => 2,
    other => '{who, ill}');
SELECT subject, measure, severity, advice FROM found('upper_view') WHERE topic = 'access' AND subject ~ 'test';
GRANT SELECT (ill) ON small TO :"doctor";
SELECT subject, measure, severity, advice FROM found('upper_view') WHERE topic = 'access' AND subject ~ 'test';
GRANT SELECT ON upper_view TO :"doctor";
SELECT subject, measure, severity, advice FROM found('upper_view') WHERE topic = 'access' AND subject ~ 'test';
REVOKE ALL ON small FROM :"doctor";
RESET ROLE;
GRANT pg_read_all_data TO :"reader";
SELECT subject, measure, severity, advice FROM found('upper_view') WHERE topic = 'access' AND subject ~ 'test';
REVOKE pg_read_all_data FROM :"reader";
GRANT SELECT ON between TO PUBLIC;
SELECT subject, measure, severity, advice FROM found('upper_view') WHERE topic = 'access' AND subject ~ 'test';
REVOKE SELECT ON between FROM PUBLIC;

-- Triggers that do not fire.
SELECT count(*) FROM kanon.audit('small_view') WHERE topic = 'trigger';
ALTER TABLE kanon.dgh_edge DISABLE TRIGGER inserted;
ALTER TABLE kanon.aview ENABLE REPLICA TRIGGER changed;
ALTER EVENT TRIGGER kanon_forget_dropped_views DISABLE;
SELECT subject, measure, severity, advice FROM kanon.audit('small_view') WHERE topic = 'trigger' ORDER BY subject;
ALTER TABLE kanon.dgh_edge ENABLE ALWAYS TRIGGER inserted;
ALTER TABLE kanon.aview ENABLE ALWAYS TRIGGER changed;
ALTER EVENT TRIGGER kanon_forget_dropped_views ENABLE;
SELECT count(*) FROM kanon.audit('small_view') WHERE topic = 'trigger';

-- Each finding that is not fine gives advice, or is a plain number.
SELECT v, count(*) FROM unnest('{small_view,careless_view,unknown_view,'
    'open_view,closed_view,empty_view,upper_view}'::text[]) v, kanon.audit(v::regclass) f
WHERE f.severity IN ('warning', 'critical') AND f.advice IS NULL GROUP BY v;

SET client_min_messages = error;
DROP OWNED BY :"doctor", :"reader";
DROP ROLE :"doctor", :"reader";
RESET client_min_messages;
\set end :dir '/data/people_end.sql'
\i :end
