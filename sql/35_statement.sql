--
-- The language kanon: hierarchies and A-views by statements.
--
-- DO LANGUAGE kanon $$ CREATE DGH ...; CREATE ANONYMIZATION_VIEW ... $$
--
-- The language is trusted: a statement needs the same privileges as the function
-- that does the same.
--

CREATE FUNCTION kanon.language_call() RETURNS language_handler
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_language_call';
CREATE FUNCTION kanon.language_inline(internal) RETURNS void
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'kanon_language_inline';
CREATE FUNCTION kanon.language_validator(oid) RETURNS void
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'kanon_language_validator';

CREATE TRUSTED LANGUAGE kanon
    HANDLER kanon.language_call INLINE kanon.language_inline VALIDATOR kanon.language_validator;

COMMENT ON LANGUAGE kanon IS 'statements for hierarchies and anonymization views, in DO blocks';
