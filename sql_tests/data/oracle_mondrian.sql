--
-- The oracle, part 3: the cells of A-views by Mondrian.
--
-- Straight from the definition: the values of a column stand in an order, boxes
-- are cut at medians, the columns taking turns, and a row is in the innermost box
-- that holds it.
--

-- Where a value stands in its column: numbers, dates, leaves, codes of a prefix hierarchy, words, NULL.
CREATE TYPE oracle.standing AS (sort int, number numeric, word text COLLATE "C");
CREATE TABLE oracle.stand (view text, nth int, form text, standing oracle.standing, place int,
    PRIMARY KEY (view, nth, form));
-- The boxes, as they were when the view was made; NULL is written as \001.
CREATE TABLE oracle.box (view text, box int, parent int, depth int, nth int, lo text, hi text, open bool,
    PRIMARY KEY (view, box));

-- The order of the leaves of a tree: siblings come in the order of their first leaves, numbers before words.
CREATE TABLE oracle.leaf (dgh text, leaf text, place int, PRIMARY KEY (dgh, leaf));

CREATE FUNCTION oracle.order_leaves() RETURNS void LANGUAGE sql AS $$
    DELETE FROM oracle.leaf;
    INSERT INTO oracle.leaf
        WITH alone AS (
            SELECT r.dgh, u AS leaf, row_number() OVER (PARTITION BY r.dgh
                ORDER BY (oracle.read_point(u)).lo NULLS LAST, u COLLATE "C") AS place
            FROM oracle.node r, unnest(r.leaves) u WHERE r.depth = 0
        ), first AS (
            SELECT n.dgh, n.node, min(alone.place) AS place FROM oracle.node n, unnest(n.leaves) l
                JOIN alone ON alone.leaf = l
            WHERE alone.dgh = n.dgh GROUP BY n.dgh, n.node
        ), way AS (
            SELECT a.dgh, a.node, array_agg(first.place ORDER BY a.up DESC) AS places
            FROM oracle.ancestor a JOIN first ON first.dgh = a.dgh AND first.node = a.ancestor
                JOIN oracle.node n ON n.dgh = a.dgh AND n.node = a.node
            WHERE n.height = 0 GROUP BY a.dgh, a.node
        )
        SELECT dgh, node, row_number() OVER (PARTITION BY dgh ORDER BY places) FROM way
$$;

CREATE FUNCTION oracle.stands(c oracle.col, form text) RETURNS oracle.standing LANGUAGE plpgsql STABLE AS $$
DECLARE
    h oracle.hierarchy;
    s oracle.span;
BEGIN
    -- What is generalized already has an order in a hierarchy only.
    IF form IS NULL OR (c.type = 'kanon.generalized' AND c.dgh IS NULL) THEN
        RETURN (6, 0, '')::oracle.standing;
    END IF;
    SELECT * INTO h FROM oracle.hierarchy x WHERE x.name = c.dgh;
    IF h.kind = 'tree' THEN
        IF EXISTS (SELECT FROM oracle.node n WHERE n.dgh = c.dgh AND n.node = form AND n.height = 0
            AND n.depth > 0) THEN
            RETURN (3, (SELECT l.place FROM oracle.leaf l WHERE l.dgh = c.dgh AND l.leaf = form), '')::oracle.standing;
        END IF;
    ELSIF h.kind = 'prefix' THEN
        IF form <> '*' AND oracle.level_of(h, form) IS NOT NULL THEN
            RETURN (4, 0, form)::oracle.standing;
        END IF;
    ELSIF h.kind IS NOT NULL OR c.class IN ('number', 'date') THEN
        s := oracle.read(form);
        IF s.lo = s.hi AND (h.kind IS NULL OR (s.sort = 'n') = (h.kind = 'interval')) THEN
            RETURN (CASE s.sort WHEN 'n' THEN 1 ELSE 2 END, s.lo, '')::oracle.standing;
        END IF;
    END IF;
    RETURN (5, 0, form)::oracle.standing;
END
$$;

-- Where the values of the rows, and of the boxes' ends, stand now.
CREATE FUNCTION oracle.stand_up(v oracle.view) RETURNS void LANGUAGE sql AS $$
    DELETE FROM oracle.stand WHERE view = v.name;
    INSERT INTO oracle.stand
        SELECT v.name, c.nth, f.form, s.standing, dense_rank() OVER (PARTITION BY c.nth ORDER BY s.standing)
        FROM oracle.col c,
            LATERAL (SELECT DISTINCT oracle.key(zero[c.nth]) FROM oracle.line
                     UNION SELECT b.lo FROM oracle.box b WHERE b.view = v.name AND b.nth = c.nth
                     UNION SELECT b.hi FROM oracle.box b WHERE b.view = v.name AND b.nth = c.nth) f (form),
            LATERAL (SELECT oracle.stands(c, nullif(f.form, E'\001')) AS standing) s
        WHERE c.view = v.name AND c.role = 'quasi'
$$;

-- Rows as the places of their values, and the sensitive value that counts for l.
CREATE TYPE oracle.point AS (places int[], sensitive text);

CREATE FUNCTION oracle.may_stand_alone(v oracle.view, points oracle.point[]) RETURNS bool LANGUAGE sql IMMUTABLE AS $$
    SELECT cardinality(points) >= greatest(v.k, 2) AND
        (v.l IS NULL OR (SELECT count(DISTINCT p.sensitive) FROM unnest(points) p) >= v.l)
$$;

-- Where a set of points is cut: the column, and the first place of the upper half.  The median goes to the half that
-- makes them more even.
CREATE FUNCTION oracle.find_cut(v oracle.view, points oracle.point[], turn int, width int, OUT nth int, OUT split int)
    LANGUAGE plpgsql STABLE AS $$
DECLARE
    many int := cardinality(points);
    median int;
    below oracle.point[];
BEGIN
    FOR i IN 0 .. width - 1 LOOP
        nth := 1 + (turn - 1 + i) % width;
        SELECT percentile_disc((many / 2 + 1)::float8 / many) WITHIN GROUP (ORDER BY p.places[nth]) INTO median
            FROM unnest(points) p;
        FOR split IN SELECT cut.split FROM
                (SELECT median UNION ALL SELECT min(p.places[nth]) FROM unnest(points) p
                    WHERE p.places[nth] > median) cut (split),
                LATERAL (SELECT count(*) AS below FROM unnest(points) p WHERE p.places[nth] < cut.split) c
            WHERE cut.split IS NOT NULL
            ORDER BY abs(2 * c.below - many), cut.split LOOP
            IF oracle.may_stand_alone(v, ARRAY(SELECT p FROM unnest(points) p WHERE p.places[nth] < split)) AND
                oracle.may_stand_alone(v, ARRAY(SELECT p FROM unnest(points) p WHERE p.places[nth] >= split)) THEN
                RETURN;
            END IF;
        END LOOP;
    END LOOP;
    nth := NULL;
END
$$;

-- Boxes end where the next one begins, or at the ends of what is around them, on a line of numbers, dates or leaves;
-- otherwise with what is in them.
CREATE FUNCTION oracle.reach(v oracle.view, inside int, which int, split int, upper bool, points oracle.point[],
    OUT lo text, OUT hi text, OUT open bool) LANGUAGE plpgsql STABLE AS $$
DECLARE
    around oracle.box;
    least oracle.stand;
    greatest oracle.stand;
    border oracle.stand;
BEGIN
    WITH RECURSIVE up AS (
        SELECT * FROM oracle.box b WHERE b.view = v.name AND b.box = inside
        UNION ALL
        SELECT b.* FROM up JOIN oracle.box b ON b.view = v.name AND b.box = up.parent
            WHERE up.nth IS DISTINCT FROM which
    )
    SELECT * INTO around FROM up WHERE up.nth = which;
    IF around.box IS NULL THEN
        around.open := false;
        SELECT min(s.form) FILTER (WHERE s.place = x.lo), min(s.form) FILTER (WHERE s.place = x.hi) INTO around.lo,
            around.hi
            FROM oracle.stand s, (SELECT min(place) AS lo, max(place) AS hi FROM oracle.stand WHERE view = v.name
                AND nth = which) x
            WHERE s.view = v.name AND s.nth = which;
    END IF;
    SELECT * INTO least FROM oracle.stand s WHERE s.view = v.name AND s.nth = which
        AND s.place = (SELECT min(p.places[which]) FROM unnest(points) p);
    SELECT * INTO greatest FROM oracle.stand s WHERE s.view = v.name AND s.nth = which
        AND s.place = (SELECT max(p.places[which]) FROM unnest(points) p);
    lo := least.form;
    hi := greatest.form;
    open := false;
    SELECT * INTO border FROM oracle.stand s WHERE s.view = v.name AND s.nth = which AND s.form = around.lo;
    IF NOT upper AND (least.standing).sort = (border.standing).sort AND (least.standing).sort <= 3 THEN
        lo := around.lo;
    END IF;
    IF upper THEN
        SELECT * INTO border FROM oracle.stand s WHERE s.view = v.name AND s.nth = which AND s.form = around.hi;
    ELSE
        SELECT * INTO border FROM oracle.stand s WHERE s.view = v.name AND s.nth = which AND s.place = split;
    END IF;
    IF (greatest.standing).sort = (border.standing).sort AND (greatest.standing).sort <= 3 THEN
        hi := border.form;
        open := CASE WHEN upper THEN around.open ELSE true END;
    END IF;
END
$$;

-- The boxes for the rows of oracle.line: box 0 is everything.
CREATE FUNCTION oracle.cut_boxes(v oracle.view) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    width int := (SELECT count(*) FROM oracle.col WHERE view = v.name AND role = 'quasi');
    next int := 0;
    last int := 0;
    cut record;
    half record;
    held oracle.point[];
BEGIN
    DELETE FROM oracle.box WHERE view = v.name;
    INSERT INTO oracle.box VALUES (v.name, 0, NULL, 0);
    PERFORM oracle.order_leaves();
    PERFORM oracle.stand_up(v);
    CREATE TEMP TABLE open_box (box int, turn int, points oracle.point[]) ON COMMIT DROP;
    INSERT INTO open_box SELECT 0, 1, array_agg(ROW(ARRAY(SELECT s.place FROM generate_series(1, width) i
            JOIN oracle.stand s ON s.view = v.name AND s.nth = i AND s.form = oracle.key(l.zero[i]) ORDER BY i),
                l.sensitive[1])::oracle.point)
        FROM oracle.line l;
    WHILE next <= last AND width > 0 LOOP
        SELECT c.*, o.points INTO cut FROM open_box o, LATERAL oracle.find_cut(v, o.points, o.turn, width) c
            WHERE o.box = next;
        FOR upper IN 0 .. CASE WHEN cut.nth IS NULL THEN -1 ELSE 1 END LOOP
            held := ARRAY(SELECT p FROM unnest(cut.points) p WHERE (p.places[cut.nth] >= cut.split) = (upper = 1));
            last := last + 1;
            SELECT * INTO half FROM oracle.reach(v, next, cut.nth, cut.split, upper = 1, held);
            INSERT INTO oracle.box SELECT v.name, last, next, b.depth + 1, cut.nth, half.lo, half.hi, half.open
                FROM oracle.box b WHERE b.view = v.name AND b.box = next;
            INSERT INTO open_box VALUES (last, 1 + cut.nth % width, held);
        END LOOP;
        next := next + 1;
    END LOOP;
    DROP TABLE open_box;
END
$$;

-- What a box shows in the column in which it was cut.
CREATE FUNCTION oracle.box_form(c oracle.col, b oracle.box) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    h oracle.hierarchy;
    lo oracle.standing;
    hi oracle.standing;
    common int := 0;
    kept text[];
BEGIN
    SELECT * INTO h FROM oracle.hierarchy x WHERE x.name = c.dgh;
    lo := (SELECT standing FROM oracle.stand s WHERE s.view = b.view AND s.nth = b.nth AND s.form = b.lo);
    hi := (SELECT standing FROM oracle.stand s WHERE s.view = b.view AND s.nth = b.nth AND s.form = b.hi);
    IF lo = hi AND NOT b.open THEN
        RETURN nullif(b.lo, E'\001');
    ELSIF lo.sort = hi.sort AND lo.sort <= 2 THEN
        IF b.open AND hi.number = lo.number + 1 AND (lo.sort = 2 OR c.type IN ('int', 'smallint', 'bigint')) THEN
            RETURN b.lo;
        END IF;
        RETURN oracle.print((CASE lo.sort WHEN 1 THEN 'n' ELSE 'd' END, lo.number, hi.number, true,
            NOT b.open)::oracle.span);
    ELSIF lo.sort = hi.sort AND lo.sort = 3 THEN
        -- The deepest node above all leaves between.
        RETURN (SELECT n.node FROM oracle.node n
                WHERE n.dgh = c.dgh AND NOT EXISTS
                    (SELECT FROM oracle.leaf l WHERE l.dgh = c.dgh AND NOT l.leaf = ANY (n.leaves) AND
                        l.place >= lo.number AND l.place < hi.number + (NOT b.open)::int)
                ORDER BY n.depth DESC LIMIT 1);
    ELSIF lo.sort = hi.sort AND lo.sort = 4 THEN
        kept := ARRAY[rtrim(b.lo, h.mask), rtrim(b.hi, h.mask)];
        WHILE common < least(length(kept[1]), length(kept[2]))
            AND left(kept[1], common + 1) = left(kept[2], common + 1) LOOP
            common := common + 1;
        END LOOP;
        RETURN CASE WHEN common = 0 THEN '*' ELSE left(kept[1], common) || repeat(h.mask, h.length - common) END;
    END IF;
    RETURN coalesce(h.root, '*');
END
$$;

-- What a box shows in all columns: that of the innermost box around it that was cut in the column, or what covers
-- everything.
CREATE FUNCTION oracle.box_forms(v oracle.view, which int) RETURNS text[] LANGUAGE sql STABLE AS $$
    WITH RECURSIVE way AS (
        SELECT b FROM oracle.box b WHERE b.view = v.name AND b.box = which
        UNION ALL SELECT outer_box FROM way JOIN oracle.box outer_box ON outer_box.view = v.name
            AND outer_box.box = (way.b).parent
    )
    SELECT coalesce(array_agg(CASE WHEN own.b IS NULL THEN coalesce(h.root, '*') ELSE oracle.box_form(c, own.b) END
        ORDER BY c.nth), '{}')
    FROM oracle.col c LEFT JOIN oracle.hierarchy h ON h.name = c.dgh
        LEFT JOIN LATERAL (SELECT way.b FROM way WHERE (way.b).nth = c.nth
            ORDER BY (way.b).depth DESC LIMIT 1) own ON true
    WHERE c.view = v.name AND c.role = 'quasi'
$$;

-- The boxes of the view at hand by the places where they begin and end now.
CREATE TABLE oracle.reach (parent int, box int, nth int, lo int, hi int, PRIMARY KEY (parent, box));

-- The innermost box of a row.
CREATE FUNCTION oracle.innermost(places int[]) RETURNS int LANGUAGE plpgsql STABLE AS $$
DECLARE
    inside int := 0;
    next int;
BEGIN
    LOOP
        SELECT r.box INTO next FROM oracle.reach r WHERE r.parent = inside AND places[r.nth] BETWEEN r.lo AND r.hi
            ORDER BY r.box LIMIT 1;
        EXIT WHEN next IS NULL;
        inside := next;
    END LOOP;
    RETURN inside;
END
$$;

CREATE FUNCTION oracle.put_into_boxes(v oracle.view) RETURNS void LANGUAGE plpgsql SET enable_hashjoin = on AS $$
BEGIN
    PERFORM oracle.stand_up(v);
    TRUNCATE oracle.reach;
    INSERT INTO oracle.reach
        SELECT b.parent, b.box, b.nth, lo.place, hi.place - b.open::int
        FROM oracle.box b JOIN oracle.stand lo ON lo.view = v.name AND lo.nth = b.nth AND lo.form = b.lo
            JOIN oracle.stand hi ON hi.view = v.name AND hi.nth = b.nth AND hi.form = b.hi
        WHERE b.view = v.name;
    UPDATE oracle.line l SET box = found.box
        FROM (SELECT zero, oracle.innermost(ARRAY(
                SELECT s.place FROM unnest(x.zero) WITH ORDINALITY z (form, nth)
                    JOIN oracle.stand s ON s.view = v.name AND s.nth = z.nth AND s.form = oracle.key(z.form)
                        ORDER BY z.nth)) AS box
              FROM (SELECT DISTINCT zero FROM oracle.line) x OFFSET 0) found
        WHERE l.zero = found.zero;
END
$$;

-- From the deepest boxes outwards: a box's rows that were not published inside it are published in it, or go on.
CREATE FUNCTION oracle.climb_boxes(v oracle.view) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    deepest int := (SELECT max(depth) FROM oracle.box WHERE view = v.name);
BEGIN
    PERFORM oracle.put_into_boxes(v);
    FOR s IN 0 .. deepest LOOP
        UPDATE oracle.line l SET done = true, step = s
            FROM (SELECT block, line.box FROM oracle.line JOIN oracle.box b ON b.view = v.name AND b.box = line.box
                AND b.depth = deepest - s
                  WHERE NOT done GROUP BY block, line.box
                  HAVING oracle.is_safe(v, max(k), oracle.people(max(k), count(*), count(DISTINCT who),
                                            count(DISTINCT person)),
                                        CASE WHEN v.l IS NOT NULL OR v.t IS NOT NULL THEN jsonb_agg(jsonb_build_object(
                                            'person', person, 'sensitive', sensitive, 'same', same)) END)) safe
            WHERE NOT l.done AND l.block = safe.block AND l.box = safe.box;
        UPDATE oracle.line l SET box = b.parent FROM oracle.box b
            WHERE NOT l.done AND b.view = v.name AND b.box = l.box AND b.depth = deepest - s AND b.depth > 0;
    END LOOP;
    UPDATE oracle.line l SET now = shown.forms
        FROM (SELECT box, oracle.box_forms(v, box) AS forms
            FROM (SELECT DISTINCT box FROM oracle.line WHERE step IS NOT NULL) x OFFSET 0) shown
        WHERE l.step IS NOT NULL AND l.box = shown.box;
END
$$;
