-- Row-level security of the tables holds as for any view: the policies for its owner count, and the rows that they hide
-- are in no group.
\set dir `echo "$PG_ABS_SRCDIR"`
\set people :dir '/data/people.sql'
\i :people
RESET ROLE;
ALTER TABLE person OWNER TO CURRENT_USER;
GRANT SELECT ON person TO :"owner", :"analyst";
SET ROLE :"owner";
GRANT SELECT ON people TO :"analyst";
CREATE VIEW plain AS SELECT * FROM person;
GRANT SELECT ON plain TO :"analyst";
PREPARE q AS SELECT count(*) AS rows, count(DISTINCT zip) AS zips FROM people;
EXECUTE q;
RESET ROLE;
ALTER TABLE person ENABLE ROW LEVEL SECURITY;
-- No policy: no rows.
SET ROLE :"analyst";
SELECT count(*) FROM plain;
SELECT count(*) FROM people;
SET ROLE :"owner";
EXECUTE q;
-- For the view's owner only.
RESET ROLE;
CREATE POLICY low ON person TO :"owner" USING (ward < 5);
SET ROLE :"analyst";
SELECT count(*) FROM person;
SELECT count(*) FROM plain;
SELECT count(*) FROM people;
SELECT count(*) FROM people WHERE ward >= 5;
SET kanon.plan = select_first;
SELECT count(*) FROM people WHERE ward = 7;
SELECT count(*) FROM people WHERE ward = 3;
SET kanon.plan = function;
SELECT count(*) FROM people;
RESET kanon.plan;
-- Hidden rows do not help other rows to reach k: ward 0 alone has few people.
RESET ROLE;
ALTER POLICY low ON person USING (ward = 0 AND zip < '013');
SET ROLE :"owner";
CREATE TABLE visible AS SELECT * FROM person;
SELECT count(*) AS rows, count(DISTINCT name) AS people FROM visible;
SELECT kanon.create_anonymization_view('check_visible', 'SELECT name, age, zip, disease, ward FROM visible',
	id => '{name}',
	quasi_ids => '{"age": "ages", "zip": "zips"}', sensitive => '{"disease": null}', k => 4, other => '{ward}');
SELECT kanon.refresh_sequence('people');
(TABLE people EXCEPT ALL TABLE check_visible) UNION ALL (TABLE check_visible EXCEPT ALL TABLE people);
SET ROLE :"analyst";
SELECT count(*) FROM people;
-- A policy's functions see raw rows, an analyst's do not get in between.
RESET ROLE;
ALTER POLICY low ON person USING (ward < 5);
CREATE SCHEMA attic AUTHORIZATION :"analyst";
SET ROLE :"analyst";
CREATE FUNCTION attic.tell(integer) RETURNS boolean LANGUAGE plpgsql STABLE COST 0.0000001 AS $$
BEGIN
	IF $1 >= 5 THEN
		RAISE NOTICE 'saw %', $1;
	END IF;
	RETURN true;
END
$$;
SELECT count(*) FROM people WHERE attic.tell(ward);
SET kanon.plan = select_first;
SELECT count(*) FROM people WHERE attic.tell(ward) AND ward > 2;
SELECT count(*) FROM people WHERE ward = 3 AND attic.tell(ward);
RESET kanon.plan;
-- A role that bypasses policies for itself does not do so through the view.
RESET ROLE;
SELECT count(*) FROM person;
SELECT count(*) FROM people;
\set end :dir '/data/people_end.sql'
DROP TABLE person CASCADE;
\i :end
