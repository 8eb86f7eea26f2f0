
--
-- Outliers and plain k-anonymity: groups in which no person stands out.
--
-- They run the caller's own queries with the caller's rights, hence VOLATILE and
-- PARALLEL UNSAFE, the defaults.
--

CREATE FUNCTION kanon.outliers(source text, id text, quasi_ids jsonb, sensitive text, p float8, d float8,
        OUT id text, OUT kind text) RETURNS SETOF record
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_outliers';
COMMENT ON FUNCTION kanon.outliers IS
    'rows from which a share p of all rows is farther than d: on the sensitive value alone (global) or with the '
    'quasi-identifiers (local)';

CREATE FUNCTION kanon.plain_k(source text, id text, quasi_ids jsonb, sensitive text, k integer,
        p float8 DEFAULT 0.8, d float8 DEFAULT 0.85, delta integer DEFAULT NULL, method text DEFAULT 'expc',
        OUT id text, OUT grp integer, OUT box kanon.generalized[], OUT sensitive text, OUT removed text) RETURNS SETOF record
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_plain_k';
COMMENT ON FUNCTION kanon.plain_k IS
    'plain k-anonymous groups: k distinct sensitive values in each, and no outlier stands out (method: expc, gnof '
    'or gof)';

CREATE FUNCTION kanon.is_plain(source text, id text, quasi_ids jsonb, sensitive text, "grouping" text, k integer, p float8, d float8,
        OUT grp integer, OUT plain boolean, OUT reason text) RETURNS SETOF record
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_is_plain';
COMMENT ON FUNCTION kanon.is_plain IS
    'whether each group of a grouping, a query that returns id and grp, is plain and k-anonymous, and if not, why';

CREATE FUNCTION kanon.distinguishability(source text, id text, quasi_ids jsonb, sensitive text, "grouping" text, p float8, d float8,
        OUT id text, OUT grp integer, OUT presence float8, OUT association float8) RETURNS SETOF record
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_distinguishability';
COMMENT ON FUNCTION kanon.distinguishability IS
    'the outliers that an attacker who knows the outliers finds in a grouping, with the probabilities of presence '
    'and of the sensitive value';

CREATE FUNCTION kanon.information_loss(source text, id text, quasi_ids jsonb, "grouping" text) RETURNS float8
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_information_loss';
COMMENT ON FUNCTION kanon.information_loss IS
    'average loss of a row when a grouping, a query that returns id and grp, is published: 0 to 1 for each '
    'quasi-identifier';
