--
-- Releases that leave quasi-identifiers as they are: anatomy and n-dependency.
--
-- They run the caller's query with the caller's rights.  None is parallel safe,
-- because it is not known what that query does.
--

CREATE FUNCTION kanon.anatomy(source text, id text, sensitive text, l integer, seed integer DEFAULT 0,
        OUT id text, OUT grp integer, OUT sensitive text)
    RETURNS SETOF record
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000 AS 'MODULE_PATHNAME', 'kanon_anatomy';
COMMENT ON FUNCTION kanon.anatomy(text, text, text, integer, integer) IS
    'puts each row into a group of at least l rows with different sensitive values (seed 0 or null: unpredictable)';

CREATE FUNCTION kanon.n_dependency(source text, id text, sensitive text, dgh text, l integer,
        n integer DEFAULT NULL, seed integer DEFAULT 0,
        OUT id text, OUT grp integer, OUT sensitive text, OUT general kanon.generalized)
    RETURNS SETOF record
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000 AS 'MODULE_PATHNAME', 'kanon_n_dependency';
COMMENT ON FUNCTION kanon.n_dependency(text, text, text, text, integer, integer, integer) IS
    'as anatomy, with values that stay different through n - 1 generalizations (n null: the largest possible)';

CREATE FUNCTION kanon.find_max_n(source text, sensitive text, dgh text, l integer) RETURNS integer
    LANGUAGE c STABLE PARALLEL UNSAFE COST 10000 AS 'MODULE_PATHNAME', 'kanon_find_max_n';
COMMENT ON FUNCTION kanon.find_max_n(text, text, text, integer) IS
    'the largest n for which n_dependency can make groups of l rows; 0 if there is none';

CREATE FUNCTION kanon.diversity_error(source text, id text, sensitive text, dgh text, "grouping" text, n integer,
        OUT grp integer, OUT div0 integer, OUT divn integer, OUT error float8)
    RETURNS SETOF record
    LANGUAGE c STABLE PARALLEL UNSAFE COST 10000 AS 'MODULE_PATHNAME', 'kanon_diversity_error';
COMMENT ON FUNCTION kanon.diversity_error(text, text, text, text, text, integer) IS
    'per group, the different sensitive values before and after n generalizations, and the share that is lost';

CREATE FUNCTION kanon.publish_anatomy(name text, source text, id text, quasi_ids text[], sensitive text,
        dgh text, l integer, n integer) RETURNS void
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 10000 AS 'MODULE_PATHNAME', 'kanon_publish_anatomy';
COMMENT ON FUNCTION kanon.publish_anatomy(text, text, text, text[], text, text, integer, integer) IS
    'creates the tables <name>_qit and <name>_st of a release (dgh null: anatomy; n null: the largest possible)';

CREATE FUNCTION kanon.anatomy_count(qit regclass, st regclass, predicate text, sensitive_values text[]) RETURNS float8
    LANGUAGE c STABLE STRICT PARALLEL UNSAFE COST 1000 AS 'MODULE_PATHNAME', 'kanon_anatomy_count';
COMMENT ON FUNCTION kanon.anatomy_count(regclass, regclass, text, text[]) IS
    'estimates from a release how many rows satisfy a predicate and have one of the sensitive values';
