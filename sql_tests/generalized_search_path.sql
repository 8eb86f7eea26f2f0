-- Comparisons mean the same for every search_path; the extension's own queries do not depend on it.
SELECT kanon.import_dgh('d', '{a;p;*,b;p;*,c;q;*}');
CREATE TABLE public.t AS SELECT kanon.generalize('d', v, 1) AS x FROM unnest('{a,b,c}'::text[]) v;

-- A schema full of impostors.
CREATE SCHEMA evil;
CREATE FUNCTION evil.yes(anyelement, anyelement) RETURNS bool LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION evil.no(text, text) RETURNS bool LANGUAGE sql AS 'SELECT false';
CREATE FUNCTION evil.nextval(text) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
CREATE FUNCTION evil.unnest(text[]) RETURNS SETOF text LANGUAGE sql AS $$ SELECT 'evil'::text $$;
CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.no);
CREATE OPERATOR evil.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.no);
CREATE TABLE evil.dgh (name text);
CREATE TABLE evil.dgh_edge (dgh text, child text, parent text);

CREATE FUNCTION public.answers() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN format('= %s %s  IN %s  < %s  int %s  min %s  groups %s  avlike %s',
        (SELECT count(*) FROM public.t WHERE x = 'a'), (SELECT count(*) FROM public.t WHERE text 'a' = x),
        (SELECT count(*) FROM public.t WHERE x IN ('a', 'c')), (SELECT count(*) FROM public.t WHERE x < 'b'),
        (SELECT count(*) FROM public.t WHERE x = 5), (SELECT min(x) FROM public.t),
        (SELECT count(*) FROM (SELECT x FROM public.t GROUP BY x) g), (SELECT count(*) FROM public.t WHERE x ~~^ 'b'));
END
$$;
SELECT answers();
DO $$
DECLARE
    path text;
BEGIN
    FOREACH path IN ARRAY ARRAY['""', 'public', 'kanon', 'kanon, public', 'evil', 'evil, public', 'evil, kanon',
        'pg_temp'] LOOP
        PERFORM set_config('search_path', path, true);
        DISCARD PLANS;
        RAISE NOTICE '%: %', path, public.answers();
    END LOOP;
END
$$;
-- Only a search_path with another schema before pg_catalog brings another schema's operators, for text as for
-- everything else: the functions of kanon do not care.
SET search_path = evil, pg_catalog;
SELECT kanon.create_dgh('made under evil'), kanon.import_dgh('imported under evil', '{a;p;*,b;p;*}');
INSERT INTO kanon.dgh_edge VALUES ('made under evil', 'x', 'y'), ('made under evil', 'y', 'z');
INSERT INTO kanon.dgh_edge VALUES ('made under evil', 'z', 'x');
UPDATE kanon.dgh_edge SET parent = 'other' WHERE child OPERATOR(pg_catalog.=) 'x';
SELECT kanon.generalize('made under evil', 'x', 1), kanon.generalize('imported under evil', 'a', 1);
SELECT kanon.export_dgh('imported under evil');
SELECT pg_catalog.count(*) FROM public.t WHERE x = 'a';
SELECT kanon.drop_dgh('made under evil');
RESET search_path;
SELECT name FROM kanon.dgh ORDER BY 1;
SELECT count(*) FROM evil.dgh_edge;

-- The operators are in pg_catalog and belong to the extension.
SELECT oprname, count(*) FROM pg_operator o JOIN pg_depend d ON d.classid = 'pg_operator'::regclass AND d.objid = o.oid
    AND d.deptype = 'e'
WHERE oprnamespace = 'pg_catalog'::regnamespace AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'kanon')
    GROUP BY 1 ORDER BY 1;
-- Each has its mirror; none is in an operator class, hashes or merges.
SELECT count(*) FILTER (WHERE c.oid IS NULL OR c.oprcom <> o.oid OR c.oprleft <> o.oprright
    OR c.oprright <> o.oprleft) AS "without mirror",
    count(*) FILTER (WHERE o.oprcanhash OR o.oprcanmerge OR o.oprnegate <> 0) AS "taken for equality",
       count(*) FILTER (WHERE EXISTS (SELECT FROM pg_amop WHERE amopopr = o.oid)) AS "in a class",
       count(*) FILTER (WHERE p.provolatile <> 's' OR p.proparallel <> 's' OR NOT p.proisstrict) AS "marked otherwise"
FROM pg_operator o LEFT JOIN pg_operator c ON c.oid = o.oprcom JOIN pg_proc p ON p.oid = o.oprcode
WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND 'kanon.generalized'::regtype IN (o.oprleft, o.oprright);
