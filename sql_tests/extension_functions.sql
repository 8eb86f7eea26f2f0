-- The functions of the extension that run with other rights than the caller's, and how all of them look up names.
-- A new row here says that somebody has looked at whose code can run with whose rights.

-- With the rights of the extension's owner. Each has a search_path of its own, and runs code of other roles only as
-- the owner of the view that it belongs to.
SELECT proname, proconfig FROM pg_proc WHERE pronamespace = 'kanon'::regnamespace AND prosecdef ORDER BY proname;
-- Written in SQL or PL/pgSQL, without a search_path of its own, and not analyzed once and for all: it names nothing.
SELECT p.proname FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
WHERE p.pronamespace = 'kanon'::regnamespace AND l.lanname NOT IN ('c', 'internal') AND p.prosqlbody IS NULL
    AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false) ORDER BY p.proname;
-- Tables and sequences: what the public may do there.
SELECT c.relname, a.privilege_type FROM pg_class c, aclexplode(c.relacl) a
WHERE c.relnamespace = 'kanon'::regnamespace AND a.grantee = 0 ORDER BY 1, 2;
-- The schema.
SELECT a.privilege_type FROM pg_namespace n, aclexplode(n.nspacl) a WHERE n.nspname = 'kanon' AND a.grantee = 0;
