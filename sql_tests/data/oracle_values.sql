--
-- The oracle, part 1: values.
--
-- What hierarchies and comparisons mean, written from the definitions, in SQL and
-- PL/pgSQL, without any function of kanon.  The common currency is the text form:
-- a value of the oracle is its text and what that text stands for.
--

CREATE SCHEMA oracle;

-- Random numbers, the same on every PostgreSQL: 0 .. n - 1.

CREATE FUNCTION oracle.seed(seed bigint, part bigint) RETURNS void LANGUAGE sql AS $$
    SELECT set_config('oracle.state', (1 + (seed * 1000003 + part * 7919 + 12345) % 2147483646)::text, false)
$$;

CREATE FUNCTION oracle.random(n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    state bigint := current_setting('oracle.state')::bigint * 48271 % 2147483647;
BEGIN
    PERFORM set_config('oracle.state', state::text, false);
    RETURN state % n;
END
$$;

-- True in so many of a hundred cases.
CREATE FUNCTION oracle.chance(percent int) RETURNS bool LANGUAGE sql AS 'SELECT oracle.random(100) < percent';

CREATE FUNCTION oracle.pick(choices text[]) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN choices[1 + oracle.random(greatest(1, cardinality(choices)))]; -- NULL of none
END
$$;

-- Hierarchies, read from the tables in which they are defined.

CREATE TABLE oracle.hierarchy (
    name text PRIMARY KEY, kind text, origin numeric, widths numeric[], units text[], length int, mask text,
    height int, root text);
CREATE TABLE oracle.node (dgh text, node text, depth int, height int, leaves text[], PRIMARY KEY (dgh, node));
CREATE TABLE oracle.ancestor (dgh text, node text, up int, ancestor text, PRIMARY KEY (dgh, node, up));

CREATE FUNCTION oracle.learn_hierarchies() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM oracle.hierarchy;
    DELETE FROM oracle.node;
    DELETE FROM oracle.ancestor;
    -- A first unit "day" names no level: days are the values themselves.
    INSERT INTO oracle.hierarchy
        SELECT d.name, d.kind, d.origin, d.widths, array_remove(d.units, 'day'), d.length, d.mask,
            CASE d.kind
                WHEN 'interval' THEN cardinality(d.widths) + 1
                WHEN 'date' THEN cardinality(array_remove(d.units, 'day')) + 1
                WHEN 'prefix' THEN d.length END,
            '*'
        FROM kanon.dgh d;
    -- One label without a parent is the root; several stand below the root *.
    UPDATE oracle.hierarchy h SET root = o.top
        FROM (SELECT dgh, min(parent) AS top FROM
                (SELECT e.dgh, e.parent FROM kanon.dgh_edge e
                 EXCEPT SELECT e.dgh, e.child FROM kanon.dgh_edge e) x
              GROUP BY dgh HAVING count(*) = 1) o
        WHERE h.name = o.dgh;
    INSERT INTO oracle.ancestor
        WITH RECURSIVE label AS (
            SELECT dgh, child AS node FROM kanon.dgh_edge UNION SELECT dgh, parent FROM kanon.dgh_edge
            UNION SELECT name, root FROM oracle.hierarchy WHERE kind = 'tree'
        ), edge AS (
            SELECT l.dgh, l.node, coalesce(e.parent, h.root) AS parent
            FROM label l JOIN oracle.hierarchy h ON h.name = l.dgh
                LEFT JOIN kanon.dgh_edge e ON e.dgh = l.dgh AND e.child = l.node
            WHERE l.node <> h.root
        ), climb AS (
            SELECT dgh, node, 0 AS up, node AS ancestor FROM label
            UNION ALL
            SELECT c.dgh, c.node, c.up + 1, e.parent FROM climb c JOIN edge e ON e.dgh = c.dgh AND e.node = c.ancestor
        )
        SELECT * FROM climb;
    INSERT INTO oracle.node
        SELECT dgh, node, max(up), 0, '{}' FROM oracle.ancestor GROUP BY dgh, node;
    UPDATE oracle.node n SET height = below.height, leaves = below.leaves
        FROM (SELECT a.dgh, a.ancestor, max(a.up) AS height,
                array_agg(a.node) FILTER (WHERE NOT EXISTS
                    (SELECT FROM oracle.ancestor b WHERE b.dgh = a.dgh AND b.ancestor = a.node AND b.up = 1)) AS leaves
              FROM oracle.ancestor a GROUP BY a.dgh, a.ancestor) below
        WHERE n.dgh = below.dgh AND n.node = below.ancestor;
    UPDATE oracle.hierarchy h SET height = greatest(1, n.height) FROM oracle.node n
        WHERE h.kind = 'tree' AND n.dgh = h.name AND n.node = h.root;
END
$$;

-- Intervals of numbers ('n') and dates ('d', as days); a bound that is null is infinite.

CREATE TYPE oracle.span AS (sort text, lo numeric, hi numeric, lo_in bool, hi_in bool);

CREATE FUNCTION oracle.read_point(form text) RETURNS oracle.span LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    point numeric;
BEGIN
    form := trim(form);
    IF form ~ '^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$' THEN
        point := trim_scale(form::numeric);
        RETURN ('n', point, point, true, true)::oracle.span;
    ELSIF form ~ '^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}$' THEN
        point := form::date - date '2000-01-01';
        RETURN ('d', point, point, true, true)::oracle.span;
    END IF;
    RETURN NULL;
END
$$;

-- A text as a number, a date, or an interval of such, however it is spelled; null if it is none.
CREATE FUNCTION oracle.read(form text) RETURNS oracle.span LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    part text[] := regexp_match(form, '^([\[(])([^,]*),([^,]*)([])])$');
    lo oracle.span;
    hi oracle.span;
BEGIN
    IF part IS NULL THEN
        RETURN oracle.read_point(form);
    END IF;
    lo := oracle.read_point(part[2]);
    hi := oracle.read_point(part[3]);
    IF (lo.sort IS NULL AND trim(part[2]) <> '') OR (hi.sort IS NULL AND trim(part[3]) <> '') OR lo.sort <> hi.sort OR
        coalesce(lo.sort, hi.sort) IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN (coalesce(lo.sort, hi.sort), lo.lo, hi.lo, lo.sort IS NOT NULL AND part[1] = '[',
        hi.sort IS NOT NULL AND part[4] = ']')::oracle.span;
END
$$;

CREATE FUNCTION oracle.print_bound(sort text, bound numeric) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN sort = 'd' THEN to_char(date '2000-01-01' + bound::int, 'YYYY-MM-DD')
                ELSE trim_scale(bound)::text END
$$;

CREATE FUNCTION oracle.print(s oracle.span) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN s.lo = s.hi THEN oracle.print_bound(s.sort, s.lo)
                ELSE CASE WHEN s.lo_in THEN '[' ELSE '(' END || coalesce(oracle.print_bound(s.sort, s.lo), '') || ',' ||
                     coalesce(oracle.print_bound(s.sort, s.hi), '') || CASE WHEN s.hi_in THEN ']' ELSE ')' END END
$$;

-- The text form at level 0 of a raw value.  Its class is number, date, text or other.
CREATE FUNCTION oracle.level_zero(dgh text, class text, raw text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    h oracle.hierarchy;
    s oracle.span;
BEGIN
    IF raw IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT * INTO h FROM oracle.hierarchy x WHERE x.name = dgh;
    IF class IN ('number', 'date') OR h.kind IN ('interval', 'date') THEN
        s := oracle.read(raw);
        IF s.sort IS NOT NULL AND (class IN ('number', 'date') OR (s.sort = 'n') = (h.kind = 'interval')) THEN
            raw := oracle.print(s);
        END IF;
    END IF;
    -- Everything is the root, and so is a text that is nothing but masks.
    IF raw = '*' THEN
        RETURN coalesce(h.root, '*');
    ELSIF h.kind = 'prefix' AND raw = repeat(h.mask, h.length) THEN
        RETURN '*';
    END IF;
    RETURN raw;
END
$$;

-- The bucket of a computed hierarchy's level that a number or a day falls into.
CREATE FUNCTION oracle.bucket(h oracle.hierarchy, point numeric, level int) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    width numeric;
    lo numeric;
    day date;
    year int;
    month int := 1;
    months int;
BEGIN
    IF h.kind = 'interval' THEN
        width := h.widths[level];
        lo := h.origin + floor((point - h.origin) / width) * width;
        RETURN oracle.print(('n', lo, lo + width, true, false)::oracle.span);
    END IF;
    day := date '2000-01-01' + point::int;
    year := extract(year FROM day);
    CASE h.units[level]
        WHEN 'month' THEN month := extract(month FROM day); months := 1;
        WHEN 'quarter' THEN month := extract(quarter FROM day) * 3 - 2; months := 3;
        WHEN 'year' THEN months := 12;
        WHEN 'decade' THEN year := year - year % 10; months := 120;
        WHEN 'century' THEN year := year - year % 100; months := 1200;
    END CASE;
    day := make_date(year, month, 1);
    RETURN '[' || to_char(day, 'YYYY-MM-DD') || ',' || to_char(day + make_interval(months => months), 'YYYY-MM-DD')
        || ')';
END
$$;

-- The level on which a form at level 0 stands: 0, unless it is an inner node itself; null if it is not known.
CREATE FUNCTION oracle.level_of(h oracle.hierarchy, form text) RETURNS int LANGUAGE plpgsql STABLE AS $$
DECLARE
    s oracle.span;
BEGIN
    IF h.kind = 'prefix' THEN
        IF length(form) <> h.length THEN
            RETURN NULL;
        END IF;
        RETURN length(form) - length(rtrim(form, h.mask));
    END IF;
    s := oracle.read(form);
    IF s.sort IS NULL OR (s.sort = 'n') <> (h.kind = 'interval') THEN
        RETURN NULL;
    END IF;
    IF s.lo = s.hi THEN
        RETURN 0;
    END IF;
    FOR level IN 1 .. h.height - 1 LOOP
        IF oracle.bucket(h, s.lo, level) = form THEN
            RETURN level;
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;

-- A form at level 0 so many levels up; a value that is not known, and NULL, stand right below the root.
CREATE FUNCTION oracle.generalize(dgh text, form text, level int) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    h oracle.hierarchy;
    start int;
BEGIN
    IF level = 0 THEN
        RETURN form;
    END IF;
    SELECT * INTO h FROM oracle.hierarchy x WHERE x.name = dgh;
    IF h.kind = 'tree' THEN
        RETURN coalesce((SELECT a.ancestor FROM oracle.ancestor a JOIN oracle.node n USING (dgh, node)
                         WHERE a.dgh = generalize.dgh AND a.node = form AND a.up = least(level, n.depth)), h.root);
    END IF;
    start := CASE WHEN h.kind IS NOT NULL AND form <> '*' THEN oracle.level_of(h, form) END;
    IF start IS NULL OR start + level >= h.height THEN
        RETURN '*';
    END IF;
    IF h.kind = 'prefix' THEN
        RETURN left(form, h.length - start - level) || repeat(h.mask, start + level);
    END IF;
    RETURN oracle.bucket(h, (oracle.read(form)).lo, start + level);
END
$$;

-- The values that a text stands for.

CREATE TYPE oracle.value AS (
    form text,
    whole bool,        -- everything
    dgh text,          -- the tree or prefix hierarchy that it is a value of
    known bool,        -- there
    words bool,        -- of a text column: ordered as text
    span oracle.span); -- if it is a number, a date or an interval

-- A text as a value of a tree or of a prefix hierarchy.
CREATE FUNCTION oracle.bind(v oracle.value, h oracle.hierarchy) RETURNS oracle.value LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF v.whole THEN
        RETURN v;
    ELSIF h.kind = 'prefix' THEN
        IF v.form = repeat(h.mask, h.length) THEN
            RETURN ('*', true, NULL, NULL, false, NULL)::oracle.value;
        ELSIF length(v.form) <> h.length THEN
            RETURN (v.form, false, NULL, false, false, NULL)::oracle.value;
        END IF;
        RETURN (v.form, false, h.name, true, false, NULL)::oracle.value;
    END IF;
    RETURN (v.form, v.form = h.root, h.name,
        EXISTS (SELECT FROM oracle.node n WHERE n.dgh = h.name AND n.node = v.form), false, NULL)::oracle.value;
END
$$;

-- A value of a column, from its published form.
CREATE FUNCTION oracle.value_of(dgh text, class text, form text) RETURNS oracle.value LANGUAGE plpgsql STABLE AS $$
DECLARE
    h oracle.hierarchy;
    s oracle.span;
BEGIN
    IF form = '*' THEN
        RETURN (form, true, NULL, NULL, false, NULL)::oracle.value;
    END IF;
    SELECT * INTO h FROM oracle.hierarchy x WHERE x.name = dgh;
    IF h.kind IN ('tree', 'prefix') THEN
        RETURN oracle.bind((form, false, NULL, NULL, false, NULL)::oracle.value, h);
    END IF;
    IF h.kind IS NOT NULL OR class IN ('number', 'date') THEN
        s := oracle.read(form);
        IF h.kind IS NOT NULL AND (s.sort = 'n') <> (h.kind = 'interval') THEN
            s := NULL;
        END IF;
    END IF;
    RETURN (form, false, NULL, NULL, h.kind IS NULL AND class = 'text', s)::oracle.value;
END
$$;

-- A value that a query brings along.  A text is a number only if it is spelled as one is printed.
CREATE FUNCTION oracle.constant(class text, form text) RETURNS oracle.value LANGUAGE plpgsql STABLE AS $$
DECLARE
    s oracle.span := CASE WHEN class <> 'other' THEN oracle.read(form) END;
BEGIN
    IF class = 'text' AND form = '*' THEN
        RETURN (form, true, NULL, NULL, false, NULL)::oracle.value;
    ELSIF s.sort IS NULL OR (class = 'text' AND oracle.print(s) <> form) THEN
        RETURN (form, false, NULL, NULL, false, NULL)::oracle.value;
    END IF;
    RETURN (oracle.print(s), false, NULL, NULL, false, s)::oracle.value;
END
$$;

-- Does one cover the other?

CREATE FUNCTION oracle.within(i oracle.span, o oracle.span) RETURNS bool LANGUAGE sql IMMUTABLE AS $$
    SELECT i.sort = o.sort AND
        (o.lo IS NULL OR (i.lo IS NOT NULL AND (o.lo < i.lo OR (o.lo = i.lo AND (o.lo_in OR NOT i.lo_in))))) AND
        (o.hi IS NULL OR (i.hi IS NOT NULL AND (o.hi > i.hi OR (o.hi = i.hi AND (o.hi_in OR NOT i.hi_in)))))
$$;

CREATE FUNCTION oracle.nested(a oracle.value, b oracle.value) RETURNS bool LANGUAGE plpgsql STABLE AS $$
DECLARE
    x oracle.span := a.span;
    y oracle.span := b.span;
    h oracle.hierarchy;
BEGIN
    IF a.whole OR b.whole THEN
        RETURN true;
    ELSIF a.dgh = b.dgh AND a.known AND b.known THEN
        SELECT * INTO h FROM oracle.hierarchy WHERE name = a.dgh;
        IF h.kind = 'prefix' THEN
            RETURN starts_with(a.form, rtrim(b.form, h.mask)) OR starts_with(b.form, rtrim(a.form, h.mask));
        END IF;
        RETURN EXISTS (SELECT FROM oracle.ancestor t WHERE t.dgh = a.dgh AND
            ((t.node = a.form AND t.ancestor = b.form) OR (t.node = b.form AND t.ancestor = a.form)));
    END IF;
    -- Beside a number or a date, a word may be one in other spelling.
    IF y.sort IS NOT NULL AND x.sort IS NULL AND a.dgh IS NULL AND NOT a.words THEN
        x := oracle.read(a.form);
    ELSIF x.sort IS NOT NULL AND y.sort IS NULL AND b.dgh IS NULL AND NOT b.words THEN
        y := oracle.read(b.form);
    END IF;
    IF x.sort IS NOT NULL AND y.sort IS NOT NULL THEN
        RETURN oracle.within(x, y) OR oracle.within(y, x);
    END IF;
    RETURN a.form = b.form;
END
$$;

-- The hierarchy of either side may tell.
CREATE FUNCTION oracle.avlike(a oracle.value, b oracle.value) RETURNS bool LANGUAGE plpgsql STABLE AS $$
DECLARE
    home oracle.hierarchy;
BEGIN
    IF a.whole OR b.whole THEN
        RETURN true;
    ELSIF a.dgh IS NOT DISTINCT FROM b.dgh THEN
        RETURN oracle.nested(a, b);
    END IF;
    FOR home IN SELECT * FROM oracle.hierarchy WHERE name IN (a.dgh, b.dgh) LOOP
        IF oracle.nested(oracle.bind(a, home), oracle.bind(b, home)) THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END
$$;

-- May one be below the other?

-- From the least to the greatest that a value stands for; null if it is not of that sort.
CREATE FUNCTION oracle.extent(v oracle.value, wanted text) RETURNS oracle.span LANGUAGE plpgsql STABLE AS $$
DECLARE
    s oracle.span := v.span;
    h oracle.hierarchy;
    ends oracle.span[];
    kept text;
BEGIN
    SELECT * INTO h FROM oracle.hierarchy WHERE name = v.dgh;
    IF h.kind = 'prefix' THEN
        kept := rtrim(v.form, h.mask);
        IF wanted = 'n' AND kept ~ '^[0-9]*$' THEN
            RETURN ('n', rpad(kept, h.length, '0')::numeric, rpad(kept, h.length, '9')::numeric, true,
                true)::oracle.span;
        ELSIF kept <> v.form THEN
            RETURN NULL;
        END IF;
    ELSIF h.kind = 'tree' AND v.known THEN
        SELECT array_agg(r) INTO ends
            FROM (SELECT unnest(leaves) AS leaf FROM oracle.node n WHERE n.dgh = v.dgh AND n.node = v.form) l,
                oracle.read_point(l.leaf) r WHERE r.sort = wanted;
        SELECT wanted, min(x.lo), max(x.hi), true, true INTO s FROM unnest(ends) x;
        RETURN CASE WHEN s.lo IS NOT NULL THEN s END;
    END IF;
    IF s.sort IS NULL THEN
        s := oracle.read(v.form);
    END IF;
    RETURN CASE WHEN s.sort = wanted THEN s END;
END
$$;

-- May a value of a number, date or text extent be something else?  Codes and mixed leaves may.
CREATE FUNCTION oracle.mixed(v oracle.value, wanted text) RETURNS bool LANGUAGE sql STABLE AS $$
    SELECT CASE (SELECT kind FROM oracle.hierarchy WHERE name = v.dgh)
        WHEN 'prefix' THEN true
        WHEN 'tree' THEN v.known AND EXISTS (
            SELECT FROM oracle.node n, unnest(n.leaves) leaf
            WHERE n.dgh = v.dgh AND n.depth = 0 AND (oracle.read_point(leaf)).sort IS DISTINCT FROM wanted)
        ELSE false END
$$;

-- lo, hi, and whether everything that begins with hi belongs to it
CREATE FUNCTION oracle.text_extent(v oracle.value) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    h oracle.hierarchy;
    kept text;
BEGIN
    SELECT * INTO h FROM oracle.hierarchy WHERE name = v.dgh;
    IF h.kind = 'tree' AND v.known THEN
        RETURN (SELECT ARRAY[min(leaf COLLATE "C"), max(leaf COLLATE "C"), 'f']
                FROM oracle.node n, unnest(n.leaves) leaf WHERE n.dgh = v.dgh AND n.node = v.form);
    ELSIF h.kind = 'prefix' THEN
        kept := rtrim(v.form, h.mask);
        RETURN ARRAY[kept, kept, (kept <> v.form)::text];
    ELSIF (v.span).lo IS DISTINCT FROM (v.span).hi THEN
        RETURN NULL;
    END IF;
    RETURN ARRAY[v.form, v.form, 'f'];
END
$$;

-- Only of digits is it certain that all that begins alike stands together, in any collation.
CREATE FUNCTION oracle.text_below(a text[], b text[], or_equal bool) RETURNS bool LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(a[1] < b[2] COLLATE "C" OR (a[1] = b[2] AND or_equal) OR (b[3]::bool AND starts_with(a[1], b[2])) OR
        ((a[3]::bool OR b[3]::bool) AND (a[1] || b[2]) !~ '^[0-9]*$'), false)
$$;

CREATE FUNCTION oracle.below(a oracle.value, b oracle.value, or_equal bool) RETURNS bool LANGUAGE plpgsql STABLE AS $$
DECLARE
    x oracle.span;
    y oracle.span;
    wanted text;
BEGIN
    IF (a.words OR b.words) AND oracle.text_extent(a) IS NOT NULL AND oracle.text_extent(b) IS NOT NULL THEN
        RETURN oracle.text_below(oracle.text_extent(a), oracle.text_extent(b), or_equal);
    END IF;
    FOREACH wanted IN ARRAY '{n,d}'::text[] LOOP
        x := oracle.extent(a, wanted);
        y := oracle.extent(b, wanted);
        CONTINUE WHEN x.sort IS NULL OR y.sort IS NULL;
        IF x.lo IS NULL OR y.hi IS NULL OR x.lo < y.hi OR (x.lo = y.hi AND or_equal AND x.lo_in AND y.hi_in) THEN
            RETURN true;
        ELSIF NOT oracle.mixed(a, wanted) AND NOT oracle.mixed(b, wanted) THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN oracle.text_below(oracle.text_extent(a), oracle.text_extent(b), or_equal);
END
$$;

-- Does it stand for one value only?
CREATE FUNCTION oracle.single(v oracle.value) RETURNS bool LANGUAGE plpgsql STABLE AS $$
DECLARE
    h oracle.hierarchy;
BEGIN
    IF v.whole THEN
        RETURN false;
    END IF;
    SELECT * INTO h FROM oracle.hierarchy WHERE name = v.dgh;
    IF h.kind = 'tree' AND v.known THEN
        RETURN (SELECT cardinality(n.leaves) = 1 FROM oracle.node n WHERE n.dgh = v.dgh AND n.node = v.form);
    ELSIF h.kind = 'prefix' THEN
        RETURN right(v.form, 1) <> h.mask;
    END IF;
    RETURN (v.span).sort IS NULL OR coalesce((v.span).lo = (v.span).hi, false);
END
$$;

CREATE FUNCTION oracle.compare(operator text, a oracle.value, b oracle.value) RETURNS bool LANGUAGE plpgsql STABLE AS $$
DECLARE
    h oracle.hierarchy;
BEGIN
    IF operator IN ('=', '~~^') THEN
        RETURN oracle.avlike(a, b);
    END IF;
    -- A word beside a value of a hierarchy is meant as a value of it, too.
    IF a.dgh IS NULL AND b.dgh IS NOT NULL THEN
        SELECT * INTO h FROM oracle.hierarchy WHERE name = b.dgh;
        a := oracle.bind(a, h);
    ELSIF b.dgh IS NULL AND a.dgh IS NOT NULL THEN
        SELECT * INTO h FROM oracle.hierarchy WHERE name = a.dgh;
        b := oracle.bind(b, h);
    END IF;
    IF a.whole OR b.whole THEN
        RETURN true;
    END IF;
    CASE operator
        WHEN '<>' THEN RETURN NOT oracle.single(a) OR NOT oracle.single(b) OR NOT oracle.avlike(a, b);
        WHEN '<' THEN RETURN oracle.below(a, b, false);
        WHEN '<=' THEN RETURN oracle.below(a, b, true);
        WHEN '>' THEN RETURN oracle.below(b, a, false);
        WHEN '>=' THEN RETURN oracle.below(b, a, true);
    END CASE;
END
$$;
