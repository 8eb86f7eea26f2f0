
--
-- Policies: the purposes and recipients for which roles may read A-views.
--
-- Privileges on kanon.access_grant decide which roles may grant:
-- GRANT SELECT, INSERT, DELETE ON kanon.access_grant TO ...
--

CREATE TABLE kanon.access_grant (
    purpose text COLLATE "C" NOT NULL CONSTRAINT access_grant_purpose_is_not_empty CHECK (purpose <> ''),
    recipient text COLLATE "C" NOT NULL CONSTRAINT access_grant_recipient_is_not_empty CHECK (recipient <> ''),
    role regrole NOT NULL, -- 0: PUBLIC
    view regclass NOT NULL, -- 0: all views
    CONSTRAINT access_grant_pkey PRIMARY KEY (purpose, recipient, role, view)
);
COMMENT ON TABLE kanon.access_grant IS 'roles that may read anonymization views for a purpose and a recipient';
SELECT pg_extension_config_dump('kanon.access_grant',
    'WHERE (role = 0 OR role IN (SELECT oid FROM pg_catalog.pg_roles)) AND (view = 0 OR view IN (SELECT oid FROM pg_catalog.pg_class WHERE relpersistence <> ''t''))');

CREATE VIEW kanon.access AS
    SELECT CASE WHEN g.role = 0 THEN 'public' ELSE pg_catalog.pg_get_userbyid(g.role) END AS role, g.purpose, g.recipient,
        CASE WHEN g.view <> 0 THEN g.view END AS view
    FROM kanon.access_grant g
    WHERE (g.role = 0 OR g.role IN (SELECT oid FROM pg_catalog.pg_roles))
        AND (g.view = 0 OR g.view IN (SELECT oid FROM pg_catalog.pg_class));
COMMENT ON VIEW kanon.access IS
    'the roles that may read anonymization views, and for which purpose and recipient; view null: all views';
GRANT SELECT ON kanon.access TO PUBLIC;

CREATE FUNCTION kanon.current_purpose() RETURNS text
    LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_current_purpose';
COMMENT ON FUNCTION kanon.current_purpose() IS 'the setting kanon.purpose';
CREATE FUNCTION kanon.current_recipient() RETURNS text
    LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_current_recipient';
COMMENT ON FUNCTION kanon.current_recipient() IS 'the setting kanon.recipient';

-- The guarantees of a view.  Every role may read them.
CREATE FUNCTION kanon.aview_guarantee(view regclass, OUT k integer, OUT l integer, OUT t float8, OUT match text,
        OUT algorithm text, OUT block_size integer, OUT materialized boolean, OUT preselect text, OUT settings text[],
        OUT keep_order boolean) RETURNS record
    LANGUAGE plpgsql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM kanon.aview a WHERE a.view = aview_guarantee.view) THEN
        RAISE EXCEPTION USING ERRCODE = 'wrong_object_type', MESSAGE = format('"%s" is not an anonymization view', aview_guarantee.view);
    END IF;
    -- An application may keep a secret in a setting of its own, so that the values of these are left out.
    SELECT a.k, a.l, a.t, a.match, a.algorithm, a.block_size, a.maintained IS NOT NULL, a.preselect,
            ARRAY(SELECT CASE WHEN s LIKE '%.%=%' AND split_part(s, '=', 1) LIKE '%.%' THEN split_part(s, '=', 1) || '=...' ELSE s END
                FROM unnest(a.settings) AS s), a.keep_order
        INTO k, l, t, match, algorithm, block_size, materialized, preselect, settings, keep_order
        FROM kanon.aview a WHERE a.view = aview_guarantee.view;
END
$$;
COMMENT ON FUNCTION kanon.aview_guarantee(regclass) IS
    'the guarantees of an anonymization view (k, l, t), and how it is read: settings without = follow the session';

-- Return the OID of a role, 0 for public; raise an error if the role does not exist.
CREATE FUNCTION kanon.access_role(role text) RETURNS oid
    LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found oid;
BEGIN
    IF lower(role) = 'public' THEN
        RETURN 0;
    END IF;
    SELECT oid INTO found FROM pg_roles WHERE rolname = access_role.role;
    IF found IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'undefined_object', MESSAGE = format('role "%s" does not exist', role);
    END IF;
    RETURN found;
END
$$;
COMMENT ON FUNCTION kanon.access_role(text) IS
    'OID of a role, 0 for public; for kanon.grant_access and kanon.revoke_access';

CREATE FUNCTION kanon.check_access_arguments(role text, purpose text, recipient text, view regclass) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF role IS NULL OR purpose IS NULL OR recipient IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed', MESSAGE = 'role, purpose and recipient must not be null';
    ELSIF purpose = '' OR recipient = '' THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'purpose and recipient must not be empty';
    END IF;
    PERFORM kanon.aview_guarantee(view);
END
$$;
COMMENT ON FUNCTION kanon.check_access_arguments(text, text, text, regclass) IS
    'checks the arguments of kanon.grant_access and kanon.revoke_access';

CREATE FUNCTION kanon.grant_access(role text, purpose text, recipient text, view regclass DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM kanon.check_access_arguments(role, purpose, recipient, view);
    INSERT INTO kanon.access_grant (purpose, recipient, role, view)
        VALUES (grant_access.purpose, grant_access.recipient, kanon.access_role(grant_access.role), coalesce(grant_access.view::oid, 0))
        ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION kanon.grant_access(text, text, text, regclass) IS
    'lets a role, or public, read anonymization views for a purpose and a recipient (view null: all views)';

CREATE FUNCTION kanon.revoke_access(role text, purpose text, recipient text, view regclass DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM kanon.check_access_arguments(role, purpose, recipient, view);
    DELETE FROM kanon.access_grant g
        WHERE g.purpose = revoke_access.purpose AND g.recipient = revoke_access.recipient
            AND g.role = kanon.access_role(revoke_access.role) AND g.view = coalesce(revoke_access.view::oid, 0);
    IF NOT FOUND THEN
        RAISE NOTICE 'role "%" has no such grant', role;
    END IF;
END
$$;
COMMENT ON FUNCTION kanon.revoke_access(text, text, text, regclass) IS
    'revokes the access that kanon.grant_access has granted with the same arguments';

-- The definition of a view, for all roles that may read the view.
CREATE FUNCTION kanon.aview_columns(view regclass, OUT "column" name, OUT role text, OUT dgh text, OUT base_table regclass,
        OUT base_column name, OUT disclose name, OUT retain name, OUT level name) RETURNS SETOF record
    LANGUAGE c STABLE STRICT ROWS 10 AS 'MODULE_PATHNAME', 'kanon_aview_columns';
COMMENT ON FUNCTION kanon.aview_columns(regclass) IS
    'columns of an anonymization view: role, hierarchy, the table column behind each, and the columns with the '
    'choices for it';
CREATE FUNCTION kanon.aview_profile(view regclass, OUT choices regclass, OUT k name, OUT purpose name, OUT recipient name,
        OUT view_key text[], OUT choices_key text[]) RETURNS SETOF record
    LANGUAGE c STABLE STRICT ROWS 1 AS 'MODULE_PATHNAME', 'kanon_aview_profile';
COMMENT ON FUNCTION kanon.aview_profile(regclass) IS
    'the profile table of an anonymization view, and the columns by which choices are found there; no row if the '
    'view has no profile';

CREATE FUNCTION kanon.why_hidden(view regclass, VARIADIC id text[], OUT "row" bigint, OUT "column" name, OUT shown text,
        OUT reason text, OUT explanation text) RETURNS SETOF record
    LANGUAGE c VOLATILE STRICT ROWS 10 AS 'MODULE_PATHNAME', 'kanon_why_hidden';
COMMENT ON FUNCTION kanon.why_hidden(regclass, text[]) IS
    'explains how each column of a data owner''s rows is shown, for the current purpose and recipient; for the '
    'view''s owner';

--
-- P3P policies, stored as they were stated.
--

CREATE TABLE kanon.p3p_statement (
    policy text COLLATE "C" NOT NULL,
    statement integer NOT NULL,
    purpose text COLLATE "C" NOT NULL,
    required text COLLATE "C" NOT NULL CHECK (required IN ('always', 'opt-in', 'opt-out')),
    recipient text COLLATE "C" NOT NULL,
    retention text COLLATE "C" NOT NULL,
    data text COLLATE "C" NOT NULL,
    optional boolean NOT NULL,
    CONSTRAINT p3p_statement_pkey PRIMARY KEY (policy, statement, purpose, recipient, data)
);
COMMENT ON TABLE kanon.p3p_statement IS
    'statements of imported P3P policies: one row for each purpose, recipient and item of data';
SELECT pg_extension_config_dump('kanon.p3p_statement', '');
GRANT SELECT ON kanon.p3p_statement TO PUBLIC;

-- The parts of each statement of a policy, by their element names.
CREATE FUNCTION kanon.p3p_parts(policy xml, OUT policy_name text, OUT statement integer, OUT part text, OUT name text,
        OUT required text, OUT optional text) RETURNS SETOF record
    LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.name, s.nr, x.part, x.name, x.required, x.optional
    FROM XMLTABLE('//*[local-name() = "POLICY"]' PASSING policy
            COLUMNS nr FOR ORDINALITY, name text PATH '@name', discuri text PATH '@discuri', whole xml PATH '.') p,
        XMLTABLE('//*[local-name() = "STATEMENT"]' PASSING p.whole COLUMNS nr FOR ORDINALITY, whole xml PATH '.') s,
        XMLTABLE('/*/*[local-name() != "DATA-GROUP"] | /*/*[local-name() = "PURPOSE" or local-name() = "RECIPIENT" or local-name() = "RETENTION"]/*
                | //*[local-name() = "DATA"]' PASSING s.whole
            COLUMNS part text PATH 'local-name(parent::*)', element text PATH 'local-name(.)', ref text PATH '@ref',
                required text PATH '@required', optional text PATH '@optional') e,
        LATERAL (SELECT CASE WHEN e.element = 'DATA' THEN 'DATA' WHEN e.part = 'STATEMENT' THEN 'STATEMENT' ELSE e.part END AS part,
            CASE WHEN e.element = 'DATA' THEN e.ref ELSE e.element END AS name, e.required, e.optional) x
$$;
COMMENT ON FUNCTION kanon.p3p_parts(xml) IS 'the parts of a P3P policy''s statements; for kanon.import_p3p';

-- The words that P3P 1.0 defines.
CREATE FUNCTION kanon.p3p_words(part text) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE part
        WHEN 'PURPOSE' THEN '{current,admin,develop,tailoring,pseudo-analysis,pseudo-decision,individual-analysis,
            individual-decision,contact,historical,telemarketing,other-purpose}'::text[]
        WHEN 'RECIPIENT' THEN '{ours,delivery,same,other-recipient,unrelated,public}'
        WHEN 'RETENTION' THEN '{no-retention,stated-purpose,legal-requirement,indefinitely,business-practices}'
        WHEN 'STATEMENT' THEN '{PURPOSE,RECIPIENT,RETENTION,CONSEQUENCE}' END
$$;
COMMENT ON FUNCTION kanon.p3p_words(text) IS
    'the words that P3P 1.0 allows in a part of a statement; for kanon.import_p3p';

CREATE TYPE kanon.p3p_import_part AS (policy text, statement integer, part text, name text, required text, optional boolean);
COMMENT ON TYPE kanon.p3p_import_part IS 'a part of a P3P policy''s statement; for kanon.import_p3p';

CREATE FUNCTION kanon.import_p3p(policy xml, OUT statement integer, OUT part text, OUT name text, OUT problem text) RETURNS SETOF record
    LANGUAGE plpgsql STRICT SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    parts kanon.p3p_import_part[];
BEGIN
    SELECT array_agg((coalesce(p.policy_name, ''), p.statement, p.part, p.name, coalesce(p.required, 'always'),
        coalesce(p.optional, 'no') = 'yes')::kanon.p3p_import_part) INTO parts FROM kanon.p3p_parts(import_p3p.policy) p;
    IF parts IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'the document has no P3P policy with a statement',
            HINT = 'It must have a POLICY element with STATEMENT elements below it.';
    END IF;
    DELETE FROM kanon.p3p_statement old WHERE old.policy IN (SELECT u.policy FROM unnest(parts) u);
    INSERT INTO kanon.p3p_statement
        SELECT DISTINCT ON (d.policy, d.statement, p.name, r.name, d.name)
            d.policy, d.statement, p.name, p.required, r.name, coalesce(t.name, 'indefinitely'), d.name, d.optional
        FROM unnest(parts) d
            JOIN unnest(parts) p ON p.policy = d.policy AND p.statement = d.statement AND p.part = 'PURPOSE'
                AND p.name = ANY (kanon.p3p_words('PURPOSE')) AND p.required IN ('always', 'opt-in', 'opt-out')
            JOIN unnest(parts) r ON r.policy = d.policy AND r.statement = d.statement AND r.part = 'RECIPIENT'
                AND r.name = ANY (kanon.p3p_words('RECIPIENT'))
            JOIN unnest(parts) t ON t.policy = d.policy AND t.statement = d.statement AND t.part = 'RETENTION'
                AND t.name = ANY (kanon.p3p_words('RETENTION'))
        WHERE d.part = 'DATA' AND d.name <> '';
    RETURN QUERY
        SELECT u.statement, u.part, u.name, CASE
            WHEN u.part = 'DATA' THEN 'it does not name any data'
            WHEN u.part = 'PURPOSE' AND u.required NOT IN ('always', 'opt-in', 'opt-out')
                THEN format('required is "%s", but it must be always, opt-in or opt-out', u.required)
            ELSE 'it is not a word of P3P 1.0' END
        FROM unnest(parts) u
        WHERE (u.part = 'DATA' AND coalesce(u.name, '') = '')
            OR (u.part <> 'DATA' AND NOT u.name = ANY (coalesce(kanon.p3p_words(u.part), '{}')))
            OR (u.part = 'PURPOSE' AND u.required NOT IN ('always', 'opt-in', 'opt-out'))
        UNION ALL
        SELECT s.statement, need.part, NULL, 'the statement has no such part, so it was not imported'
        FROM (SELECT DISTINCT u.policy, u.statement FROM unnest(parts) u) s,
            unnest('{PURPOSE,RECIPIENT,RETENTION,DATA}'::text[]) need (part)
        WHERE NOT EXISTS (SELECT FROM unnest(parts) u WHERE u.policy = s.policy AND u.statement = s.statement AND u.part = need.part
                          AND (need.part = 'DATA' OR u.name = ANY (kanon.p3p_words(need.part))))
        ORDER BY 1, 2, 3;
END
$$;
COMMENT ON FUNCTION kanon.import_p3p(xml) IS
    'stores the statements of a P3P 1.0 policy in kanon.p3p_statement, replacing those of a policy with the same '
    'name; lists the parts that were not imported';

--
-- A view's whole policy, in words.
--

CREATE FUNCTION kanon.policy(view regclass) RETURNS text
    LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    guarantee record;
    profile record;
    said text[];
    part text;
BEGIN
    SELECT a.*, pg_get_userbyid(c.relowner) AS owner INTO guarantee
        FROM kanon.aview_guarantee(policy.view) a, pg_class c WHERE c.oid = policy.view;
    SELECT * INTO profile FROM kanon.aview_profile(policy.view);
    said := ARRAY[format('Anonymization view %s belongs to %s.', policy.view, guarantee.owner)];
    FOR part IN
        SELECT CASE c.role
                WHEN 'id' THEN CASE WHEN profile.k IS NOT NULL THEN 'Identifiers, hidden unless the data owner has chosen a k of 0: '
                                    WHEN guarantee.k = 0 THEN 'Identifiers, shown because k is 0: '
                                    ELSE 'Identifiers, hidden: ' END
                WHEN 'quasi' THEN 'Quasi-identifiers, generalized until a group of people shares them: '
                WHEN 'sensitive' THEN 'Sensitive columns, hidden if no group is large enough: '
                ELSE 'Shown as they are: ' END
            || string_agg(quote_ident(c.column) || CASE WHEN c.dgh IS NULL THEN '' ELSE format(' (hierarchy %s)', c.dgh) END, ', ') || '.'
        FROM kanon.aview_columns(policy.view) c GROUP BY c.role
        ORDER BY array_position('{id,quasi,sensitive,other}', c.role)
    LOOP
        said := said || part;
    END LOOP;
    said := said || CASE
        WHEN profile.k IS NULL AND guarantee.k < 2 THEN format('k is %s: rows are not put into groups.', guarantee.k)
        WHEN profile.k IS NULL THEN format('k is %s: a group has at least %1$s different people.', guarantee.k)
        ELSE format('Each data owner chooses k (%I of %s); in a group the largest k applies. %s', profile.k, profile.choices,
            CASE WHEN guarantee.k IS NULL THEN 'Rows of data owners without a choice are not shown.'
                 ELSE format('For data owners without a choice k is %s.', guarantee.k) END) END;
    IF guarantee.l IS NOT NULL THEN
        said := said || format('A group has at least %s different values of each sensitive column.', guarantee.l);
    END IF;
    IF guarantee.t IS NOT NULL THEN
        said := said || format('The distribution of sensitive values in a group differs from that in all rows by a distance of at most %s.', guarantee.t);
    END IF;
    IF guarantee.materialized THEN
        said := said || 'Its groups are stored, and can only become more general.'::text;
    END IF;
    said := said || CASE guarantee.match
        WHEN 'cover' THEN 'A condition finds all rows that may satisfy it, and reveals nothing about raw values.'
        ELSE 'A condition finds the groups with at least one member that satisfies it, and so reveals that such a person exists (match is witness).' END;
    IF profile.choices IS NOT NULL THEN
        said := said || format('The data owners'' choices are the rows of %s in which %s.', profile.choices, (
            SELECT string_agg(format('%I is the row''s %I', c.name, v.name), ' and ')
            FROM unnest(profile.choices_key) WITH ORDINALITY c (name, nr) JOIN unnest(profile.view_key) WITH ORDINALITY v (name, nr) USING (nr))
            || coalesce(', ' || quote_ident(profile.purpose) || ' is the purpose', '') || coalesce(', ' || quote_ident(profile.recipient) || ' is the recipient', ''));
        said := said || ARRAY(SELECT format('%I is shown only if %s is true.', c.column, quote_ident(c.disclose)) FROM kanon.aview_columns(policy.view) c WHERE c.disclose IS NOT NULL);
        said := said || ARRAY(SELECT format('%I is shown only until the time in %s.', c.column, quote_ident(c.retain)) FROM kanon.aview_columns(policy.view) c WHERE c.retain IS NOT NULL);
        said := said || ARRAY(SELECT format('%I is generalized by the number of levels in %s.', c.column, quote_ident(c.level)) FROM kanon.aview_columns(policy.view) c WHERE c.level IS NOT NULL);
        said := said || 'A choice that is missing or NULL counts as the strictest.'::text;
        said := said || CASE WHEN EXISTS (SELECT FROM kanon.access a WHERE a.view IS NULL OR a.view = policy.view)
            THEN ARRAY(SELECT format('%s may read it for purpose "%s" and recipient "%s".', a.role, a.purpose, a.recipient)
                       FROM kanon.access a WHERE a.view IS NULL OR a.view = policy.view ORDER BY a.role, a.purpose, a.recipient)
            ELSE ARRAY['No role may read it for any purpose so far.'] END;
    END IF;
    said := said || ARRAY(
        SELECT format('P3P policy "%s", statement %s: %s may be used for %s (%s) by %s, retention %s.', s.policy, s.statement, s.data,
            s.purpose, s.required, s.recipient, s.retention)
        FROM kanon.p3p_statement s JOIN kanon.aview_columns(policy.view) c ON lower(c.column) = lower(substring(s.data FROM '[^.#]+$'))
        ORDER BY s.policy, s.statement, s.data, s.purpose, s.recipient);
    RETURN array_to_string(said, E'\n');
END
$$;
COMMENT ON FUNCTION kanon.policy(regclass) IS
    'the whole policy of an anonymization view in words, one sentence per line';

--
-- Deletion of values whose retention has ended.
--

-- Its names are looked up in pg_catalog, also where the owner herself calls it.
CREATE FUNCTION kanon.purge_expired(view regclass, dry_run boolean DEFAULT true, OUT "column" name, OUT base regclass, OUT rows bigint)
    RETURNS SETOF record
    LANGUAGE c VOLATILE ROWS 10 SET search_path = pg_catalog, pg_temp AS 'MODULE_PATHNAME', 'kanon_purge_expired';
COMMENT ON FUNCTION kanon.purge_expired(regclass, boolean) IS
    'clears values in the base table whose retention has ended for every purpose and recipient (dry_run: only count '
    'them), as the view''s owner';
