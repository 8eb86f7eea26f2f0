
--
-- Policies: for which purpose, and for whom, data are read.
--
-- Who may decide that is a matter of privileges on kanon.access_grant:
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
COMMENT ON VIEW kanon.access IS 'who may read anonymization views for which purpose and recipient; view null: all of them';
GRANT SELECT ON kanon.access TO PUBLIC;

CREATE FUNCTION kanon.current_purpose() RETURNS text
    LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_current_purpose';
COMMENT ON FUNCTION kanon.current_purpose() IS 'the setting kanon.purpose';
CREATE FUNCTION kanon.current_recipient() RETURNS text
    LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_current_recipient';
COMMENT ON FUNCTION kanon.current_recipient() IS 'the setting kanon.recipient';

-- The role of a name, 0 for public; an error if there is none.
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
COMMENT ON FUNCTION kanon.access_role(text) IS 'number of a role, 0 for public; for kanon.grant_access and kanon.revoke_access';

CREATE FUNCTION kanon.check_access_arguments(role text, purpose text, recipient text, view regclass) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF role IS NULL OR purpose IS NULL OR recipient IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed', MESSAGE = 'role, purpose and recipient must not be null';
    ELSIF purpose = '' OR recipient = '' THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'purpose and recipient must not be empty';
    ELSIF view IS NOT NULL AND NOT EXISTS (SELECT FROM kanon.aview a WHERE a.view = check_access_arguments.view) THEN
        RAISE EXCEPTION USING ERRCODE = 'wrong_object_type', MESSAGE = format('"%s" is not an anonymization view', view);
    END IF;
END
$$;
COMMENT ON FUNCTION kanon.check_access_arguments(text, text, text, regclass) IS
    'an error for arguments that kanon.grant_access and kanon.revoke_access do not take';

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
    'let a role, or public, read anonymization views for a purpose and a recipient (view null: all views)';

CREATE FUNCTION kanon.revoke_access(role text, purpose text, recipient text, view regclass DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM kanon.check_access_arguments(role, purpose, recipient, view);
    DELETE FROM kanon.access_grant g
        WHERE g.purpose = revoke_access.purpose AND g.recipient = revoke_access.recipient
            AND g.role = kanon.access_role(revoke_access.role) AND g.view = coalesce(revoke_access.view::oid, 0);
    IF NOT FOUND THEN
        RAISE NOTICE 'role "%" had no such access', role;
    END IF;
END
$$;
COMMENT ON FUNCTION kanon.revoke_access(text, text, text, regclass) IS
    'take back what kanon.grant_access has granted with the same arguments';
