\echo Use "CREATE EXTENSION kanon" to load this file. \quit

-- A schema made here belongs to the extension and goes with it; one that is there
-- already, with who knows what in it, is refused.  (The control file says
-- pg_catalog because an extension cannot own the schema that it lives in.)
CREATE SCHEMA kanon;

-- Operators and the type have to be usable by every analyst; tables and
-- functions keep privileges of their own.
GRANT USAGE ON SCHEMA kanon TO PUBLIC;

