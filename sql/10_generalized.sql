--
-- The type kanon.generalized: a node of a hierarchy, an interval of numbers or
-- dates, or everything ('*').
--

CREATE TYPE kanon.generalized;

CREATE FUNCTION kanon.generalized_in(cstring) RETURNS kanon.generalized
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_generalized_in';
CREATE FUNCTION kanon.generalized_out(kanon.generalized) RETURNS cstring
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_generalized_out';
CREATE FUNCTION kanon.generalized_recv(internal) RETURNS kanon.generalized
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_generalized_recv';
CREATE FUNCTION kanon.generalized_send(kanon.generalized) RETURNS bytea
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_generalized_send';

-- The category is that of strings, because JOIN USING, UNION and CASE must combine
-- generalized values with text.
CREATE TYPE kanon.generalized (
    INPUT = kanon.generalized_in,
    OUTPUT = kanon.generalized_out,
    RECEIVE = kanon.generalized_recv,
    SEND = kanon.generalized_send,
    STORAGE = extended,
    CATEGORY = 'S',
    COLLATABLE = true
);

-- Casts.  Integers are converted through their text form, which is also the text
-- form of the generalized value.  The other types have more than one text form.

CREATE FUNCTION kanon.generalized_text(kanon.generalized) RETURNS text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_generalized_text';
CREATE FUNCTION kanon.generalized_numrange(kanon.generalized) RETURNS numrange
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_generalized_numrange';
CREATE FUNCTION kanon.generalized_int8range(kanon.generalized) RETURNS int8range
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_generalized_int8range';
CREATE FUNCTION kanon.generalized_daterange(kanon.generalized) RETURNS daterange
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_generalized_daterange';

CREATE CAST (kanon.generalized AS text) WITH FUNCTION kanon.generalized_text AS IMPLICIT;
CREATE CAST (kanon.generalized AS numrange) WITH FUNCTION kanon.generalized_numrange;
CREATE CAST (kanon.generalized AS int8range) WITH FUNCTION kanon.generalized_int8range;
CREATE CAST (kanon.generalized AS daterange) WITH FUNCTION kanon.generalized_daterange;

CREATE CAST (text AS kanon.generalized) WITH INOUT AS ASSIGNMENT;
CREATE CAST (varchar AS kanon.generalized) WITH INOUT AS ASSIGNMENT;
CREATE CAST (smallint AS kanon.generalized) WITH INOUT AS ASSIGNMENT;
CREATE CAST (integer AS kanon.generalized) WITH INOUT AS ASSIGNMENT;
CREATE CAST (bigint AS kanon.generalized) WITH INOUT AS ASSIGNMENT;

CREATE FUNCTION kanon.number_generalized(numeric) RETURNS kanon.generalized
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_numeric_generalized';
CREATE FUNCTION kanon.number_generalized(real) RETURNS kanon.generalized
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_float4_generalized';
CREATE FUNCTION kanon.number_generalized(float8) RETURNS kanon.generalized
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_float8_generalized';
CREATE FUNCTION kanon.date_generalized(date) RETURNS kanon.generalized
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_date_generalized';
CREATE FUNCTION kanon.range_generalized(numrange) RETURNS kanon.generalized
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_range_generalized';
CREATE FUNCTION kanon.range_generalized(int8range) RETURNS kanon.generalized
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_range_generalized';
CREATE FUNCTION kanon.range_generalized(daterange) RETURNS kanon.generalized
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_range_generalized';

CREATE CAST (numeric AS kanon.generalized) WITH FUNCTION kanon.number_generalized(numeric) AS ASSIGNMENT;
CREATE CAST (real AS kanon.generalized) WITH FUNCTION kanon.number_generalized(real) AS ASSIGNMENT;
CREATE CAST (float8 AS kanon.generalized) WITH FUNCTION kanon.number_generalized(float8) AS ASSIGNMENT;
CREATE CAST (date AS kanon.generalized) WITH FUNCTION kanon.date_generalized(date) AS ASSIGNMENT;
CREATE CAST (numrange AS kanon.generalized) WITH FUNCTION kanon.range_generalized(numrange) AS ASSIGNMENT;
CREATE CAST (int8range AS kanon.generalized) WITH FUNCTION kanon.range_generalized(int8range) AS ASSIGNMENT;
CREATE CAST (daterange AS kanon.generalized) WITH FUNCTION kanon.range_generalized(daterange) AS ASSIGNMENT;

-- Comparisons: = and ~~^ are AVLIKE, the others return whether the comparison may
-- hold.  Each exists for every type that a driver may send, in both orders: without
-- an exact match, the parser would choose the implicit cast to text.
--
-- The operators are in pg_catalog.  If they were in kanon, a session without kanon
-- in its search_path would silently compare texts.  None of them belongs to an
-- operator class: grouping, sorting and hashing use identity, below.

DO $$
DECLARE
    operator record;
    pair record;
BEGIN
    FOR operator IN
        SELECT * FROM (VALUES
            ('=', 'avlike', 'kanon_avlike', '='),
            ('~~^', 'avlike', NULL, '~~^'),
            ('<>', 'may_be_ne', 'kanon_may_be_ne', '<>'),
            ('<', 'may_be_lt', 'kanon_may_be_lt', '>'),
            ('<=', 'may_be_le', 'kanon_may_be_le', '>='),
            ('>', 'may_be_gt', 'kanon_may_be_gt', '<'),
            ('>=', 'may_be_ge', 'kanon_may_be_ge', '<=')) AS o (name, function, symbol, commutator)
    LOOP
        FOR pair IN
            SELECT 'kanon.generalized' AS a, 'kanon.generalized' AS b
            UNION ALL
            SELECT side.* FROM unnest('{text,name,smallint,integer,bigint,numeric,real,float8,boolean,date,timestamp,timestamptz}'::text[]) AS t (name),
                LATERAL (VALUES ('kanon.generalized', t.name), (t.name, 'kanon.generalized')) AS side (a, b)
        LOOP
            IF operator.symbol IS NOT NULL THEN
                EXECUTE format('CREATE FUNCTION kanon.%I(%s, %s) RETURNS boolean
                    LANGUAGE c STABLE STRICT PARALLEL SAFE AS ''MODULE_PATHNAME'', %L',
                    operator.function, pair.a, pair.b, operator.symbol);
            END IF;
            EXECUTE format('CREATE OPERATOR pg_catalog.%s (LEFTARG = %s, RIGHTARG = %s,
                FUNCTION = kanon.%I, COMMUTATOR = OPERATOR(pg_catalog.%s),
                RESTRICT = matchingsel, JOIN = matchingjoinsel)',
                operator.name, pair.a, pair.b, operator.function, operator.commutator);
        END LOOP;
    END LOOP;
END
$$;

-- For two literals, from whose types no operator could be chosen.
CREATE FUNCTION kanon.avlike(text, text) RETURNS boolean
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN kanon.avlike($1::kanon.generalized, $2::kanon.generalized);
COMMENT ON FUNCTION kanon.avlike(text, text) IS 'whether one of two values covers the other';

-- Identity: the comparison of GROUP BY, DISTINCT, ORDER BY, UNION, indexes, min and max.

CREATE FUNCTION kanon.identity_cmp(kanon.generalized, kanon.generalized) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_identity_cmp';
CREATE FUNCTION kanon.identity_eq(kanon.generalized, kanon.generalized) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_identity_eq';
CREATE FUNCTION kanon.identity_ne(kanon.generalized, kanon.generalized) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_identity_ne';
CREATE FUNCTION kanon.identity_lt(kanon.generalized, kanon.generalized) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_identity_lt';
CREATE FUNCTION kanon.identity_le(kanon.generalized, kanon.generalized) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_identity_le';
CREATE FUNCTION kanon.identity_gt(kanon.generalized, kanon.generalized) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_identity_gt';
CREATE FUNCTION kanon.identity_ge(kanon.generalized, kanon.generalized) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_identity_ge';
CREATE FUNCTION kanon.identity_hash(kanon.generalized) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_identity_hash';
CREATE FUNCTION kanon.identity_hash_extended(kanon.generalized, bigint) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_identity_hash_extended';
CREATE FUNCTION kanon.identity_larger(kanon.generalized, kanon.generalized) RETURNS kanon.generalized
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_identity_larger';
CREATE FUNCTION kanon.identity_smaller(kanon.generalized, kanon.generalized) RETURNS kanon.generalized
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_identity_smaller';

CREATE OPERATOR kanon.*= (LEFTARG = kanon.generalized, RIGHTARG = kanon.generalized, FUNCTION = kanon.identity_eq,
    COMMUTATOR = OPERATOR(kanon.*=), NEGATOR = OPERATOR(kanon.*<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR kanon.*<> (LEFTARG = kanon.generalized, RIGHTARG = kanon.generalized, FUNCTION = kanon.identity_ne,
    COMMUTATOR = OPERATOR(kanon.*<>), NEGATOR = OPERATOR(kanon.*=), RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR kanon.*< (LEFTARG = kanon.generalized, RIGHTARG = kanon.generalized, FUNCTION = kanon.identity_lt,
    COMMUTATOR = OPERATOR(kanon.*>), NEGATOR = OPERATOR(kanon.*>=), RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR kanon.*<= (LEFTARG = kanon.generalized, RIGHTARG = kanon.generalized, FUNCTION = kanon.identity_le,
    COMMUTATOR = OPERATOR(kanon.*>=), NEGATOR = OPERATOR(kanon.*>), RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR kanon.*> (LEFTARG = kanon.generalized, RIGHTARG = kanon.generalized, FUNCTION = kanon.identity_gt,
    COMMUTATOR = OPERATOR(kanon.*<), NEGATOR = OPERATOR(kanon.*<=), RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR kanon.*>= (LEFTARG = kanon.generalized, RIGHTARG = kanon.generalized, FUNCTION = kanon.identity_ge,
    COMMUTATOR = OPERATOR(kanon.*<=), NEGATOR = OPERATOR(kanon.*<), RESTRICT = scalargesel, JOIN = scalargejoinsel);

CREATE OPERATOR CLASS kanon.generalized_identity DEFAULT FOR TYPE kanon.generalized USING btree AS
    OPERATOR 1 kanon.*<, OPERATOR 2 kanon.*<=, OPERATOR 3 kanon.*=, OPERATOR 4 kanon.*>=, OPERATOR 5 kanon.*>,
    FUNCTION 1 kanon.identity_cmp(kanon.generalized, kanon.generalized);
CREATE OPERATOR CLASS kanon.generalized_identity DEFAULT FOR TYPE kanon.generalized USING hash AS
    OPERATOR 1 kanon.*=,
    FUNCTION 1 kanon.identity_hash(kanon.generalized),
    FUNCTION 2 kanon.identity_hash_extended(kanon.generalized, bigint);

-- In pg_catalog for the same reason as the comparisons.
CREATE AGGREGATE pg_catalog.min(kanon.generalized) (
    SFUNC = kanon.identity_smaller, STYPE = kanon.generalized, COMBINEFUNC = kanon.identity_smaller,
    SORTOP = OPERATOR(kanon.*<), PARALLEL = SAFE);
CREATE AGGREGATE pg_catalog.max(kanon.generalized) (
    SFUNC = kanon.identity_larger, STYPE = kanon.generalized, COMBINEFUNC = kanon.identity_larger,
    SORTOP = OPERATOR(kanon.*>), PARALLEL = SAFE);

-- The share of a value that lies in [lo, hi), or is x.

CREATE FUNCTION kanon.coverage(value kanon.generalized, lo float8, hi float8) RETURNS float8
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_coverage_range';
CREATE FUNCTION kanon.coverage(value kanon.generalized, lo date, hi date) RETURNS float8
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_coverage_range';
CREATE FUNCTION kanon.coverage(value kanon.generalized, lo text, hi text) RETURNS float8
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_coverage_range';
CREATE FUNCTION kanon.coverage(value kanon.generalized, x float8) RETURNS float8
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_coverage_value';
CREATE FUNCTION kanon.coverage(value kanon.generalized, x date) RETURNS float8
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_coverage_value';
CREATE FUNCTION kanon.coverage(value kanon.generalized, x text) RETURNS float8
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_coverage_value';

