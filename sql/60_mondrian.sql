--
-- Releases by grouping: Mondrian, TopDown, local recoding, k-join-anonymity.
--
-- They run the caller's own queries with the caller's rights, hence VOLATILE and
-- PARALLEL UNSAFE, the defaults.
--

CREATE FUNCTION kanon.mondrian(source text, id text, quasi_ids jsonb, k integer,
        sensitive text DEFAULT NULL, l integer DEFAULT NULL, split text DEFAULT 'median',
        OUT id text, OUT grp integer, OUT box kanon.generalized[]) RETURNS SETOF record
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_mondrian';
COMMENT ON FUNCTION kanon.mondrian IS
    'k-anonymous groups by Mondrian: cuts at medians, one column after the other (split => ''gain'': the cuts that '
    'lose least)';

CREATE FUNCTION kanon.topdown(source text, id text, quasi_ids jsonb, k integer,
        sensitive text DEFAULT NULL, l integer DEFAULT NULL, seed integer DEFAULT 0,
        OUT id text, OUT grp integer, OUT box kanon.generalized[]) RETURNS SETOF record
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_topdown';
COMMENT ON FUNCTION kanon.topdown IS
    'k-anonymous groups by TopDown: split around two distant rows, then merged up to k';

CREATE FUNCTION kanon.local_recoding(source text, id text, quasi_ids jsonb, k integer,
        sensitive text DEFAULT NULL, l integer DEFAULT NULL, block_size integer DEFAULT 8192,
        OUT id text, OUT grp integer, OUT box kanon.generalized[]) RETURNS SETOF record
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_local_recoding';
COMMENT ON FUNCTION kanon.local_recoding IS
    'k-anonymous groups that lose little: merged from single rows, then rearranged, within blocks of rows';

CREATE FUNCTION kanon.release_quality(source text, id text, quasi_ids jsonb, release text,
        OUT tuples bigint, OUT groups bigint, OUT min_group bigint, OUT avg_group float8,
        OUT ncp float8, OUT ncp_normalized float8, OUT dm float8) RETURNS record
    LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'kanon_release_quality';
COMMENT ON FUNCTION kanon.release_quality IS
    'sizes of groups, certainty penalty and discernibility of a release: a query that returns id, grp, box';

CREATE FUNCTION kanon.kja(source text, public text, id text, quasi_ids jsonb, k integer,
        algorithm text DEFAULT 'mondrian', method text DEFAULT 'direct', seed integer DEFAULT 0,
        sensitive text DEFAULT NULL, l integer DEFAULT NULL,
        OUT id text, OUT in_source boolean, OUT grp integer, OUT sg integer, OUT box kanon.generalized[])
    RETURNS SETOF record
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_kja';
COMMENT ON FUNCTION kanon.kja IS
    'k-join-anonymous groups of the source and of public rows (algorithm: mondrian or topdown; method: direct or '
    'refinement)';

CREATE FUNCTION kanon.kja_rows(source text, public text, id text, quasi_ids jsonb, k integer,
        algorithm text, method text, seed integer, sensitive text, l integer,
        OUT id text, OUT in_source boolean, OUT grp integer, OUT sg integer, OUT box kanon.generalized[], OUT value text)
    RETURNS SETOF record
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_kja';
COMMENT ON FUNCTION kanon.kja_rows IS
    'kanon.kja with the sensitive values; for kanon.publish_kja';

CREATE FUNCTION kanon.publish_kja(name text, source text, public text, id text, quasi_ids jsonb, k integer,
        algorithm text DEFAULT 'mondrian', method text DEFAULT 'direct', seed integer DEFAULT 0,
        sensitive text DEFAULT NULL, l integer DEFAULT NULL) RETURNS void
    LANGUAGE c AS 'MODULE_PATHNAME', 'kanon_publish_kja';
COMMENT ON FUNCTION kanon.publish_kja IS
    'stores a k-join-anonymous release in the tables <name>_jat (boxes, sg) and <name>_si (sg, sensitive value)';

CREATE FUNCTION kanon.box_share(box kanon.generalized[], lo numeric[], hi numeric[]) RETURNS float8
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'kanon_box_share';
COMMENT ON FUNCTION kanon.box_share IS
    'share of a box that lies between lo and hi (null: no bound), if all values in it are equally likely';

-- A sensitive group has as many microdata rows as sensitive values.  It is not known
-- which of its rows they are, so each row counts with their share.
CREATE FUNCTION kanon.kja_count(jat regclass, si regclass, lo numeric[], hi numeric[]) RETURNS float8
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path TO pg_catalog, pg_temp AS $$
DECLARE
    boxes text;
    estimate float8;
BEGIN
    SELECT string_agg(format('jat.%I', a.attname), ', ' ORDER BY a.attnum) INTO boxes
    FROM pg_attribute AS a
    WHERE a.attrelid = jat AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid = 'kanon.generalized'::regtype;
    IF boxes IS NULL THEN
        RAISE EXCEPTION 'relation "%" has no generalized column', jat
            USING ERRCODE = 'wrong_object_type', HINT = 'Pass the table "<name>_jat" that kanon.publish_kja has created.';
    END IF;
    EXECUTE format(
        'SELECT sum(boxes.share * own.members / boxes.members)
         FROM (SELECT jat.sg, count(*) AS members, sum(kanon.box_share(ARRAY[%s], $1, $2)) AS share
               FROM %s AS jat GROUP BY jat.sg) AS boxes
         JOIN (SELECT si.sg, count(*) AS members FROM %s AS si GROUP BY si.sg) AS own ON own.sg = boxes.sg',
        boxes, jat, si)
    INTO estimate USING lo, hi;
    RETURN coalesce(estimate, 0);
END
$$;
COMMENT ON FUNCTION kanon.kja_count IS
    'estimates from a k-join-anonymous release how many rows of the microdata lie between lo and hi';
