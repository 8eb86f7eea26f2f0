--
-- Levels that are fixed beforehand, from a sample or from public data.
--

-- The expression for a column's value, an element of a class that kanon.violations returns, at a level of its hierarchy.
CREATE FUNCTION kanon.level_expression(place integer, type regtype, dgh text, level integer) RETURNS text
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN level = 0 THEN value WHEN dgh IS NULL THEN quote_literal('*')
        ELSE format('kanon.generalize(%L, %s, %s)::text', dgh, value, level) END
    FROM (SELECT format(CASE WHEN type IN ('timestamp'::regtype, 'timestamptz'::regtype) THEN 'left(class[%s], 10)' ELSE 'class[%s]' END, place)) v (value)
$$;
COMMENT ON FUNCTION kanon.level_expression IS 'the expression for a column at a level of its hierarchy, for kanon.suggest_levels';

-- The share of rows in cells of fewer than k rows, if each column is at its level.  kanon.violations reads the relation
-- with the right rights; here it returns all classes.
CREATE FUNCTION kanon.level_suppression(rel regclass, columns text[], expressions text[], k integer) RETURNS float8
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO' AS $$
DECLARE
    share float8;
BEGIN
    EXECUTE format('SELECT coalesce(sum(n) FILTER (WHERE n < $1) / sum(n), 0)'
            ' FROM (SELECT sum(rows) AS n FROM kanon.violations($2, $3, 2147483647) GROUP BY ARRAY[%s]) AS cells',
        array_to_string(expressions, ', ')) INTO share USING k, rel, columns;
    RETURN share;
END
$$;
COMMENT ON FUNCTION kanon.level_suppression IS 'the share of rows that fixed levels would suppress, for kanon.suggest_levels';

CREATE FUNCTION kanon.suggest_levels(rel regclass, quasi_ids jsonb, k integer, suppress float8 DEFAULT 0.05) RETURNS jsonb
    LANGUAGE plpgsql STRICT SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO' AS $$
DECLARE
    columns text[];
    types regtype[];
    hierarchies text[];
    levels integer[];
    expressions text[];
    lower text[];
    different bigint[]; -- values of each column at its level
    next integer;
BEGIN
    IF jsonb_typeof(quasi_ids) <> 'object' OR quasi_ids = '{}' THEN
        RAISE EXCEPTION 'quasi_ids must be an object of columns and hierarchies' USING ERRCODE = 'invalid_parameter_value',
            HINT = 'For example ''{"birth": "years", "sex": null}''.';
    ELSIF k < 1 OR NOT suppress BETWEEN 0 AND 1 THEN
        RAISE EXCEPTION 'k must be at least 1 and suppress between 0 and 1, but they are % and %', k, suppress
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT array_agg(q.key ORDER BY a.attnum), array_agg(a.atttypid ORDER BY a.attnum), array_agg(q.value ORDER BY a.attnum),
            array_agg(0) INTO columns, types, hierarchies, levels
        FROM jsonb_each_text(quasi_ids) q
        LEFT JOIN pg_attribute a ON a.attrelid = rel AND a.attname = q.key AND a.attnum > 0 AND NOT a.attisdropped;
    next := array_position(types, NULL);
    IF next IS NOT NULL THEN
        RAISE EXCEPTION 'relation "%" has no column "%"', rel, columns[next] USING ERRCODE = 'undefined_column';
    END IF;
    -- As Datafly: the column with the most different values goes up next.
    LOOP
        SELECT array_agg(kanon.level_expression(i, types[i], hierarchies[i], levels[i]) ORDER BY i) INTO expressions
            FROM generate_subscripts(columns, 1) i;
        EXIT WHEN kanon.level_suppression(rel, columns, expressions, k) <= suppress;
        EXECUTE format('SELECT ARRAY[%s] FROM kanon.violations($1, $2, 2147483647)',
            (SELECT string_agg(format('count(DISTINCT %s)', e), ', ' ORDER BY i) FROM unnest(expressions) WITH ORDINALITY AS u (e, i)))
            INTO different USING rel, columns;
        SELECT i INTO next FROM unnest(different) WITH ORDINALITY AS u (n, i) ORDER BY n DESC, i LIMIT 1;
        IF different[next] <= 1 THEN
            RAISE EXCEPTION 'relation "%" has fewer than % rows', rel, k USING ERRCODE = 'invalid_parameter_value',
                HINT = 'Levels are found from at least k rows.';
        END IF;
        levels[next] := levels[next] + 1;
    END LOOP;
    -- Take back steps that were not needed after all.
    FOR i IN REVERSE cardinality(columns) .. 1 LOOP
        WHILE levels[i] > 0 LOOP
            lower := expressions;
            lower[i] := kanon.level_expression(i, types[i], hierarchies[i], levels[i] - 1);
            EXIT WHEN kanon.level_suppression(rel, columns, lower, k) > suppress;
            expressions := lower;
            levels[i] := levels[i] - 1;
        END LOOP;
    END LOOP;
    RETURN (SELECT jsonb_object_agg(c, jsonb_build_array(l, l)) FROM unnest(columns, levels) AS u (c, l));
END
$$;
COMMENT ON FUNCTION kanon.suggest_levels IS
    'levels for kanon.create_anonymization_view at which a relation, a sample or public data, has at most a share of '
    'its rows in cells of fewer than k rows';
