--
-- Quality and risk: how much an A-view, or any relation, reveals.
--
-- Functions that look behind a view are for the view's owner.  Functions that examine
-- a relation return what the caller's own SELECT would return.  They run with the rights
-- of the relation's owner if the caller has these, so that code in the relation cannot
-- use the auditor's rights.
--

CREATE FUNCTION kanon.quality(view regclass, predicate text DEFAULT NULL,
        OUT rows bigint, OUT published bigint, OUT suppressed bigint, OUT groups bigint, OUT min_group bigint,
        OUT avg_group float8, OUT ncp float8, OUT dm float8, OUT k_deviation float8,
        OUT "precision" float8, OUT recall float8) RETURNS record
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 100000 AS 'MODULE_PATHNAME', 'kanon_quality';
COMMENT ON FUNCTION kanon.quality IS
    'groups, certainty penalty, discernibility and k-deviation of an A-view, and precision and recall of a '
    'predicate; for the view''s owner';

CREATE FUNCTION kanon.k_anonymity(rel regclass, quasi_ids text[], sensitive text DEFAULT NULL,
        OUT rows bigint, OUT classes bigint, OUT k bigint, OUT l_distinct bigint, OUT l_entropy float8, OUT t float8)
    RETURNS record
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 100000 AS 'MODULE_PATHNAME', 'kanon_k_anonymity';
COMMENT ON FUNCTION kanon.k_anonymity IS
    'the smallest class of any relation by some columns, and the least diversity and largest distance of a '
    'sensitive column';

CREATE FUNCTION kanon.violations(rel regclass, quasi_ids text[], k integer, OUT class text[], OUT rows bigint)
    RETURNS SETOF record
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE COST 100000 AS 'MODULE_PATHNAME', 'kanon_violations';
COMMENT ON FUNCTION kanon.violations IS
    'the classes of a relation that have fewer than k rows, the smallest first';

CREATE FUNCTION kanon.linkage(view regclass, external regclass, columns text[],
        OUT candidates bigint, OUT people bigint, OUT share float8) RETURNS SETOF record
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE COST 100000 AS 'MODULE_PATHNAME', 'kanon_linkage';
COMMENT ON FUNCTION kanon.linkage IS
    'for each number of candidates, how many rows of an identified table have that many published rows as '
    'candidates, by the given columns';

CREATE FUNCTION kanon.linked_groups(view regclass, external regclass, columns text[],
        OUT rows bigint, OUT population bigint) RETURNS SETOF record
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE COST 100000 AS 'MODULE_PATHNAME', 'kanon_linked_groups';
COMMENT ON FUNCTION kanon.linked_groups IS
    'for each published class, how many rows of an identified table it may refer to';

CREATE FUNCTION kanon.tally(view regclass, OUT "column" name, OUT value text, OUT unknown boolean, OUT rows bigint,
        OUT people bigint, OUT fate text, OUT raw_classes bigint, OUT raw_alone bigint,
        OUT box kanon.generalized[], OUT loss float8[], OUT diverse bigint[]) RETURNS SETOF record
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 10000 AS 'MODULE_PATHNAME', 'kanon_tally';
COMMENT ON FUNCTION kanon.tally IS
    'the published classes of an A-view (column is null), and the raw values of its columns; for the view''s owner';

--
-- Estimates with an error bound.
--

CREATE TYPE kanon.estimate AS (estimate float8, error float8, low bigint, high bigint);
COMMENT ON TYPE kanon.estimate IS
    'an estimated number, half the width of its 95 % interval, and the least and greatest possible number';

CREATE FUNCTION kanon.estimate_add(float8[], float8) RETURNS float8[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_estimate_add';
CREATE FUNCTION kanon.estimate_combine(float8[], float8[]) RETURNS float8[]
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_estimate_combine';
CREATE FUNCTION kanon.estimate_final(float8[]) RETURNS kanon.estimate
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_estimate_final';
COMMENT ON FUNCTION kanon.estimate_add IS 'transition function of kanon.estimate_count';
COMMENT ON FUNCTION kanon.estimate_combine IS 'combine function of kanon.estimate_count';
COMMENT ON FUNCTION kanon.estimate_final IS 'final function of kanon.estimate_count';

CREATE AGGREGATE kanon.estimate_count(float8) (
    SFUNC = kanon.estimate_add, STYPE = float8[], INITCOND = '{0,0,0,0,0,0}',
    COMBINEFUNC = kanon.estimate_combine, FINALFUNC = kanon.estimate_final, PARALLEL = SAFE);
COMMENT ON AGGREGATE kanon.estimate_count(float8) IS
    'the estimated number of rows that satisfy a condition, from the share of each row that does: kanon.coverage, '
    'or a product of coverages';

-- The share of a row that satisfies one condition: a value, or [from, to).
CREATE FUNCTION kanon.condition_share(relation regclass, "column" text, condition jsonb) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    type regtype;
    bounds text[];
BEGIN
    SELECT a.atttypid INTO type FROM pg_attribute a
        WHERE a.attrelid = relation AND a.attname = "column" AND a.attnum > 0 AND NOT a.attisdropped;
    IF type IS NULL THEN
        RAISE EXCEPTION 'relation "%" has no column "%"', relation, "column" USING ERRCODE = 'undefined_column';
    END IF;
    IF jsonb_typeof(condition) = 'array' THEN
        bounds := ARRAY(SELECT * FROM jsonb_array_elements_text(condition));
        IF array_length(bounds, 1) IS DISTINCT FROM 2 OR array_position(bounds, NULL) IS NOT NULL THEN
            RAISE EXCEPTION 'the condition on "%" is not a value or a range of two values: %', "column", condition
                USING ERRCODE = 'invalid_parameter_value', HINT = 'Write a range as [from, to]; the end is not part of the range.';
        END IF;
    ELSIF jsonb_typeof(condition) IN ('string', 'number', 'boolean') THEN
        bounds := ARRAY[condition #>> '{}'];
    ELSE
        RAISE EXCEPTION 'the condition on "%" is not a value or a range of two values: %', "column", condition
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF type = 'kanon.generalized'::regtype THEN
        RETURN format('kanon.coverage(v.%I%s)', "column", (SELECT string_agg(format(', %L::text', b), '') FROM unnest(bounds) b));
    ELSIF array_length(bounds, 1) = 1 THEN
        RETURN format('coalesce((v.%I = %L)::integer, 0)::float8', "column", bounds[1]);
    END IF;
    RETURN format('coalesce((v.%1$I >= %2$L AND v.%1$I < %3$L)::integer, 0)::float8', "column", bounds[1], bounds[2]);
END
$$;
COMMENT ON FUNCTION kanon.condition_share IS 'the expression for a condition of kanon.estimate_count';

CREATE FUNCTION kanon.estimate_count(view regclass, conditions jsonb,
        OUT estimate float8, OUT error float8, OUT low bigint, OUT high bigint) RETURNS record
    LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    shares text[];
BEGIN
    IF jsonb_typeof(conditions) <> 'object' OR conditions = '{}' THEN
        RAISE EXCEPTION 'conditions must be an object of columns and values'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'For example ''{"age": [20, 30], "sex": "f"}''.';
    END IF;
    SELECT array_agg(kanon.condition_share(view, c.key, c.value)) INTO shares FROM jsonb_each(conditions) c;
    -- A row that certainly fails one condition is excluded, even if the share of another one cannot be measured.
    EXECUTE format('SELECT (e).* FROM (SELECT kanon.estimate_count(CASE WHEN least(%s) = 0 THEN 0 ELSE %s END) AS e FROM %s AS v) AS s',
            array_to_string(shares, ', '), array_to_string(shares, ' * '), view)
        INTO estimate, error, low, high;
END
$$;
COMMENT ON FUNCTION kanon.estimate_count(regclass, jsonb) IS
    'the estimated number of rows of an A-view that satisfy all conditions (column: value, or column: [from, to])';
