--
-- The oracle, part 2: what an A-view publishes.
--
-- Straight from the definition: rows of a table climb step by step until their
-- group may be published.
--

-- A-views as they were asked for.  The columns are those of the source, in its order.
CREATE TABLE oracle.view (
    name text PRIMARY KEY, source text,
    known_source text, -- the same over the oracle's tables
    k int, l int, t float8, match text, block_size int,
    profile jsonb, -- null: none
    stable bool,   -- the source may be asked twice
    steps int[],   -- columns among the quasi-identifiers, in the order of steps
    algorithm text, levels jsonb);
CREATE TABLE oracle.col (
    view text, pos int, name text, type text, class text, role text, dgh text,
    nth int,       -- among the columns of its role
    home text,     -- the hierarchy that its values come from, if they are generalized already
    lowest int DEFAULT 0, highest int, -- the levels between which it is published; null: up to the root
    PRIMARY KEY (view, pos));

-- The rows of the view at hand.
CREATE TABLE oracle.line (
    rid int PRIMARY KEY, ord int, block int DEFAULT 1, zero text[], now text[], sensitive text[],
    same text[],   -- sensitive values that their column calls equal have the same text here
    who bigint,    -- rows with equal identifiers have the same number
    person bigint, -- the same, but NULL if an identifier is missing; each row is a person if there are none
    k int, hidden text[] DEFAULT '{}', -- the row's own k, and the columns that its owner hides
    done bool DEFAULT false, step int, box int, suppressed bool DEFAULT false);
-- Each value of a quasi-identifier on each level; NULL is written as \001.
CREATE TABLE oracle.path (view text, nth int, zero text, level int, form text, PRIMARY KEY (view, nth, zero, level));

CREATE FUNCTION oracle.key(form text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT coalesce(form, E'\001') $$;

-- The source's rows, with a number, and what the definition needs of them as text forms.
CREATE FUNCTION oracle.read_source(v oracle.view) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    id_order text;
    any_missing text;
    quasi text;
    sensitives text;
    sames text;
    q oracle.col;
BEGIN
    -- format() prints as output functions do, but char(n) without its padding; a timestamp is its day.
    SELECT string_agg(format('s.%I', name), ', ' ORDER BY pos) FILTER (WHERE role = 'id'),
        string_agg(format('s.%I IS NULL', name), ' OR ') FILTER (WHERE role = 'id'),
        string_agg(x.form, ', ' ORDER BY pos) FILTER (WHERE role = 'quasi'),
        string_agg(x.form, ', ' ORDER BY pos) FILTER (WHERE role = 'sensitive'),
        string_agg(format('dense_rank() OVER (ORDER BY s.%I)::text', name), ', ' ORDER BY pos)
            FILTER (WHERE role = 'sensitive')
        INTO id_order, any_missing, quasi, sensitives, sames
        FROM oracle.col c,
            LATERAL (SELECT format('CASE WHEN s.%1$I IS NOT NULL THEN ' || CASE
                WHEN c.type LIKE 'timestamp%' THEN 's.%1$I::date::text'
                WHEN c.type LIKE 'char(%' THEN 's.%1$I::text'
                ELSE 'format(''%%s'', s.%1$I)' END || ' END', c.name)) x (form)
        WHERE c.view = v.name;
    DROP TABLE IF EXISTS oracle.source;
    EXECUTE format('CREATE TABLE oracle.source AS SELECT (row_number() OVER ())::int AS rid_, s.* FROM (%s) s',
        v.known_source);
    TRUNCATE oracle.line;
    EXECUTE format('INSERT INTO oracle.line (rid, ord, who, zero, now, sensitive, same)
        SELECT s.rid_, %s, %s, ARRAY[%s]::text[], ''{}'', ARRAY[%s]::text[], ARRAY[%s]::text[] FROM oracle.source s',
        coalesce('row_number() OVER (ORDER BY ' || id_order || ')', 's.rid_'),
        coalesce('dense_rank() OVER (ORDER BY ' || id_order || ')', 's.rid_'), quasi, sensitives, sames);
    EXECUTE format('UPDATE oracle.line l SET person = CASE WHEN %s THEN NULL ELSE l.who END
        FROM oracle.source s WHERE s.rid_ = l.rid', coalesce(any_missing, 'false'));
    -- From raw values to level 0.
    FOR q IN SELECT * FROM oracle.col x WHERE x.view = v.name AND x.role IN ('quasi', 'sensitive') LOOP
        IF q.role = 'quasi' THEN
            UPDATE oracle.line SET zero[q.nth] = m.level_zero
                FROM (SELECT raw, oracle.level_zero(q.dgh, q.class, raw)
                    FROM (SELECT DISTINCT l.zero[q.nth] AS raw FROM oracle.line l) x OFFSET 0) m
                WHERE line.zero[q.nth] = m.raw AND m.raw <> m.level_zero;
        ELSE
            UPDATE oracle.line SET sensitive[q.nth] = m.level_zero
                FROM (SELECT raw, oracle.level_zero(q.dgh, q.class, raw)
                    FROM (SELECT DISTINCT l.sensitive[q.nth] AS raw FROM oracle.line l) x OFFSET 0) m
                WHERE line.sensitive[q.nth] = m.raw AND m.raw <> m.level_zero;
        END IF;
    END LOOP;
    -- A column with a hierarchy publishes labels: those count that it calls equal as values.
    FOR q IN SELECT * FROM oracle.col x WHERE x.view = v.name AND x.role = 'sensitive' LOOP
        UPDATE oracle.line SET same[q.nth] = CASE WHEN sensitive[q.nth] IS NULL THEN NULL
            WHEN q.dgh IS NOT NULL OR q.type = 'kanon.generalized' THEN oracle.same_label(q.type, sensitive[q.nth])
            ELSE same[q.nth] END;
    END LOOP;
    UPDATE oracle.line SET now = zero, k = v.k;
    DELETE FROM oracle.path WHERE view = v.name;
    INSERT INTO oracle.path
        SELECT v.name, c.nth, oracle.key(z.form), level, oracle.generalize(c.dgh, z.form, level)
        FROM oracle.col c,
            LATERAL (SELECT DISTINCT zero[c.nth] AS form FROM oracle.line) z,
            generate_series(0, oracle.height(c.dgh)) level
        WHERE c.view = v.name AND c.role = 'quasi';
END
$$;

-- The people of a group; and a note of the cases in which a missing identifier decides.
CREATE FUNCTION oracle.people(k int, rows bigint, numbers bigint, people bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    IF oracle.counting() AND rows >= k THEN
        PERFORM oracle.count('k', CASE WHEN people >= k THEN 'kept'
            WHEN numbers >= k THEN 'refused: a missing identifier'
            ELSE 'refused: several rows of one person' END);
    END IF;
    RETURN people;
END
$$;

-- What labels have in common that a column of a type calls equal.
CREATE FUNCTION oracle.same_label(type text, form text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN type IN ('oracle.nocase', 'citext') THEN lower(form) ELSE form END
$$;

CREATE FUNCTION oracle.height(dgh text) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT height FROM oracle.hierarchy WHERE name = dgh), 1)
$$;

-- The column with the most different values on its level goes up next; ties by the order of columns.  First, all go up
-- to their lowest levels.
CREATE FUNCTION oracle.sequence(v oracle.view) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    steps int[] := '{}';
    next int;
BEGIN
    LOOP
        SELECT c.nth INTO next
            FROM oracle.col c,
                LATERAL (SELECT count(*)::int AS level FROM unnest(steps) s WHERE s = c.nth) now,
                LATERAL (SELECT count(DISTINCT oracle.key(p.form)) AS different FROM oracle.path p
                         WHERE p.view = v.name AND p.nth = c.nth AND p.level = now.level) d
            WHERE c.view = v.name AND c.role = 'quasi' AND now.level < coalesce(c.highest, oracle.height(c.dgh))
            ORDER BY now.level < c.lowest DESC, d.different DESC, c.nth LIMIT 1;
        EXIT WHEN next IS NULL;
        steps := steps || next;
    END LOOP;
    RETURN steps;
END
$$;

-- Blocks: at least so many rows in the order of identifiers, all of a person in one.
CREATE FUNCTION oracle.cut_blocks(block_size int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    l oracle.line;
    nr int := 1;
    size int := 0;
    last bigint;
BEGIN
    FOR l IN SELECT * FROM oracle.line ORDER BY ord LOOP
        IF size >= block_size AND l.who IS DISTINCT FROM last THEN
            nr := nr + 1;
            size := 0;
        END IF;
        size := size + 1;
        last := l.who;
        UPDATE oracle.line SET block = nr WHERE rid = l.rid;
    END LOOP;
END
$$;

-- t-closeness.  The share of each sensitive value in the whole input, and what is needed to move it.

CREATE TABLE oracle.whole (nth int, value text, share float8, place int, PRIMARY KEY (nth, value));
-- What moves from a value to another passes the edges above it: the edge above a node, and its length.
CREATE TABLE oracle.edge (nth int, value text, node text, length float8, PRIMARY KEY (nth, value, node));

-- The nodes above a value and their levels; a node's level is that above its deepest leaf.
CREATE FUNCTION oracle.way_up(h oracle.hierarchy, form text, OUT node text, OUT level int) RETURNS SETOF record
    LANGUAGE plpgsql AS $$
DECLARE
    start int := 0;
BEGIN
    -- The value itself, as a leaf: an inner label that occurs as a value is one below itself.
    RETURN QUERY SELECT E'\002' || oracle.key(form), 0;
    IF form IS NULL OR form = h.root THEN
        NULL;
    ELSIF h.kind = 'tree' THEN
        RETURN QUERY SELECT n.node, n.height FROM oracle.ancestor a JOIN oracle.node n ON n.dgh = a.dgh
            AND n.node = a.ancestor
            WHERE a.dgh = h.name AND a.node = form AND n.depth > 0 AND n.height > 0;
    ELSE
        start := oracle.level_of(h, form);
        RETURN QUERY SELECT oracle.generalize(h.name, form, up), start + up
            FROM generate_series(0, h.height - 1 - start) up
            WHERE start + up > 0;
    END IF;
    RETURN QUERY SELECT E'\003', h.height;
END
$$;

CREATE FUNCTION oracle.measure_whole(v oracle.view) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM oracle.whole;
    DELETE FROM oracle.edge;
    INSERT INTO oracle.whole
        SELECT c.nth, oracle.key(x.form), count(*)::float8 / sum(count(*)) OVER (PARTITION BY c.nth),
            row_number() OVER (PARTITION BY c.nth ORDER BY CASE WHEN c.class = 'number'
                AND c.dgh IS NULL THEN x.form::numeric END NULLS LAST)
        FROM oracle.col c, oracle.line r, LATERAL (SELECT r.sensitive[c.nth]) x (form)
        WHERE c.view = v.name AND c.role = 'sensitive'
        GROUP BY c.nth, c.class, c.dgh, x.form;
    INSERT INTO oracle.edge
        SELECT w.nth, w.value, u.node,
            (lead(u.level) OVER (PARTITION BY w.nth, w.value ORDER BY u.level) - u.level) / 2.0 / h.height
        FROM oracle.whole w JOIN oracle.col c ON c.view = v.name AND c.role = 'sensitive' AND c.nth = w.nth
            JOIN oracle.hierarchy h ON h.name = c.dgh,
            LATERAL oracle.way_up(h, nullif(w.value, E'\001')) u;
    DELETE FROM oracle.edge WHERE length IS NULL; -- above the root there is nothing
END
$$;

-- How far the distribution of some values is from that of all.
CREATE FUNCTION oracle.distance(which int, kind text, group_values text[]) RETURNS float8 LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF kind = 'ordered' THEN
        RETURN (WITH extra AS (
            SELECT w.place, coalesce(g.share, 0) - w.share AS much FROM oracle.whole w
                LEFT JOIN (SELECT oracle.key(u) AS value, count(*)::float8 / cardinality(group_values) AS share
                           FROM unnest(group_values) u GROUP BY 1) g USING (value)
            WHERE w.nth = which
        ), carried AS (
            SELECT abs(sum(much) OVER (ORDER BY place)) AS much FROM extra
        )
        SELECT coalesce(sum(much) / nullif(count(*) - 1, 0), 0) FROM carried);
    END IF;
    RETURN (WITH extra AS (
        SELECT w.value, coalesce(g.share, 0) - w.share AS much FROM oracle.whole w
            LEFT JOIN (SELECT oracle.key(u) AS value, count(*)::float8 / cardinality(group_values) AS share
                       FROM unnest(group_values) u GROUP BY 1) g USING (value)
        WHERE w.nth = which
    )
    SELECT CASE WHEN kind = 'equal' THEN (SELECT sum(abs(much)) / 2 FROM extra)
        ELSE (SELECT sum(x.moved) FROM
            (SELECT abs(sum(much)) * max(e.length) AS moved FROM extra JOIN oracle.edge e ON e.nth = which
                AND e.value = extra.value
             GROUP BY e.node) x) END);
END
$$;

-- l-diversity.  Does a published value cover another one, which is not the same?
CREATE FUNCTION oracle.covers(dgh text, class text, a text, b text) RETURNS bool LANGUAGE plpgsql STABLE AS $$
DECLARE
    x oracle.value := oracle.value_of(dgh, class, a);
    y oracle.value := oracle.value_of(dgh, class, b);
    h oracle.hierarchy;
BEGIN
    IF a = b OR y.whole OR x.whole THEN
        RETURN a <> b AND x.whole AND NOT y.whole;
    END IF;
    SELECT * INTO h FROM oracle.hierarchy WHERE name = dgh;
    IF h.kind = 'tree' THEN
        RETURN EXISTS (SELECT FROM oracle.ancestor t WHERE t.dgh = covers.dgh AND t.node = b AND t.ancestor = a);
    ELSIF h.kind = 'prefix' THEN
        RETURN x.known AND y.known AND starts_with(b, rtrim(a, h.mask));
    END IF;
    RETURN coalesce((x.span).sort IS NOT NULL AND (y.span).sort IS NOT NULL AND oracle.within(y.span, x.span), false);
END
$$;

-- Can so many of the values from a place on be given to different people who have them?
CREATE FUNCTION oracle.can_assign(wanted int, owners jsonb, place int DEFAULT 0, busy text[] DEFAULT '{}') RETURNS bool
    LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    person text;
BEGIN
    IF wanted = 0 THEN
        RETURN true;
    ELSIF jsonb_array_length(owners) - place < wanted THEN
        RETURN false;
    END IF;
    FOR person IN SELECT p FROM jsonb_array_elements_text(owners -> place) p WHERE p <> ALL (busy) ORDER BY p
        LIMIT wanted LOOP -- more could not matter: the other values take wanted - 1 people
        IF oracle.can_assign(wanted - 1, owners, place + 1, busy || person) THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN oracle.can_assign(wanted, owners, place + 1, busy);
END
$$;

-- Do l people of a group have l different values, one each, none of which covers another value of the group?
CREATE FUNCTION oracle.is_diverse(c oracle.col, l int, groups jsonb) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    owners jsonb;
BEGIN
    WITH has AS (
        SELECT DISTINCT r ->> 'person' AS person, r -> 'sensitive' ->> (c.nth - 1) AS form,
            r -> 'same' ->> (c.nth - 1) AS same
        FROM jsonb_array_elements(groups) r
        WHERE r ->> 'person' IS NOT NULL AND r -> 'sensitive' ->> (c.nth - 1) IS NOT NULL
    ), value AS (
        SELECT DISTINCT form, same FROM has
    ), covering AS (
        SELECT a.same FROM value a, value b
        WHERE (c.dgh IS NOT NULL OR c.type = 'kanon.generalized') AND a.same <> b.same
            AND oracle.covers(c.dgh, c.class, a.form, b.form)
    ), held AS (
        SELECT same, jsonb_agg(DISTINCT person) AS people FROM has WHERE same NOT IN (SELECT same FROM covering)
        GROUP BY same
    )
    SELECT coalesce(jsonb_agg(people ORDER BY same), '[]') INTO owners FROM held;
    IF oracle.counting() THEN
        PERFORM oracle.count_group(c, l, groups, jsonb_array_length(owners), oracle.can_assign(l, owners));
    END IF;
    RETURN oracle.can_assign(l, owners);
END
$$;

-- Note what decides in a group: whether there is anything hard to count shows in the report.
CREATE FUNCTION oracle.count_group(c oracle.col, l int, groups jsonb, different int, diverse bool) RETURNS void
    LANGUAGE plpgsql AS $$
DECLARE
    texts int := (SELECT count(DISTINCT r -> 'sensitive' ->> (c.nth - 1)) FROM jsonb_array_elements(groups) r);
    same int := (SELECT count(DISTINCT r -> 'same' ->> (c.nth - 1)) FROM jsonb_array_elements(groups) r);
    known int := (SELECT count(DISTINCT r -> 'same' ->> (c.nth - 1)) FROM jsonb_array_elements(groups) r
        WHERE r ->> 'person' IS NOT NULL);
BEGIN
    PERFORM oracle.count('l', CASE WHEN diverse THEN 'kept' WHEN texts < l THEN 'refused: too few texts'
        WHEN same < l THEN 'refused: equal values' WHEN known < l THEN 'refused: values of nobody'
        WHEN different < l THEN 'refused: values that cover others' ELSE 'refused: values of one person' END);
END
$$;

CREATE FUNCTION oracle.is_safe(v oracle.view, k int, people bigint, groups jsonb) RETURNS bool
    LANGUAGE plpgsql AS $$
DECLARE
    c oracle.col;
    group_values text[];
BEGIN
    IF people < k THEN
        RETURN false;
    ELSIF v.l IS NULL AND v.t IS NULL THEN
        RETURN true;
    END IF;
    FOR c IN SELECT * FROM oracle.col WHERE view = v.name AND role = 'sensitive' ORDER BY nth LOOP
        SELECT array_agg(s -> 'sensitive' ->> (c.nth - 1)) INTO group_values FROM jsonb_array_elements(groups) s;
        IF v.l IS NOT NULL AND NOT oracle.is_diverse(c, v.l, groups) THEN
            RETURN false;
        END IF;
        -- A billionth for sums that are not exact.
        IF v.t IS NOT NULL AND oracle.distance(c.nth,
            CASE WHEN c.dgh IS NOT NULL THEN 'hierarchical' WHEN c.class = 'number' THEN 'ordered' ELSE 'equal' END,
            group_values) > v.t + 1e-9 THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END
$$;

CREATE FUNCTION oracle.publish_groups(v oracle.view, s int) RETURNS void LANGUAGE sql AS $$
    UPDATE oracle.line l SET done = true, step = s
        FROM (SELECT block, now FROM oracle.line WHERE NOT done GROUP BY block, now
              HAVING oracle.is_safe(v, max(k), oracle.people(max(k), count(*), count(DISTINCT who),
                                        count(DISTINCT person)),
                                    CASE WHEN v.l IS NOT NULL OR v.t IS NOT NULL THEN jsonb_agg(jsonb_build_object(
                                        'person', person, 'sensitive', sensitive, 'same', same)) END)) safe
        WHERE NOT l.done AND l.block = safe.block AND l.now = safe.now
$$;

CREATE FUNCTION oracle.climb_steps(v oracle.view) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    levels int[];
    which int;
    first int := (SELECT coalesce(sum(lowest), 0) FROM oracle.col WHERE view = v.name AND role = 'quasi');
BEGIN
    PERFORM oracle.publish_groups(v, 0) FROM (SELECT 1) x WHERE first = 0;
    FOR s IN 1 .. cardinality(v.steps) LOOP
        EXIT WHEN NOT EXISTS (SELECT FROM oracle.line WHERE NOT done);
        which := v.steps[s];
        levels[which] := coalesce(levels[which], 0) + 1;
        UPDATE oracle.line l SET now[which] = p.form FROM oracle.path p
            WHERE NOT l.done AND p.view = v.name AND p.nth = which AND p.level = levels[which]
                AND p.zero = oracle.key(l.zero[which]);
        PERFORM oracle.publish_groups(v, s) FROM (SELECT 1) x WHERE s >= first;
    END LOOP;
END
$$;

CREATE FUNCTION oracle.climb(v oracle.view) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF v.t IS NOT NULL THEN
        PERFORM oracle.measure_whole(v);
    END IF;
    IF v.block_size IS NOT NULL THEN
        PERFORM oracle.cut_blocks(v.block_size);
    END IF;
    -- Rows with a k below 2 are in no group.
    UPDATE oracle.line SET done = true WHERE k < 2;
    IF v.algorithm = 'mondrian' THEN
        PERFORM oracle.climb_boxes(v);
    ELSE
        PERFORM oracle.climb_steps(v);
    END IF;
    UPDATE oracle.line SET suppressed = true, now = array_fill('*'::text, ARRAY[cardinality(now)]) WHERE NOT done;
END
$$;

-- Choices, straight from the definition: a row's choices are the strictest of those for the purpose and the recipient.
CREATE FUNCTION oracle.apply_profile(v oracle.view) RETURNS void
    LANGUAGE plpgsql SET enable_hashjoin = on SET enable_seqscan = on AS $$
DECLARE
    l oracle.line;
    c oracle.col;
    choice record;
    level int;
BEGIN
    IF v.profile IS NULL THEN
        RETURN;
    END IF;
    CREATE UNIQUE INDEX IF NOT EXISTS source_rid ON oracle.source (rid_);
    FOR l IN SELECT * FROM oracle.line LOOP
        SELECT count(*) > 0 AS found, CASE WHEN bool_and(x.k IS NOT NULL AND x.k >= 0) THEN max(x.k) END AS k,
                CASE WHEN bool_and(x.lvl IS NOT NULL AND x.lvl >= 0) THEN max(x.lvl) END AS lvl,
                bool_and(coalesce(x.ok1, false)) AS ok1,
                bool_and(coalesce(x.ok2, false)) AS ok2,
                bool_and(coalesce(x.till >= current_date, false)) AS till INTO choice
            FROM s.choices x, oracle.source s WHERE s.rid_ = l.rid AND x.who = s.oa AND x.purpose = 'care'
                AND x.recipient = 'ward';
        IF NOT choice.found THEN
            choice.lvl := 0;
        END IF;
        l.k := CASE WHEN choice.found AND v.profile ? 'k' THEN choice.k ELSE v.k END;
        l.hidden := ARRAY(SELECT key FROM jsonb_each_text(coalesce(v.profile -> 'disclose', '{}')) d (key, flag)
                          WHERE NOT choice.found OR NOT CASE flag WHEN 'ok1' THEN choice.ok1 ELSE choice.ok2 END)
            || ARRAY(SELECT key FROM jsonb_each_text(coalesce(v.profile -> 'retain', '{}')) d (key, flag)
                     WHERE NOT choice.found OR NOT choice.till);
        FOR c IN SELECT * FROM oracle.col x WHERE x.view = v.name AND x.role = 'sensitive'
            AND v.profile ? 'sa_level' LOOP
            level := coalesce(choice.lvl, 1000);
            IF c.dgh IS NULL AND level > 0 THEN
                l.hidden := l.hidden || c.name;
            ELSIF level > 0 THEN
                l.sensitive[c.nth] := oracle.generalize(c.dgh, l.sensitive[c.nth], least(level, oracle.height(c.dgh)));
                l.same[c.nth] := oracle.same_label(c.type, l.sensitive[c.nth]);
            END IF;
        END LOOP;
        -- What its owner hides is neither a value for l nor one for t.
        FOR c IN SELECT * FROM oracle.col x WHERE x.view = v.name AND x.role = 'sensitive'
            AND x.name = ANY (l.hidden) LOOP
            l.sensitive[c.nth] := NULL;
            l.same[c.nth] := NULL;
        END LOOP;
        UPDATE oracle.line SET k = l.k, hidden = l.hidden, sensitive = l.sensitive, same = l.same WHERE rid = l.rid;
    END LOOP;
    DELETE FROM oracle.line WHERE k IS NULL;
END
$$;

-- Two tables like the view: <view>_pub, what it publishes, and <view>_zero, the members of each group at level 0.
CREATE FUNCTION oracle.publish(view_name text, reread bool DEFAULT true) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v oracle.view;
    published text;
    zero text;
BEGIN
    SELECT * INTO v FROM oracle.view WHERE name = view_name;
    IF reread THEN
        PERFORM oracle.read_source(v);
    END IF;
    PERFORM oracle.apply_profile(v);
    IF EXISTS (SELECT FROM oracle.line WHERE k >= 2) THEN
        PERFORM oracle.climb(v);
    END IF;
    SELECT string_agg(format('CASE WHEN NOT %L = ANY (l.hidden) %s END AS %I', name, CASE
            WHEN role = 'id' THEN format('AND l.k = 0 THEN s.%I', name)
            WHEN role = 'quasi' THEN format('THEN l.now[%s]', nth)
            WHEN role = 'sensitive' AND dgh IS NOT NULL THEN format('AND NOT l.suppressed THEN l.sensitive[%s]', nth)
            WHEN role = 'sensitive' THEN format('AND NOT l.suppressed THEN s.%I', name)
            ELSE format('THEN s.%I', name) END, name), ', ' ORDER BY pos),
        string_agg(format('CASE WHEN NOT %L = ANY (l.hidden) THEN l.zero[%s] END AS %I', name, nth, name),
            ', ' ORDER BY pos) FILTER (WHERE role = 'quasi')
        INTO published, zero FROM oracle.col WHERE view = v.name;
    EXECUTE format('DROP TABLE IF EXISTS oracle.%I, oracle.%I', v.name || '_pub', v.name || '_zero');
    -- A row in no group is one of its own.
    EXECUTE format('CREATE TABLE oracle.%I AS SELECT CASE WHEN l.k < 2 THEN l.rid::text WHEN NOT l.suppressed THEN '
        'ROW(l.block, l.step, l.box, l.now)::text END AS group_, %s
        FROM oracle.line l JOIN oracle.source s ON s.rid_ = l.rid', v.name || '_pub', published);
    EXECUTE format('CREATE TABLE oracle.%I AS SELECT CASE WHEN l.k < 2 THEN l.rid::text ELSE ROW(l.block, l.step, '
        'l.box, l.now)::text END AS group_, %s FROM oracle.line l WHERE NOT l.suppressed',
        v.name || '_zero', coalesce(zero, 'NULL AS nothing_'));
END
$$;

-- Values that hierarchies do not know, NULL among them.
CREATE FUNCTION oracle.uncovered(v oracle.view) RETURNS TABLE ("column" text, value text, rows bigint)
    LANGUAGE sql AS $$
    SELECT c.name, x.form, count(*)
    FROM oracle.col c JOIN oracle.hierarchy h ON h.name = c.dgh, oracle.line l,
        LATERAL (SELECT CASE c.role WHEN 'quasi' THEN l.zero[c.nth] ELSE l.sensitive[c.nth] END) x (form)
    WHERE c.view = v.name AND (x.form IS NULL OR (x.form <> '*' AND CASE WHEN h.kind = 'tree'
            THEN NOT EXISTS (SELECT FROM oracle.node n WHERE n.dgh = h.name AND n.node = x.form)
            ELSE oracle.level_of(h, x.form) IS NULL END))
    GROUP BY c.name, x.form
$$;
