-- A materialized view is measured like a logical one; before anything has changed they publish the same.
SET client_min_messages = warning;
DO $$
BEGIN
	PERFORM kanon.create_interval_dgh('ages', 0, '{10, 50}');
	PERFORM kanon.create_prefix_dgh('zips', 3);
END
$$;
CREATE TABLE person (id integer PRIMARY KEY, age integer, zip text, disease text);
INSERT INTO person SELECT i, i * 7 % 90, lpad((i * 13 % 100)::text, 3, '0'), 'd' || i % 4
	FROM generate_series(1, 400) AS i;
SELECT kanon.create_anonymization_view(name, 'SELECT * FROM person', id => '{id}',
	quasi_ids => '{"age": "ages", "zip": "zips"}',
	sensitive => '{"disease": null}', k => 5, materialized => name = 'kept')
FROM (VALUES ('kept'), ('logical')) AS v (name);
SELECT count(*) AS different FROM (SELECT age, zip, disease, count(*) FROM kept GROUP BY 1, 2, 3 EXCEPT SELECT age, zip,
	disease, count(*) FROM logical GROUP BY 1, 2, 3) AS d;
CREATE TABLE measured AS SELECT 'kept' AS view, q.* FROM kanon.quality('kept') AS q UNION ALL SELECT 'logical',
	q.* FROM kanon.quality('logical') AS q;
SELECT count(*) AS differing FROM (SELECT to_jsonb(m) - 'view' FROM measured m WHERE view = 'kept' EXCEPT
	SELECT to_jsonb(m) - 'view' FROM measured m WHERE view = 'logical') AS d;
SELECT * FROM measured WHERE view = 'kept';
SELECT count(*) AS differing FROM (SELECT replace(a::text, 'kept', 'logical') FROM kanon.audit('kept') AS a
	WHERE topic <> 'minimality' EXCEPT SELECT a::text FROM kanon.audit('logical') AS a) AS d;
-- The advice of an audit works.
CREATE TABLE alike (id integer PRIMARY KEY, age integer, disease text);
INSERT INTO alike SELECT i, i / 10, 'flu' FROM generate_series(1, 20) AS i;
SELECT kanon.create_anonymization_view('alike_' || m, 'SELECT * FROM alike', id => '{id}',
	quasi_ids => '{"age": "ages"}', sensitive => '{"disease": null}', k => 2, materialized => m)
FROM unnest('{true,false}'::boolean[]) AS m;
SELECT view, measure, advice FROM unnest('{alike_true,alike_false}'::regclass[]) AS view, kanon.audit(view, 0.01)
	WHERE measure IN ('prosecutor risk, maximum', 'different values in a group, at least');
SELECT kanon.report('kept') LIKE '<!DOCTYPE html>%' AS page;

-- Rows with a k larger than their class wait: they count as suppressed.
CREATE TABLE wish (id integer PRIMARY KEY, k integer);
INSERT INTO wish VALUES (1, 1000), (2, 1000), (3, 0);
SELECT kanon.create_anonymization_view('chosen', 'SELECT * FROM person', id => '{id}',
	quasi_ids => '{"age": "ages", "zip": "zips"}',
	sensitive => '{"disease": null}', k => 5, materialized => true,
	profile => '{"table": "wish", "key": {"id": "id"}, "k": "k"}');
SELECT kanon.grant_access(current_user, 'care', 'lab');
SET kanon.purpose = 'care';
SET kanon.recipient = 'lab';
SELECT (SELECT count(*) FROM person) - count(*) AS not_shown, count(id) AS as_they_are FROM chosen;
SELECT * FROM kanon.quality('chosen');
SELECT kanon.why_hidden('chosen', '1');
