-- The demo works, and shows what it says.
\set dir `echo "$PG_ABS_SRCDIR"`
\set hospital :dir '/demo/hospital.sql'
\set tour :dir '/demo/tour.sql'
SET client_min_messages = warning;  -- the extension is already there
\set ECHO none
\i :hospital
\i :tour
DROP OWNED BY kanon_demo_analyst;
DROP ROLE kanon_demo_analyst;
