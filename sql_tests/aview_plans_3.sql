-- Every plan of A-views, and the plain function, against an oracle written from the definition: random tables,
-- hierarchies, views and queries, which depend on the seed alone. For many more of them: tools/soak.
\set dir `echo "$PG_ABS_SRCDIR"`
\set ECHO none
\i :dir/data/oracle.sql
\set ECHO all
CALL oracle.run(seed => 3, queries => 345);
\pset format unaligned
\pset tuples_only
SELECT topic, counts FROM oracle.report ORDER BY topic COLLATE "C";
