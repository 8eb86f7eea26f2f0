-- An A-view may be read with SELECT on it, without any right on the tables, in whichever way it is reached.
\set dir `echo "$PG_ABS_SRCDIR"`
\set people :dir '/data/people.sql'
\i :people
SELECT current_database() || '_stranger' AS stranger \gset
CREATE ROLE :"stranger";

-- Without a grant there is nothing to see, in any mode.
SET ROLE :"analyst";
SELECT count(*) FROM people;
EXPLAIN SELECT count(*) FROM people;
SET kanon.plan = function;
SELECT count(*) FROM people;
RESET kanon.plan;
SELECT count(*) FROM kanon.scan('people') AS s (n text, a kanon.generalized, z kanon.generalized, d text, w integer);
SELECT count(*) FROM kanon.generalization_sequence('people');

-- With SELECT on the view, and nothing else.
SET ROLE :"owner";
GRANT SELECT ON people TO :"analyst";
SET ROLE :"analyst";
SELECT count(*) FROM people;
SELECT count(*) FROM person;
SELECT count(*) FROM kanon.generalization_sequence('people') AS s WHERE s."column" IN ('age', 'zip');
SELECT * FROM kanon.aview;

-- Statements that only the owner may run.
SELECT kanon.refresh_sequence('people');
SELECT kanon.uncovered('people');
SELECT kanon.alter_anonymization_view('people', k => 0);
SELECT kanon.drop_anonymization_view('people');
UPDATE people SET ward = 1;
DELETE FROM people;
INSERT INTO people (ward) VALUES (1);

-- Columns that are granted alone.
SET ROLE :"owner";
GRANT SELECT (ward, zip) ON people TO :"stranger";
SET ROLE :"stranger";
SELECT count(zip), count(DISTINCT ward) FROM people;
SELECT count(disease) FROM people;
SELECT count(*) FROM people WHERE disease = 'plague';
SELECT count(ward) FROM kanon.scan('people') AS s (n text, a kanon.generalized, z kanon.generalized, d text,
	ward integer);

-- The function itself: by name, number, relation, and with wrong columns.
RESET ROLE;
SELECT id FROM kanon.aview WHERE view = 'people'::regclass \gset
SET ROLE :"analyst";
SELECT count(*) FROM kanon.scan('people') AS s (n text, a kanon.generalized, z kanon.generalized, d text, w integer);
SELECT count(*) FROM kanon.scan('public.people') AS s (n text, a kanon.generalized, z kanon.generalized, d text,
	w integer);
SELECT count(*) FROM kanon.scan('people'::regclass) AS s (n text, a kanon.generalized, z kanon.generalized, d text,
	w integer);
SELECT * FROM kanon.scan(:'id') AS s (n text, a kanon.generalized, z kanon.generalized, d text, w integer) WHERE w = 77;
SELECT * FROM kanon.scan(:'id') AS s (n text, a integer, z text, d text, w integer);
SELECT * FROM kanon.scan(:'id') AS s (n text, a kanon.generalized, z kanon.generalized, d text);
SELECT * FROM kanon.scan(:'id') AS s (n text, a kanon.generalized, z kanon.generalized, d text, w integer, x text);
SELECT * FROM kanon.scan(:'id') AS s (n text, a kanon.generalized, z kanon.generalized, d text, w bigint);
SELECT * FROM kanon.scan('person') AS s (n text, a integer);
SELECT * FROM kanon.scan('nobody') AS s (n text);
SELECT * FROM kanon.scan('') AS s (n text);
SELECT * FROM kanon.scan('12345') AS s (n text);
SELECT * FROM kanon.scan('99999999999999999999') AS s (n text);
SELECT * FROM kanon.scan(1::regclass) AS s (n text);
SELECT * FROM kanon.scan(0::regclass) AS s (n text);
SELECT * FROM kanon.scan(NULL::text) AS s (n text);
SELECT kanon.scan('people');
SELECT * FROM kanon.scan('people');
SELECT count(*) FROM ROWS FROM (kanon.scan('people') AS (n text, a kanon.generalized, z kanon.generalized, d text,
	w integer), generate_series(1, 3));
SELECT w, count(*) FROM (VALUES ('people'), ('people')) AS x (name),
	kanon.scan(name) AS s (n text, a kanon.generalized, z kanon.generalized, d text, w integer)
	WHERE w = 77 GROUP BY w;
-- A call of one's own, next to the view that one may read: witnessed is not granted.
SELECT count(*) FROM people, kanon.scan('witnessed') AS s (n text, a kanon.generalized, z kanon.generalized, d text,
	w integer);
SELECT count(*) FROM (SELECT * FROM people) v,
	LATERAL (SELECT * FROM kanon.scan('witnessed') AS s (n text, a kanon.generalized, z kanon.generalized, d text,
	w integer)) x;
SELECT ward FROM people UNION ALL SELECT w FROM kanon.scan('witnessed') AS s (n text, a kanon.generalized,
	z kanon.generalized, d text, w integer);

-- A view on top: its owner needs the A-view, its users only the upper view.
SET ROLE :"owner";
CREATE VIEW upper AS SELECT zip, count(*) AS patients FROM people WHERE ward = 77 GROUP BY zip;
CREATE VIEW twice AS SELECT a.ward, a.zip FROM people a JOIN witnessed b USING (ward) WHERE ward = 77;
GRANT SELECT ON upper, twice TO :"stranger";
SET ROLE :"stranger";
SELECT * FROM upper;
SELECT * FROM twice;
SET kanon.plan = function;
SELECT * FROM upper;
RESET kanon.plan;
SELECT disease FROM people;
-- A direct call inside a view is checked as its user's.
SET ROLE :"owner";
CREATE VIEW direct AS SELECT * FROM kanon.scan('people') AS s (n text, a kanon.generalized, z kanon.generalized, d text,
	w integer);
GRANT SELECT ON direct TO :"stranger", :"analyst";
SET ROLE :"stranger";
SELECT count(*) FROM direct;
SET ROLE :"analyst";
SELECT count(*) FROM direct;
-- A role that lost the right on the A-view can no longer read its own views on it.
RESET ROLE;
GRANT CREATE ON SCHEMA public TO :"analyst";
SET ROLE :"analyst";
CREATE VIEW mine AS SELECT ward, zip FROM people WHERE ward = 77;
GRANT SELECT ON mine TO :"stranger";
SET ROLE :"stranger";
SELECT * FROM mine;
SET ROLE :"owner";
REVOKE SELECT ON people FROM :"analyst";
SET ROLE :"stranger";
SELECT * FROM mine;
SET ROLE :"owner";
GRANT SELECT ON people TO :"analyst";

RESET ROLE;
REVOKE SELECT (ward, zip) ON people FROM :"stranger";

-- Functions that run as their owner.
SET ROLE :"owner";
CREATE FUNCTION count_people() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM people';
CREATE FUNCTION count_as_caller() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(*) FROM people); END';
SET ROLE :"stranger";
SELECT count_people();
\set SHOW_CONTEXT never
SELECT count_as_caller();

-- An UPDATE of the view that a trigger allows is no way round SELECT.
SET ROLE :"owner";
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER instead INSTEAD OF UPDATE OR INSERT ON people FOR EACH ROW EXECUTE FUNCTION nothing();
GRANT UPDATE, INSERT ON people TO :"stranger";
SET ROLE :"stranger";
UPDATE people SET ward = s.w FROM kanon.scan('people') AS s (n text, a kanon.generalized, z kanon.generalized, d text,
	w integer);
INSERT INTO people (ward) SELECT w FROM kanon.scan('people') AS s (n text, a kanon.generalized, z kanon.generalized,
	d text, w integer);

-- The owner's own rights on the table count for all.
SET ROLE :"owner";
DROP TRIGGER instead ON people;
RESET ROLE;
ALTER TABLE person OWNER TO CURRENT_USER;
REVOKE ALL ON person FROM :"owner";
SET ROLE :"analyst";
SELECT count(*) FROM people;
RESET ROLE;
GRANT SELECT ON person TO :"owner";
SET ROLE :"analyst";
SELECT count(*) FROM people;

RESET ROLE;
SET client_min_messages = error;
DROP TABLE person CASCADE;
DROP OWNED BY :"stranger";
DROP ROLE :"stranger";
\set end :dir '/data/people_end.sql'
\i :end
