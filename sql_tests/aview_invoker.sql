-- Views WITH (security_invoker), an option that PostgreSQL 14 does not have: the test is skipped there.
SELECT current_setting('server_version_num')::int < 150000 AS unknown \gset
\if :unknown
    \echo skipped: PostgreSQL 14 has no security_invoker
    \quit
\endif
\set dir `echo "$PG_ABS_SRCDIR"`
\set people :dir '/data/people.sql'
\i :people
SELECT current_database() || '_stranger' AS stranger \gset
CREATE ROLE :"stranger";

-- The caller's rights count for the upper view as for any.
SET ROLE :"owner";
GRANT SELECT ON people, witnessed TO :"analyst";
CREATE VIEW invoker WITH (security_invoker) AS SELECT ward, zip FROM people WHERE ward = 77;
CREATE VIEW upper AS SELECT ward, zip FROM people WHERE ward = 77;
GRANT SELECT ON invoker, upper TO :"stranger", :"analyst";
SET ROLE :"analyst";
SELECT * FROM invoker;
SET ROLE :"stranger";
SELECT * FROM invoker;

-- An A-view so marked needs the tables, too.
SET ROLE :"owner";
ALTER VIEW people SET (security_invoker = true);
SELECT count(*) FROM people;
SET ROLE :"analyst";
SELECT count(*) FROM people;
-- With the right to read the table, but none on the A-view: not by it, nor beside it.
RESET ROLE;
GRANT SELECT ON person TO :"stranger";
SET ROLE :"stranger";
SELECT count(*) FROM people;
SELECT count(*) FROM upper, kanon.scan('people') AS s (n text, a kanon.generalized, z kanon.generalized, d text,
    w integer);
SELECT count(*) FROM kanon.scan('people') AS s (n text, a kanon.generalized, z kanon.generalized, d text, w integer)
	WHERE true OR EXISTS (SELECT name, age, zip, disease, ward FROM person);
SET ROLE :"owner";
ALTER VIEW people RESET (security_invoker);

RESET ROLE;
SET client_min_messages = error;
DROP OWNED BY :"stranger";
DROP ROLE :"stranger";
\set end :dir '/data/people_end.sql'
\i :end
