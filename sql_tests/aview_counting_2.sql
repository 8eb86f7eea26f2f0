-- Every plan of A-views against the oracle, where people and values are hard to count: identifiers that are missing or
-- spelled in several ways, several rows per person, values that look different and are equal, and mixes of levels.
\set dir `echo "$PG_ABS_SRCDIR"`
SELECT NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext')
    OR NOT EXISTS (SELECT FROM pg_collation WHERE collprovider = 'i') AS skipped \gset
\if :skipped
    \echo skipped: the server has no citext, or no ICU
    \quit
\endif
\set ECHO none
\i :dir/data/oracle.sql
\set ECHO all
CALL oracle.make_nocase();
SET oracle.focus = counting;
CALL oracle.run(seed => 102, queries => 300);
\pset format unaligned
\pset tuples_only
SELECT topic, counts FROM oracle.report ORDER BY topic COLLATE "C";
