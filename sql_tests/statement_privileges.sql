-- Every role may use DO LANGUAGE kanon, for the work that it may do by function.
\set SHOW_CONTEXT never
CREATE ROLE statement_dba;
CREATE ROLE statement_analyst;
CREATE SCHEMA clinic;
CREATE TABLE clinic.patient (name text, zip text);
INSERT INTO clinic.patient VALUES ('Ann', '1'), ('Bob', '1'), ('Cleo', '2'), ('Dan', '2');
GRANT USAGE ON SCHEMA clinic TO statement_dba, statement_analyst;
SELECT lanpltrusted, has_language_privilege('statement_analyst', 'kanon', 'USAGE') FROM pg_language
    WHERE lanname = 'kanon';

-- Without privileges on tables and schemas, nothing happens: the same errors as from the functions.
SET ROLE statement_analyst;
DO LANGUAGE kanon $$ $$;
DO LANGUAGE kanon $$ CREATE DGH d $$;
\echo :SQLSTATE
SELECT kanon.create_dgh('d');
\echo :SQLSTATE
DO LANGUAGE kanon $$ CREATE ANONYMIZATION_VIEW clinic.v ON SELECT *
    FROM clinic.patient WITH ANONYMIZATION_ID name K 2 $$;
\echo :SQLSTATE
SELECT kanon.create_anonymization_view('clinic.v', 'SELECT * FROM clinic.patient', id => '{name}', k => 2,
    other => '{zip}');
\echo :SQLSTATE
RESET ROLE;

-- Hierarchies need privileges on their tables.
SELECT kanon.create_dgh('d');
SET ROLE statement_dba;
DO LANGUAGE kanon $$ INSERT INTO DGH d 1, one $$;
\echo :SQLSTATE
DO LANGUAGE kanon $$ DROP DGH d $$;
\echo :SQLSTATE
RESET ROLE;
GRANT SELECT, INSERT, UPDATE, DELETE ON kanon.dgh, kanon.dgh_edge TO statement_dba;
SET ROLE statement_dba;
DO LANGUAGE kanon $$ INSERT INTO DGH d 1, one; CREATE DGH e; DROP DGH e $$;
RESET ROLE;

-- An A-view needs CREATE on its schema and SELECT on its source.
GRANT CREATE ON SCHEMA clinic TO statement_dba;
SET ROLE statement_dba;
DO LANGUAGE kanon $$ CREATE ANONYMIZATION_VIEW clinic.v ON SELECT *
    FROM clinic.patient WITH ANONYMIZATION_ID name ANONYMIZATION_QUASI_ID zip DGH_NAME d K 2 $$;
\echo :SQLSTATE
RESET ROLE;
SELECT count(*) FROM kanon.aview;
GRANT SELECT ON clinic.patient TO statement_dba;
SET ROLE statement_dba;
DO LANGUAGE kanon $$ CREATE ANONYMIZATION_VIEW clinic.v ON SELECT *
    FROM clinic.patient WITH ANONYMIZATION_ID name ANONYMIZATION_QUASI_ID zip DGH_NAME d K 2 $$;
SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = 'clinic.v'::regclass;
GRANT SELECT ON clinic.v TO statement_analyst;
SET ROLE statement_analyst;
SELECT * FROM clinic.v ORDER BY zip;
-- Only its owner drops it.
DO LANGUAGE kanon $$ DROP ANONYMIZATION_VIEW clinic.v $$;
\echo :SQLSTATE
RESET ROLE;

-- A role that may not execute a function may not do the same by statement.
REVOKE EXECUTE ON FUNCTION kanon.create_anonymization_view FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION kanon.drop_anonymization_view FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION kanon.create_dgh FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION kanon.drop_dgh FROM PUBLIC;
SET ROLE statement_dba;
DO LANGUAGE kanon $$ CREATE ANONYMIZATION_VIEW clinic.w ON SELECT * FROM clinic.patient WITH K 2 $$;
\echo :SQLSTATE
DO LANGUAGE kanon $$ DROP ANONYMIZATION_VIEW clinic.v $$;
\echo :SQLSTATE
DO LANGUAGE kanon $$ CREATE DGH e $$;
\echo :SQLSTATE
DO LANGUAGE kanon $$ DROP DGH d $$;
\echo :SQLSTATE
RESET ROLE;
GRANT EXECUTE ON FUNCTION kanon.create_anonymization_view, kanon.drop_anonymization_view, kanon.create_dgh,
    kanon.drop_dgh TO PUBLIC;

-- Objects of the caller's search_path stand in for nothing that a statement does.
CREATE SCHEMA hostile AUTHORIZATION statement_analyst;
SET ROLE statement_analyst;
CREATE FUNCTION hostile.unnest(text[]) RETURNS SETOF text LANGUAGE sql AS $$ SELECT 'evil'::text $$;
CREATE FUNCTION hostile.create_anonymization_view() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;
CREATE FUNCTION hostile.equal(text, text) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$;
CREATE OPERATOR hostile.= (LEFTARG = text, RIGHTARG = text, FUNCTION = hostile.equal);
RESET ROLE;
SET search_path = hostile, pg_catalog, public;
DO LANGUAGE kanon $$ CREATE DGH e; INSERT INTO DGH e a, b; INSERT INTO DGH d 2, two; CREATE DGH f; DROP DGH f $$;
RESET search_path;
SELECT * FROM kanon.dgh_edge ORDER BY dgh, child;

-- The language itself can be withheld.
REVOKE USAGE ON LANGUAGE kanon FROM PUBLIC;
SET ROLE statement_analyst;
DO LANGUAGE kanon $$ $$;
\echo :SQLSTATE
RESET ROLE;
GRANT USAGE ON LANGUAGE kanon TO statement_dba;
SET ROLE statement_dba;
DO LANGUAGE kanon $$ DROP ANONYMIZATION_VIEW clinic.v; DROP DGH d $$;
RESET ROLE;
SELECT count(*) FROM kanon.aview;

DROP SCHEMA hostile CASCADE;
DROP OWNED BY statement_dba, statement_analyst;
DROP ROLE statement_dba, statement_analyst;
