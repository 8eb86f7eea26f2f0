-- Functions that are given a view check what PostgreSQL checks where a query names it; what was learnt from a table is
-- shown to the view's owner only while the owner may read the table.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SELECT current_database() || '_owner' AS owner, current_database() || '_analyst' AS analyst \gset
CREATE ROLE :"owner";
CREATE ROLE :"analyst";
CREATE TABLE person (id int PRIMARY KEY, age int, ill text);
INSERT INTO person SELECT i, 20 + i % 5, 'd' || i % 3 FROM generate_series(1, 40) i;
GRANT SELECT, TRIGGER ON person TO :"owner";
CREATE SCHEMA closed AUTHORIZATION :"owner";
SET ROLE :"owner";
SELECT kanon.create_anonymization_view('closed.people', 'SELECT id, age, ill FROM public.person', id => '{id}',
    quasi_ids => '{"age": null}', sensitive => '{"ill": null}', k => 3) AS made;
SELECT kanon.create_anonymization_view('closed.boxes', 'SELECT id, age FROM public.person', id => '{id}',
    quasi_ids => '{"age": null}', k => 3, algorithm => 'mondrian') AS made;
SELECT kanon.create_anonymization_view('closed.kept', 'SELECT id, age FROM public.person', id => '{id}',
    quasi_ids => '{"age": null}', k => 3, materialized => true) AS made;
GRANT SELECT ON closed.people, closed.kept TO :"analyst";
RESET ROLE;
SELECT id AS people, view::oid AS people_oid FROM kanon.aview WHERE view = 'closed.people'::regclass \gset
SELECT id AS kept FROM kanon.aview WHERE view = 'closed.kept'::regclass \gset
CREATE TABLE hidden AS SELECT;
GRANT SELECT ON hidden TO :"analyst";
CREATE VIEW number AS SELECT * FROM kanon.scan(:'people') AS s (id int, age kanon.generalized, ill text);
GRANT SELECT ON number TO :"analyst";

-- 1. USAGE on the schema, however the view is named: by its number, its OID, its name; in a view of others, too.
SET ROLE :"analyst";
SELECT count(*) FROM closed.people;
\set VERBOSITY terse
SELECT count(*) FROM kanon.scan(:'people') AS s (id int, age kanon.generalized, ill text);
SELECT count(*) FROM kanon.scan(:people_oid::regclass) AS s (id int, age kanon.generalized, ill text);
SELECT count(*) FROM kanon.scan('closed.people') AS s (id int, age kanon.generalized, ill text);
SELECT count(*) FROM kanon.scan(:'kept') AS s (id int, age kanon.generalized);
SELECT count(*) FROM number;
PREPARE scan AS SELECT count(*) FROM kanon.scan(:'people') AS s (id int, age kanon.generalized, ill text);
EXECUTE scan;
SELECT count(*) FROM hidden, LATERAL kanon.scan(:'people') AS s (id int, age kanon.generalized, ill text);
SELECT * FROM kanon.aview_columns(:people_oid);
SELECT * FROM kanon.aview_profile(:people_oid);
SELECT kanon.policy(:people_oid);
SELECT * FROM kanon.generalization_sequence(:people_oid);
SELECT * FROM kanon.k_anonymity(:people_oid, '{age}');
SELECT estimate FROM kanon.estimate_count(:people_oid, '{"age": [20, 22]}');
SET ROLE :"owner";
GRANT USAGE ON SCHEMA closed TO :"analyst";
SET ROLE :"analyst";
EXECUTE scan;
SELECT count(*) FROM number;
SELECT count(*) FROM kanon.aview_columns(:people_oid);
SELECT count(*) FROM kanon.generalization_sequence(:people_oid);
SET ROLE :"owner";
REVOKE USAGE ON SCHEMA closed FROM :"analyst";
SET ROLE :"analyst";
EXECUTE scan;
-- The owner needs none of that.
RESET ROLE;
REVOKE ALL ON SCHEMA closed FROM :"owner";
SET ROLE :"owner";
SELECT count(*) FROM kanon.aview_columns(:people_oid);
RESET ROLE;
GRANT ALL ON SCHEMA closed TO :"owner";

-- 2. Bounds of boxes are raw values.
SET ROLE :"owner";
SELECT count(*) > 0 AS boxes FROM kanon.cell_tree('closed.boxes');
SELECT count(*) > 0 AS groups FROM kanon.groups('closed.kept');
RESET ROLE;
REVOKE SELECT ON person FROM :"owner";
SET ROLE :"owner";
SELECT * FROM kanon.cell_tree('closed.boxes');
SELECT * FROM kanon.groups('closed.kept');
SELECT * FROM kanon.refresh('closed.kept');
SELECT * FROM kanon.uncovered('closed.people');
SELECT * FROM kanon.quality('closed.people');
SELECT * FROM kanon.tally('closed.people');
SELECT * FROM kanon.why_hidden('closed.people', '1');
SELECT kanon.refresh_sequence('closed.people');
SELECT count(*) FROM closed.boxes;
-- Nor to an administrator on the owner's behalf.
RESET ROLE;
SELECT * FROM kanon.cell_tree('closed.boxes');
GRANT SELECT (id) ON person TO :"owner";
SET ROLE :"owner";
SELECT * FROM kanon.cell_tree('closed.boxes');
RESET ROLE;
GRANT SELECT (id, age) ON person TO :"owner";
SET ROLE :"owner";
SELECT count(*) > 0 AS boxes FROM kanon.cell_tree('closed.boxes');
SET ROLE :"analyst";
SELECT * FROM kanon.cell_tree(:people_oid);
RESET ROLE;

-- 3. A path that means the same for the analyst, but more for a function with its owner's rights: the analyst has a
-- schema in front that the analyst may not use.
CREATE TABLE ran (by name, what text);
GRANT INSERT ON ran TO PUBLIC;
CREATE SCHEMA lure AUTHORIZATION :"analyst";
GRANT CREATE ON SCHEMA public TO :"owner";
SET ROLE :"owner";
CREATE FUNCTION helper(t text) RETURNS text LANGUAGE sql AS $$ SELECT t $$;
CREATE FUNCTION code(t text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN RETURN helper(t); END $$;
RESET ROLE;
GRANT SELECT ON person TO :"owner";
SET ROLE :"owner";
SELECT kanon.create_anonymization_view('coded', 'SELECT id, age, code(ill) AS ill FROM person', id => '{id}',
    quasi_ids => '{"age": null}', sensitive => '{"ill": null}', k => 3) AS made;
GRANT SELECT ON coded TO :"analyst";
SET ROLE :"analyst";
CREATE FUNCTION lure.helper(t text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.ran VALUES (current_user, 'helper');
    RETURN t;
END $$;
SET search_path = public;
SELECT count(ill) FROM coded;
GRANT USAGE ON SCHEMA lure TO :"owner";
REVOKE USAGE ON SCHEMA lure FROM :"analyst";
SET search_path = lure, public;
SELECT count(ill) FROM coded;
SELECT rows FROM kanon.k_anonymity('coded', '{age}', 'ill');
RESET search_path;
RESET ROLE;
SELECT count(*) AS "of the analyst's calls" FROM ran;
DROP VIEW number;
DROP TABLE hidden;
DROP OWNED BY :"analyst", :"owner" CASCADE;
DROP TABLE person, ran;
DROP ROLE :"analyst", :"owner";
