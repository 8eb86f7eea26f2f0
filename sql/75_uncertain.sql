
--
-- The uncertain model of k-anonymity: values with the spread of their noise.
--

CREATE FUNCTION kanon.uncertain(source text, id text, columns text[], k float8, model text DEFAULT 'gaussian',
                                local boolean DEFAULT false, k_column text DEFAULT NULL, seed integer DEFAULT 0,
                                OUT id text, OUT z float8[], OUT spread float8[])
    RETURNS SETOF record
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 10000 AS 'MODULE_PATHNAME', 'kanon_uncertain';

CREATE FUNCTION kanon.expected_anonymity(source text, id text, columns text[], release text, model text,
                                         OUT id text, OUT anonymity float8)
    RETURNS SETOF record
    LANGUAGE c STABLE PARALLEL UNSAFE ROWS 10000 AS 'MODULE_PATHNAME', 'kanon_expected_anonymity';

CREATE FUNCTION kanon.uncertain_count(release text, model text, lo float8[], hi float8[],
                                      domain_lo float8[] DEFAULT NULL, domain_hi float8[] DEFAULT NULL)
    RETURNS float8
    LANGUAGE c STABLE PARALLEL UNSAFE COST 100000 AS 'MODULE_PATHNAME', 'kanon_uncertain_count';

CREATE FUNCTION kanon.uncertain_classify(release text, model text, point float8[], q integer DEFAULT 10)
    RETURNS text
    LANGUAGE c STABLE STRICT PARALLEL UNSAFE COST 100000 AS 'MODULE_PATHNAME', 'kanon_uncertain_classify';

CREATE FUNCTION kanon.condense(source text, id text, columns text[], k integer, seed integer DEFAULT 0,
                               OUT id text, OUT z float8[])
    RETURNS SETOF record
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 10000 AS 'MODULE_PATHNAME', 'kanon_condense';

CREATE FUNCTION kanon.fit(z float8[], spread float8[], model text, x float8[]) RETURNS float8
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_fit';

CREATE FUNCTION kanon.link_attack(release text, public text, columns text[], model text,
                                  OUT id text, OUT rank bigint, OUT posterior float8)
    RETURNS SETOF record
    LANGUAGE c STABLE PARALLEL UNSAFE ROWS 10000 AS 'MODULE_PATHNAME', 'kanon_link_attack';

COMMENT ON FUNCTION kanon.uncertain(text, text, text[], float8, text, boolean, text, integer) IS
    'rows with noise and its spread, such that k rows are expected to fit each published row at least as well as '
    'the true row';
COMMENT ON FUNCTION kanon.expected_anonymity(text, text, text[], text, text) IS
    'how many rows of the source are expected to fit each row of an uncertain release at least as well as the true row';
COMMENT ON FUNCTION kanon.uncertain_count(text, text, float8[], float8[], float8[], float8[]) IS
    'estimated number of rows of an uncertain release within a range per column';
COMMENT ON FUNCTION kanon.uncertain_classify(text, text, float8[], integer) IS
    'label of the rows of an uncertain release that fit a point best';
COMMENT ON FUNCTION kanon.condense(text, text, text[], integer, integer) IS
    'rows generated from the means and covariances of groups of k near rows';
COMMENT ON FUNCTION kanon.fit(float8[], float8[], text, float8[]) IS
    'log-likelihood of a true value, given a published value and its spread';
COMMENT ON FUNCTION kanon.link_attack(text, text, text[], text) IS
    'how well an uncertain release can be linked to a public table that has a column id and the named columns';
