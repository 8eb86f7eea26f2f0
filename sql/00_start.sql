\echo Use "CREATE EXTENSION kanon" to load this file. \quit

-- A schema created here belongs to the extension and is dropped with it.  If a
-- schema of this name already exists, with unknown contents, this fails.  (The
-- control file says pg_catalog, because an extension cannot own the schema that
-- it is installed in.)
CREATE SCHEMA kanon;

-- Every analyst must be able to use the operators and the type.  Tables and
-- functions have privileges of their own.
GRANT USAGE ON SCHEMA kanon TO PUBLIC;

