--
-- The audit: findings about an A-view, each with advice, for the view's owner.
--

-- Tables and views that an A-view reads.
CREATE FUNCTION kanon.base_relations(view regclass) RETURNS SETOF regclass
    LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE base (relation) AS (
        SELECT view::oid
        UNION
        SELECT d.refobjid FROM base b
            JOIN pg_rewrite r ON r.ev_class = b.relation
            JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass)
    SELECT b.relation::regclass FROM base b JOIN pg_class c ON c.oid = b.relation
    WHERE b.relation <> view AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        AND c.relnamespace <> 'kanon'::regnamespace AND c.relnamespace <> 'pg_catalog'::regnamespace
    ORDER BY c.relname, c.oid
$$;
COMMENT ON FUNCTION kanon.base_relations IS 'the relations that an A-view reads, directly or through views';

-- Changes of row policies fire no trigger of a table.  Readers of stored groups compare this text with the stored one.
CREATE FUNCTION kanon.row_policies(view regclass) RETURNS text
    LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    SELECT md5(string_agg(format('%s %s %s %s %s %s %s', c.oid::regclass, c.relforcerowsecurity, p.polname, p.polcmd, p.polpermissive,
            ARRAY(SELECT coalesce(r.rolname, 'public') FROM unnest(p.polroles) AS role LEFT JOIN pg_roles r ON r.oid = role ORDER BY 1),
            pg_get_expr(p.polqual, p.polrelid)), E'\n' ORDER BY c.oid::regclass::text, p.polname))
    FROM kanon.base_relations(view) AS b (relation) JOIN pg_class c ON c.oid = b.relation LEFT JOIN pg_policy p ON p.polrelid = c.oid
    WHERE c.relrowsecurity
$$;
COMMENT ON FUNCTION kanon.row_policies(regclass) IS
    'a digest of the row policies of the tables that a view reads; null: none of them has row security';

-- Say why a column looks identifying.
CREATE FUNCTION kanon.looks_identifying(name text, type regtype) RETURNS text
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE
        WHEN type IN ('uuid'::regtype, 'inet'::regtype, 'cidr'::regtype, 'macaddr'::regtype, 'macaddr8'::regtype)
            THEN format('its type %s usually identifies a device or a record', type)
        WHEN name ~* '(^|_)(first|last|full|sur|family|given|user|nick)?_?names?($|_|\d)|surname|firstname|lastname|username'
            THEN 'its name suggests names of people'
        WHEN name ~* 'e?_?mail|phone|(^|_)tel($|_)|mobile|fax($|_)|url|website'
            THEN 'its name suggests contact details'
        WHEN name ~* 'ssn|social_?sec|passport|licen[cs]e|plate|iban|account|card_?n|insur.*(no|num|id)|(^|_)(mrn|nhs|svnr|nif|cpf)($|_)|tax_?id'
            THEN 'its name suggests numbers that identify people'
        WHEN name ~* '(^|_)(id|uid|guid|key|code)$|patient_?(id|no|num)|record_?(id|no|num)|case_?(id|no|num)|serial'
            THEN 'its name suggests that it identifies records'
        WHEN name ~* 'birth|(^|_)dob($|_)|born|death|admission|discharge'
            THEN 'its name suggests dates in people''s lives'
        WHEN name ~* 'zip|postal|post_?code|street|address|city|town|village|(^|_)(lat|lon|lng|geo)|latitude|longitude|location'
            THEN 'its name suggests places where people live or stay'
        WHEN name ~* '(^|_)(sex|gender|age|race|ethnic\w*|nationality|religion|occupation|profession|employer|marital\w*)($|_)'
            THEN 'its name suggests facts that others may know'
        WHEN name ~* 'note|comment|remark|description|free_?text|anamnesis'
            THEN 'its name suggests free text'
    END
$$;
COMMENT ON FUNCTION kanon.looks_identifying IS
    'why a column looks identifying by its name or type; null if it does not';

-- The risks of re-identification in groups of these sizes.
CREATE FUNCTION kanon.audit_risks(sizes bigint[], populations bigint[], threshold float8,
        OUT measure text, OUT value float8) RETURNS SETOF record
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH g AS (SELECT f, greatest(coalesce(p, f), f) AS p FROM unnest(sizes, populations) AS u (f, p)),
        r AS (SELECT max(1.0 / f) AS prosecutor, count(*) / sum(f) AS average, max(1.0 / p) AS journalist,
                greatest(count(*) / sum(p), sum(f / p::float8) / sum(f)) AS journalist_average,
                sum(f / p::float8) / sum(f) AS marketer, sum(f) FILTER (WHERE 1.0 / f > threshold) / sum(f) AS at_risk FROM g)
    SELECT m.* FROM r, LATERAL (VALUES
        ('prosecutor risk, maximum', r.prosecutor::float8), ('prosecutor risk, average', r.average::float8),
        ('journalist risk, maximum', r.journalist::float8), ('journalist risk, average', r.journalist_average::float8),
        ('marketer risk', r.marketer::float8), ('share of people at risk', coalesce(r.at_risk, 0)::float8)) AS m (measure, value)
    WHERE r.prosecutor IS NOT NULL
$$;
COMMENT ON FUNCTION kanon.audit_risks IS
    'prosecutor, journalist and marketer risk of groups of some sizes, given how many people of the population each '
    'may refer to';

-- A finding, the unit of an audit.
CREATE TYPE kanon.finding AS (topic text, subject text, measure text, value float8, severity text, advice text);
COMMENT ON TYPE kanon.finding IS
    'a finding of an audit: the subject, the measure and its value, the severity (ok, info, warning, critical), and '
    'advice';

-- Say how to change a view.  Stored groups were formed by the old rule.
CREATE FUNCTION kanon.audit_change(view regclass, change text) RETURNS text
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN g.materialized THEN format('Drop the materialized view and create it again with %s.', change)
        ELSE format('SELECT kanon.alter_anonymization_view(%L, %s);', view::text, change) END
    FROM kanon.aview_guarantee(view) g
$$;
COMMENT ON FUNCTION kanon.audit_change IS
    'the statement that changes a view as an audit advises, or how to recreate a materialized view';

-- The findings that come from rows.
CREATE FUNCTION kanon.audit_rows(view regclass, threshold float8, population regclass) RETURNS SETOF kanon.finding
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    quasi name[];
    hierarchies text[];
    sensitives name[] := ARRAY(SELECT c."column" FROM kanon.aview_columns(view) c
        JOIN pg_attribute a ON a.attrelid = view AND a.attname = c."column" WHERE c.role = 'sensitive' ORDER BY a.attnum);
    required integer;
    personal boolean; -- each data owner has a k
    populations bigint[];
    sizes bigint[];
    more text := kanon.audit_change(view, format('k => %s', ceil(1 / threshold)));
BEGIN
    SELECT array_agg(c."column"), array_agg(c.dgh) INTO quasi, hierarchies FROM kanon.aview_columns(view) c WHERE c.role = 'quasi';
    SELECT g.k INTO required FROM kanon.aview_guarantee(view) g;
    personal := EXISTS (SELECT FROM kanon.aview_profile(view) p WHERE p.k IS NOT NULL);
    IF population IS NOT NULL AND quasi IS NOT NULL THEN
        SELECT array_agg(g.rows), array_agg(g.population) INTO sizes, populations
            FROM kanon.linked_groups(view, population, quasi::text[]) g;
    END IF;

    RETURN QUERY
    WITH t AS MATERIALIZED (SELECT * FROM kanon.tally(view)),
    g AS (SELECT * FROM t WHERE t."column" IS NULL),
    own AS (SELECT coalesce(array_agg(g.people) FILTER (WHERE g.fate = 'group' OR g.fate = 'open' AND NOT personal), '{}') AS sizes,
            coalesce(sum(g.rows), 0)::float8 AS rows, coalesce(sum(g.rows) FILTER (WHERE g.fate = 'suppressed'), 0)::float8 AS suppressed,
            coalesce(sum(g.raw_alone), 0)::float8 AS alone_before,
            coalesce(sum(g.people) FILTER (WHERE g.people = 1 AND (g.fate = 'group' OR g.fate = 'open' AND NOT personal)), 0)::float8 AS alone_after,
            coalesce(sum(g.people) FILTER (WHERE g.fate = 'open'), 0)::float8 AS open FROM g),
    risk AS (SELECT r.* FROM own, LATERAL kanon.audit_risks(own.sizes, NULL, threshold) r
            WHERE population IS NULL OR r.measure !~ '^journalist|^marketer'
        UNION ALL
        SELECT r.* FROM kanon.audit_risks(sizes, populations, threshold) r
            WHERE population IS NOT NULL AND r.measure ~ '^journalist|^marketer'),
    lost AS (SELECT q.place, q.name, sum(g.rows * g.loss[q.place]) / sum(g.rows) AS loss
        FROM unnest(quasi) WITH ORDINALITY AS q (name, place), g GROUP BY q.place, q.name),
    raw AS (SELECT t."column" AS name, count(*)::float8 AS different, sum(t.rows)::float8 AS rows,
            1 - sum(t.rows::float8 * (t.rows - 1)) / nullif(sum(t.rows)::float8 * (sum(t.rows)::float8 - 1), 0) AS separation,
            count(*) FILTER (WHERE t.unknown)::float8 AS unknown
        FROM t WHERE t."column" IS NOT NULL GROUP BY t."column")
    SELECT 'guarantee', view::text, CASE WHEN personal THEN 'k for data owners without a choice' ELSE 'k' END, required::float8,
        CASE WHEN required < 2 OR required IS NULL AND NOT personal THEN 'critical' ELSE 'ok' END,
        CASE WHEN required < 2 OR required IS NULL AND NOT personal
            THEN 'Rows are not hidden among others. Set k to at least 2: ' || kanon.audit_change(view, 'k => 5') END
    UNION ALL
    SELECT 'risk', view::text, r.measure, r.value,
        CASE WHEN r.measure ~ '^prosecutor risk, max' AND NOT personal AND r.value > 1.0 / greatest(required, 1) + 1e-9 THEN 'critical'
            WHEN r.measure ~ '^share' AND r.value > 0 OR r.measure !~ '^share' AND r.value > threshold THEN 'warning'
            WHEN r.measure ~ '^journalist risk, max' AND population IS NULL THEN 'info' ELSE 'ok' END,
        CASE WHEN r.measure ~ '^share' AND r.value > 0 OR r.measure !~ '^share' AND r.value > threshold
            THEN format('The risk of re-identification is more than 1 in %s. Raise k: %s', round(1 / threshold), more)
            WHEN r.measure ~ '^journalist risk, max' AND population IS NULL
            THEN 'Computed from the view alone. Pass a register of the population to kanon.audit to see the true, smaller risk.' END
    FROM risk r
    UNION ALL
    SELECT 'uniques', view::text, 'people alone before', own.alone_before, 'info', NULL FROM own
    UNION ALL
    SELECT 'uniques', view::text, 'people alone after', own.alone_after, CASE WHEN own.alone_after > 0 THEN 'critical' ELSE 'ok' END,
        CASE WHEN own.alone_after > 0 THEN 'The quasi-identifiers distinguish these people from all others. Set k to at least 2.' END FROM own
    UNION ALL
    SELECT 'uniques', view::text, 'people who have chosen to be in no group', own.open, 'info',
        'These data owners have chosen a k of 0 or 1 and can be distinguished from others. Make sure that the choice is really theirs.' FROM own WHERE personal AND own.open > 0
    UNION ALL
    SELECT 'utility', view::text, 'share of rows suppressed', own.suppressed / own.rows,
        CASE WHEN own.suppressed > 0.05 * own.rows THEN 'warning' ELSE 'ok' END,
        CASE WHEN own.suppressed > 0.05 * own.rows
            THEN 'Many rows show nothing. Give the hierarchies more levels below the root, publish fewer quasi-identifiers, or lower k.' END
    FROM own WHERE own.rows > 0
    UNION ALL
    SELECT * FROM (
        SELECT 'column', l.name::text, m.measure, m.value, m.severity, m.advice FROM lost l JOIN raw r ON r.name = l.name,
        LATERAL (VALUES
            (1, 'loss', l.loss, CASE WHEN l.loss > 0.9 THEN 'warning' ELSE 'ok' END,
                CASE WHEN l.loss > 0.9 AND hierarchies[l.place] IS NULL THEN 'The column is shown exactly or not at all. Give it a hierarchy.'
                    WHEN l.loss > 0.9 THEN 'The column shows almost nothing. Give its hierarchy more levels, or leave out the column so that others become more precise.' END),
            (2, 'distinction', r.different / r.rows, CASE WHEN r.different > 0.9 * r.rows AND r.rows > 1 AND l.loss > 0.9 THEN 'warning' ELSE 'ok' END,
                CASE WHEN r.different > 0.9 * r.rows AND r.rows > 1 AND l.loss > 0.9
                    THEN 'Nearly every row has a different value, and almost nothing of it can be shown. Declare the column as an identifier.' END),
            (3, 'separation', r.separation, 'ok', NULL)) AS m (place, measure, value, severity, advice)
        ORDER BY l.place, m.place) AS per_column
    UNION ALL
    SELECT 'uncovered', r.name::text, 'values that its hierarchy does not contain', r.unknown, 'warning',
        format('These values can be shown only as they are, or as *. SELECT * FROM kanon.uncovered(%L); then add them to kanon.dgh_edge.', view::text)
    FROM raw r WHERE r.unknown > 0
    UNION ALL
    SELECT 'diversity', s.name::text, 'different values in a group, at least', d.least,
        CASE WHEN d.least < 2 THEN 'warning' ELSE 'ok' END,
        CASE WHEN d.least < 2 THEN 'All people in some group have the same value, so the value of every member is revealed. ' || kanon.audit_change(view, 'l => 2') END
    FROM unnest(sensitives) WITH ORDINALITY AS s (name, place),
        LATERAL (SELECT min(g.diverse[s.place])::float8 AS least FROM g WHERE g.fate = 'group' OR g.fate = 'open' AND NOT personal) AS d
    WHERE d.least IS NOT NULL AND quasi IS NOT NULL;
END
$$;
COMMENT ON FUNCTION kanon.audit_rows IS 'the findings of kanon.audit that come from rows';

-- The findings about columns without a role, and about the distribution of sensitive values within groups.
CREATE FUNCTION kanon.audit_columns(view regclass) RETURNS SETOF kanon.finding
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    quasi text[] := ARRAY(SELECT c."column"::text FROM kanon.aview_columns(view) c WHERE c.role = 'quasi');
    c record;
    alone record;
    beside record;
    finding kanon.finding;
    reason text;
    required integer;
BEGIN
    SELECT g.k INTO required FROM kanon.aview_guarantee(view) g;
    FOR c IN SELECT x."column", a.atttypid::regtype AS type FROM kanon.aview_columns(view) x
            JOIN pg_attribute a ON a.attrelid = view AND a.attname = x."column" WHERE x.role = 'other' ORDER BY a.attnum LOOP
        finding := ROW ('undeclared', c."column", 'share of different values', NULL, 'ok', NULL);
        reason := kanon.looks_identifying(c."column", c.type);
        SELECT NULL::bigint AS k INTO beside;
        BEGIN
            SELECT * INTO alone FROM kanon.k_anonymity(view, ARRAY[c."column"]);
            finding.value := alone.classes / nullif(alone.rows, 0)::float8;
            IF alone.classes > 0.5 * alone.rows AND alone.rows > 1 THEN
                reason := concat_ws('; ', reason, 'most of its values occur once');
                finding.severity := 'critical';
            ELSIF quasi <> '{}' THEN
                SELECT * INTO beside FROM kanon.k_anonymity(view, quasi || c."column"::text);
                IF beside.k < greatest(required, 2) THEN
                    reason := concat_ws('; ', reason, format('together with the quasi-identifiers it leaves groups of %s', beside.k));
                END IF;
            END IF;
        EXCEPTION WHEN undefined_function THEN -- its type cannot be grouped
            reason := concat_ws('; ', reason, 'its values cannot be compared, so the number of different values is unknown');
        END;
        IF reason IS NOT NULL THEN
            finding.severity := CASE WHEN finding.severity = 'critical' OR kanon.looks_identifying(c."column", c.type) IS NULL
                THEN coalesce(nullif(finding.severity, 'ok'), 'info') ELSE 'warning' END;
            finding.advice := format('The column is published as it is, but %s. If others may know its values, declare it as an identifier, a quasi-identifier or sensitive, or leave it out.', reason);
        END IF;
        RETURN NEXT finding;
        IF beside.k = 1 THEN
            RETURN NEXT ROW ('undeclared', c."column", 'smallest group beside the quasi-identifiers', beside.k, 'critical',
                'Together with the quasi-identifiers, the column leaves groups of 1: a reader who knows both recognizes these rows. Declare it as a quasi-identifier or sensitive, or leave it out.')::kanon.finding;
        END IF;
    END LOOP;

    FOR c IN SELECT * FROM kanon.aview_columns(view) WHERE role = 'sensitive' AND quasi <> '{}' LOOP
        SELECT * INTO alone FROM kanon.k_anonymity(view, quasi, c."column");
        finding := ROW ('diversity', c."column", 'distance from the whole, at most (t)', alone.t, 'info', NULL);
        RETURN NEXT finding;
    END LOOP;
END
$$;
COMMENT ON FUNCTION kanon.audit_columns IS
    'the findings of kanon.audit about columns without a role and about sensitive ones';

-- The findings from the catalog: disabled triggers, and roles that can read the tables without the view.
CREATE FUNCTION kanon.audit_catalog(view regclass) RETURNS SETOF kanon.finding
    LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'trigger', format('%s on %s', t.tgname, t.tgrelid::regclass), 'disabled', NULL::float8, 'critical',
        format('This trigger keeps kanon''s data up to date. ALTER TABLE %s ENABLE ALWAYS TRIGGER %I;', t.tgrelid::regclass, t.tgname)
    FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_class c ON c.oid = t.tgrelid
    WHERE p.pronamespace = 'kanon'::regnamespace AND t.tgenabled IN ('D', 'R') AND c.relnamespace = 'kanon'::regnamespace
    UNION ALL
    SELECT g.topic, g.subject, g.measure, NULL, g.severity, g.advice FROM kanon.audit_groups(view) AS g
    UNION ALL
    SELECT 'trigger', e.evtname, 'disabled', NULL, 'critical',
        format('This event trigger deletes the definitions of dropped views. ALTER EVENT TRIGGER %I ENABLE;', e.evtname)
    FROM pg_event_trigger e JOIN pg_proc p ON p.oid = e.evtfoid
    WHERE p.pronamespace = 'kanon'::regnamespace AND e.evtenabled IN ('D', 'R')
    UNION ALL
    SELECT a.topic, a.subject, a.measure, NULL, a.severity, a.advice FROM kanon.audit_access(view) AS a
$$;
COMMENT ON FUNCTION kanon.audit_catalog IS 'the findings of kanon.audit about triggers and roles';

-- The findings about roles with rights on the tables of a view that belong neither to it nor to them.  A reader sees raw
-- rows.  A writer adds rows like those of one person until there are k of them, reads the group, and rolls back.
CREATE FUNCTION kanon.audit_access(view regclass) RETURNS SETOF kanon.finding
    LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    WITH stranger AS (
        SELECT r.oid AS role, r.rolname AS name, b.relation, c.relacl, has_any_column_privilege(r.oid, view::oid, 'SELECT') AS reads_view
        FROM kanon.base_relations(view) AS b (relation) JOIN pg_class c ON c.oid = b.relation, pg_roles r
        WHERE NOT r.rolsuper AND r.rolname !~ '^pg_' AND NOT pg_has_role(r.oid, c.relowner, 'USAGE')
            AND NOT EXISTS (SELECT FROM pg_class v WHERE v.oid = view AND pg_has_role(r.oid, v.relowner, 'USAGE'))),
    reader AS (
        SELECT s.name, s.relation,
            CASE WHEN s.reads_view THEN 'critical' ELSE 'warning' END AS severity,
            CASE WHEN s.reads_view
                THEN 'The role may query the view, too, but can see raw rows without it. ' ELSE 'If the role should see anonymized rows only: ' END
            || CASE WHEN pg_has_role(s.role, 'pg_read_all_data', 'USAGE')
                THEN format('REVOKE pg_read_all_data FROM %I;', s.name)
                WHEN EXISTS (SELECT FROM aclexplode(s.relacl) a WHERE a.grantee = 0 AND a.privilege_type = 'SELECT')
                THEN format('REVOKE SELECT ON %s FROM PUBLIC;', s.relation)
                ELSE format('REVOKE SELECT ON %s FROM %I; or from the role from which it inherits the privilege.', s.relation, s.name) END AS advice
        FROM stranger s WHERE has_any_column_privilege(s.role, s.relation::oid, 'SELECT')),
    writer AS (
        SELECT s.role, s.name, s.relation, s.reads_view, string_agg(p.name, ', ' ORDER BY p.place) AS privileges
        FROM stranger s, unnest('{INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER, REFERENCES}'::text[]) WITH ORDINALITY AS p (name, place)
        WHERE CASE WHEN p.name IN ('INSERT', 'UPDATE', 'REFERENCES')
            THEN has_any_column_privilege(s.role, s.relation::oid, p.name) ELSE has_table_privilege(s.role, s.relation::oid, p.name) END
        GROUP BY s.role, s.name, s.relation, s.reads_view)
    (SELECT 'access', name::text, format('can read %s itself', relation), NULL::float8, severity, advice
        FROM reader ORDER BY name, relation::text)
    UNION ALL
    (SELECT 'access', name::text, format('can change %s', relation), NULL, CASE WHEN reads_view THEN 'warning' ELSE 'info' END,
            format('The role has %s. ', privileges)
            || CASE WHEN reads_view
                THEN 'By rows that it adds it can learn what the view suppresses. Let roles that write read other views, or: '
                ELSE 'By rows that it adds it can change which rows are shown. If it should not: ' END
            || format('REVOKE %s ON %s FROM %I;', privileges, relation, name)
        FROM writer ORDER BY name, relation::text)
$$;
COMMENT ON FUNCTION kanon.audit_access IS 'the findings of kanon.audit about roles with rights on the tables of an A-view';

-- The finding about what an attacker concludes from groups being as small as possible.
CREATE FUNCTION kanon.audit_minimality(view regclass) RETURNS SETOF kanon.finding
    LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found record;
    learned record;
    fixing text := 'For levels that do not depend on the published rows, create the view with levels: see kanon.suggest_levels.';
BEGIN
    SELECT g.materialized OR g.block_size IS NOT NULL AS unknown INTO found FROM kanon.aview_guarantee(view) g;
    IF found.unknown THEN
        RETURN NEXT ROW ('minimality', view::text, 'share of rows narrowed by downcoding', NULL, 'info',
            'Not measured: kanon.downcoding supports neither materialized views nor block_size.')::kanon.finding;
        RETURN;
    END IF;
    SELECT * INTO learned FROM kanon.downcoding(view) d WHERE d.fate = 'group' AND d."column" IS NULL;
    IF learned.rows IS NULL THEN
        RETURN;
    END IF;
    RETURN NEXT ROW ('minimality', view::text, 'share of rows narrowed by downcoding', learned.share,
        CASE WHEN learned.narrowed > 0 THEN 'info' ELSE 'ok' END,
        CASE WHEN learned.narrowed > 0 AND learned.certain = 0 THEN format(
            'Readers who know the algorithm can rule out values of these rows: SELECT * FROM kanon.downcoding(%L). ', view::text) || fixing
        END)::kanon.finding;
    RETURN NEXT ROW ('minimality', view::text, 'share of rows with a generalized value that is certain', learned.certain / learned.rows::float8,
        CASE WHEN learned.certain > 0 THEN 'warning' ELSE 'ok' END,
        CASE WHEN learned.certain > 0 THEN format(
            'Readers who know the algorithm know the exact values behind these generalized ones: SELECT * FROM kanon.downcoding(%L). ', view::text) || fixing
        END)::kanon.finding;
END
$$;
COMMENT ON FUNCTION kanon.audit_minimality IS
    'the findings of kanon.audit about what an attacker concludes from groups being as small as possible';

-- The finding about the order of rows.
CREATE FUNCTION kanon.audit_order(view regclass) RETURNS SETOF kanon.finding
    LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'order', view::text, 'rows come in the order of the source', NULL::float8, 'warning',
        'A reader who knows some rows of the source finds the rows beside them, and rows of two such views can be paired by their numbers. '
        'Unless that order is random, create the view again without keep_order.'
    FROM kanon.aview_guarantee(view) g WHERE g.keep_order
$$;
COMMENT ON FUNCTION kanon.audit_order IS 'the finding of kanon.audit about a view that keeps the order of its source';

-- The findings about what the source of a view depends on beside rows.  Queries are searched as text, without strings and
-- quoted names.
CREATE FUNCTION kanon.audit_source(view regclass) RETURNS SETOF kanon.finding
    LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    WITH relation AS (SELECT view::oid AS oid UNION SELECT b FROM kanon.base_relations(view) AS b),
    code AS (
        SELECT r.oid::regclass::text AS place, pg_get_viewdef(r.oid) AS text FROM relation r JOIN pg_class c USING (oid) WHERE c.relkind = 'v'
        UNION ALL
        SELECT format('policy %I on %s', p.polname, r.oid::regclass), pg_get_expr(p.polqual, p.polrelid)
        FROM relation r JOIN pg_policy p ON p.polrelid = r.oid JOIN pg_class c ON c.oid = r.oid WHERE c.relrowsecurity),
    bare AS (SELECT place, regexp_replace(text, '''(?:[^'']|'''')*''|"(?:[^"]|"")*"', ' ', 'g') AS text FROM code),
    used AS (
        SELECT d.refclassid, d.refobjid FROM relation r JOIN pg_rewrite w ON w.ev_class = r.oid
            JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
        UNION
        SELECT d.refclassid, d.refobjid FROM relation r JOIN pg_class c ON c.oid = r.oid AND c.relrowsecurity
            JOIN pg_policy p ON p.polrelid = r.oid JOIN pg_depend d ON d.classid = 'pg_policy'::regclass AND d.objid = p.oid),
    called AS (
        SELECT u.refobjid AS oid FROM used u WHERE u.refclassid = 'pg_proc'::regclass
        UNION
        SELECT o.oprcode FROM used u JOIN pg_operator o ON u.refclassid = 'pg_operator'::regclass AND o.oid = u.refobjid)
    SELECT 'source', view::text, format('follows the setting %s', s), NULL::float8, 'critical',
        'Each value of the setting gives another grouping of the same people, and a reader who sets several values can compare them. '
        'Create the view without session_settings, or see to it that each role can read with one value only.'
    FROM kanon.aview_guarantee(view) g, unnest(g.settings) AS s WHERE s NOT LIKE '%=%'
    UNION ALL
    SELECT 'source', b.place, 'depends on the role that reads', NULL, 'critical',
        'Each role gets another grouping of the same people, and a member of several roles can compare them. Give each role a view of its own, and only one of them.'
    FROM bare b WHERE b.text ~* '\m(current_user|current_role|session_user|user|getpgusername|pg_has_role|has_\w+_privilege|row_security_active)\M'
    UNION ALL
    SELECT 'source', p.oid::regprocedure::text, 'has no search_path of its own', NULL, 'warning',
        format('Its names are looked up in the schemas of the session that created the view. ALTER FUNCTION %s SET search_path = pg_catalog;', p.oid::regprocedure)
    FROM called c JOIN pg_proc p USING (oid) JOIN pg_language l ON l.oid = p.prolang
    WHERE l.lanname NOT IN ('internal', 'c') AND p.pronamespace NOT IN ('pg_catalog'::regnamespace, 'kanon'::regnamespace)
        AND to_jsonb(p) ->> 'prosqlbody' IS NULL AND NOT EXISTS (SELECT FROM unnest(p.proconfig) AS s WHERE s LIKE 'search_path=%')
    UNION ALL
    SELECT 'source', view::text, 'selects by values that some rows hide', NULL, 'info',
        format('The time of a query tells analysts about values that the view hides. SELECT kanon.alter_anonymization_view(%L, preselect => ''published'');', view::text)
    FROM kanon.aview_guarantee(view) g WHERE g.preselect = 'hidden'
$$;
COMMENT ON FUNCTION kanon.audit_source IS
    'the findings of kanon.audit about settings, roles and functions that the source of an A-view depends on';

CREATE FUNCTION kanon.audit(view regclass, threshold float8 DEFAULT 0.2, population regclass DEFAULT NULL) RETURNS SETOF kanon.finding
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT pg_has_role((SELECT c.relowner FROM pg_class c WHERE c.oid = view), 'USAGE') THEN
        RAISE EXCEPTION 'must be owner of view %', view USING ERRCODE = 'insufficient_privilege',
            HINT = 'An audit reads raw rows. A role that may query the view can call kanon.k_anonymity.';
    END IF;
    IF threshold IS NULL OR threshold <= 0 OR threshold > 1 THEN
        RAISE EXCEPTION 'the threshold must be above 0 and at most 1, but is %', threshold USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN QUERY SELECT * FROM kanon.audit_rows(view, threshold, population);
    RETURN QUERY SELECT * FROM kanon.audit_columns(view);
    RETURN QUERY SELECT * FROM kanon.audit_minimality(view);
    RETURN QUERY SELECT * FROM kanon.audit_source(view);
    RETURN QUERY SELECT * FROM kanon.audit_order(view);
    RETURN QUERY SELECT * FROM kanon.audit_catalog(view);
END
$$;
COMMENT ON FUNCTION kanon.audit IS
    'risks, losses and findings about an A-view, each with advice; for the view''s owner';
