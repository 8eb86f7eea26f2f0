--
-- The oracle, part 5: random queries, each in two versions: over the A-view and,
-- with the same meaning, over the oracle's tables.
--

-- A condition.  @ stands for the relation's alias, «type|value» for a constant.
CREATE TYPE oracle.cond AS (
    k text,      -- for kanon; null if another condition's text says it, too
    o text,      -- for the oracle
    quasi bool,  -- nothing but quasi-identifiers, constants and kanon's comparisons
    plain bool); -- nothing but columns that are shown as they are in all rows

CREATE FUNCTION oracle.literal(type text, value text) RETURNS text LANGUAGE sql AS $$ SELECT '«' || type || '|' || value
    || '»' $$;

-- A constant for a column: its form in the query, and its meaning.
CREATE TYPE oracle.asked AS (k text, v oracle.value);

CREATE FUNCTION oracle.make_constant(c oracle.col) RETURNS oracle.asked LANGUAGE plpgsql AS $$
DECLARE
    form text;
    type text := 'unknown';
    class text := 'text';
    s oracle.span;
BEGIN
    IF oracle.chance(75) THEN
        form := oracle.pick(ARRAY(SELECT DISTINCT p.form COLLATE "C" FROM oracle.path p
            WHERE p.view = c.view AND p.nth = c.nth AND c.role = 'quasi' AND p.form IS NOT NULL ORDER BY 1));
    END IF;
    IF form IS NULL AND oracle.chance(60) THEN
        form := oracle.pick((SELECT pool FROM oracle.tcol t WHERE t.name = c.name));
        form := CASE WHEN c.type LIKE 'timestamp%' THEN left(form, 10) ELSE form END;
    END IF;
    form := coalesce(form, oracle.pick(CASE c.class
        WHEN 'number' THEN '{0,3,-7,12.5,1234,"[3,9)","(,6]",6.0,nought}'
        WHEN 'date' THEN '{2000-03-01,1970-01-01,2000-3-01,"[2000-01-01,2000-04-01)",never}'
        ELSE '{zz,wb,n/a,2100,20,*,t}' END::text[]));
    s := oracle.read(form);
    IF s.lo = s.hi AND s.sort = 'n' AND oracle.chance(50) THEN
        class := 'number';
        type := oracle.pick(CASE WHEN form ~ '^[0-9]{1,8}$' THEN '{int,bigint,numeric,float8}'
            ELSE '{numeric,float8}' END::text[]);
    ELSIF s.lo = s.hi AND s.sort = 'd' AND oracle.chance(50) THEN
        class := 'date';
        type := 'date';
    ELSIF c.type = 'boolean' AND form IN ('t', 'f') AND oracle.chance(50) THEN
        class := 'other';
        type := 'boolean';
    ELSE
        type := oracle.pick('{unknown,unknown,text,varchar}');
    END IF;
    RETURN (oracle.literal(type, form), oracle.constant(class, form))::oracle.asked;
END
$$;

-- The forms of a generalized column in which it can be met.
CREATE FUNCTION oracle.forms(c oracle.col) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT %1$I FROM oracle.%2$I WHERE %1$I IS NOT NULL', c.name, c.view || '_pub') ||
        CASE WHEN c.role = 'quasi' THEN format(' UNION SELECT %1$I FROM oracle.%2$I WHERE %1$I IS NOT NULL', c.name,
            c.view || '_zero')
             ELSE format(' GROUP BY %I', c.name) END;
END
$$;

-- column op constant, for all forms of the column
CREATE FUNCTION oracle.holds_for(c oracle.col, operator text, a oracle.asked[], every bool, mirrored bool DEFAULT false)
    RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    forms text[] := '{}';
    form text;
    met oracle.value;
    hits int;
BEGIN
    FOR form IN SELECT oracle.forms(c) LOOP
        met := oracle.value_of(coalesce(c.dgh, c.home), c.class, form);
        SELECT count(*) INTO hits FROM unnest(a) x
            WHERE CASE WHEN mirrored THEN oracle.compare(operator, x.v, met)
                ELSE oracle.compare(operator, met, x.v) END;
        IF (CASE WHEN every THEN hits = cardinality(a) ELSE hits > 0 END) THEN
            forms := forms || form;
        END IF;
    END LOOP;
    RETURN format('(CASE WHEN @.%1$I IS NOT NULL THEN @.%1$I = ANY (%2$L) END)', c.name, forms);
END
$$;

-- A condition on one column that is published generalized.
CREATE FUNCTION oracle.generalized_atom(c oracle.col) RETURNS oracle.cond LANGUAGE plpgsql AS $$
DECLARE
    a oracle.asked[];
    operator text;
    form text := oracle.pick('{op,op,op,op,op,mirror,in,not in,any,between,not between,is null,not null,not true,'
        'avlike,text,like}');
    quasi bool := c.role = 'quasi' AND form NOT IN ('text', 'like');
    k text;
    o text;
BEGIN
    FOR i IN 1 .. 3 LOOP
        a := a || oracle.make_constant(c);
    END LOOP;
    -- The order of two moments of one day is left out.
    operator := oracle.pick(CASE WHEN c.type LIKE 'timestamp%' THEN '{=,=,<=,>=}'
        ELSE '{=,=,=,<>,<,<=,>,>=,~~^}' END::text[]);
    IF form IN ('not in', 'not between') AND c.type LIKE 'timestamp%' THEN
        form := 'in';
    END IF;
    CASE form
        WHEN 'op' THEN
            k := format('@.%I %s %s', c.name, operator, a[1].k);
            o := oracle.holds_for(c, operator, a[1:1], true);
        WHEN 'mirror' THEN
            k := format('%s %s @.%I', a[1].k, operator, c.name);
            o := oracle.holds_for(c, operator, a[1:1], true, true);
        WHEN 'in' THEN
            -- Of one type, as lists are.
            a := ARRAY(SELECT x FROM unnest(a) x WHERE split_part(x.k, '|', 1) = split_part(a[1].k, '|', 1));
            k := format('@.%I IN (%s)', c.name, (SELECT string_agg(x.k, ', ') FROM unnest(a) x));
            o := oracle.holds_for(c, '=', a, false);
        WHEN 'not in' THEN
            k := format('@.%I NOT IN (%s)', c.name, a[1].k);
            o := oracle.holds_for(c, '<>', a[1:1], true);
        WHEN 'any' THEN
            a := ARRAY(SELECT (x.k, oracle.constant('text', split_part(trim('«»' FROM x.k), '|', 2)))::oracle.asked
                FROM unnest(a) x);
            k := format('@.%I = ANY (%s)', c.name, oracle.literal('text[]',
                (SELECT array_agg(split_part(trim('«»' FROM x.k), '|', 2)) FROM unnest(a) x)::text));
            o := oracle.holds_for(c, '=', a, false);
        WHEN 'between' THEN
            k := format('@.%I BETWEEN %s AND %s', c.name, a[1].k, a[2].k);
            o := format('(%s AND %s)', oracle.holds_for(c, '>=', a[1:1], true),
                oracle.holds_for(c, '<=', a[2:2], true));
        WHEN 'not between' THEN
            k := format('@.%I NOT BETWEEN %s AND %s', c.name, a[1].k, a[2].k);
            o := format('(%s OR %s)', oracle.holds_for(c, '<', a[1:1], true), oracle.holds_for(c, '>', a[2:2], true));
        WHEN 'is null' THEN
            k := format('@.%I IS NULL', c.name);
            o := k;
        WHEN 'not null' THEN
            k := format('@.%I IS NOT NULL', c.name);
            o := k;
        WHEN 'not true' THEN
            k := format('(@.%I %s %s) IS NOT TRUE', c.name, operator, a[1].k);
            o := oracle.holds_for(c, operator, a[1:1], true) || ' IS NOT TRUE';
        WHEN 'avlike' THEN
            k := format('kanon.avlike(@.%I, %s)', c.name, a[1].k);
            o := oracle.holds_for(c, '=', a[1:1], true);
        WHEN 'text' THEN
            k := format('@.%I::text = %L', c.name, ((a[1]).v).form);
            o := k;
        WHEN 'like' THEN
            k := format('@.%I::text LIKE %L', c.name, oracle.pick('{%a%,[%,_,2%,%*}'));
            o := k;
    END CASE;
    RETURN (k, o, quasi, false)::oracle.cond;
END
$$;

-- Does a view publish rows in groups, and may an owner hide a column of it?
CREATE FUNCTION oracle.groups(v oracle.view) RETURNS bool LANGUAGE sql AS $$
    SELECT coalesce(v.k >= 2 OR v.profile ? 'k', false) $$;
CREATE FUNCTION oracle.may_hide(v oracle.view, col text) RETURNS bool LANGUAGE sql AS $$
    SELECT coalesce(v.profile -> 'disclose' ? col, false) OR coalesce(v.profile -> 'retain' ? col, false)
$$;

-- A condition on a column that keeps its type: the same for both.
CREATE FUNCTION oracle.plain_atom(c oracle.col, v oracle.view) RETURNS oracle.cond LANGUAGE plpgsql AS $$
DECLARE
    a text[];
    x text;
BEGIN
    FOR i IN 1 .. 3 LOOP
        x := coalesce(oracle.pick((SELECT pool FROM oracle.tcol t WHERE t.name = c.name)), '1');
        IF c.type = 'date' AND x !~ '^[0-9]{4}-' THEN
            x := '2020-01-07';
        END IF;
        a := a || oracle.literal(CASE WHEN c.type IN ('text', 'date', 'int', 'numeric', 'timestamp', 'interval',
            'double precision', 'citext') THEN c.type ELSE 'unknown' END,
            x);
    END LOOP;
    x := CASE oracle.pick('{op,op,op,in,between,is null,not null,distinct,coalesce,any}')
        WHEN 'op' THEN format('@.%I %s %s', c.name, oracle.pick('{=,=,=,<>,<,>=}'), a[1])
        WHEN 'in' THEN format('@.%I IN (%s, %s)', c.name, a[1], a[2])
        WHEN 'between' THEN format('@.%I BETWEEN %s AND %s', c.name, a[1], a[2])
        WHEN 'is null' THEN format('@.%I IS NULL', c.name)
        WHEN 'not null' THEN format('@.%I IS NOT NULL', c.name)
        WHEN 'distinct' THEN format('@.%I IS DISTINCT FROM %s', c.name, a[1])
        WHEN 'coalesce' THEN format('coalesce(@.%I, %s) = %s', c.name, a[1], a[2])
        WHEN 'any' THEN format('@.%I = ANY (ARRAY[%s, %s])', c.name, a[1], a[2]) END;
    RETURN (x, x, false, NOT oracle.may_hide(v, c.name)
        AND (c.role = 'other' OR (v.profile IS NULL
            AND ((c.role = 'id' AND v.k = 0) OR (c.role = 'sensitive' AND v.k < 2)))))::oracle.cond;
END
$$;

-- Values of two columns for which a comparison holds, as pairs.
CREATE FUNCTION oracle.pairs(operator text, a oracle.col, b oracle.col) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    pairs text[] := '{}';
    x text;
    y text;
    v oracle.value;
    others oracle.value[] := '{}';
    w oracle.value;
BEGIN
    IF b.role = 'other' OR b.view = 's.b' THEN
        FOR y IN EXECUTE format('SELECT DISTINCT %1$I::text FROM %2$s WHERE %1$I IS NOT NULL', b.name,
                                CASE b.view WHEN 's.b' THEN 's.b' ELSE 'oracle.' || b.view || '_pub' END) LOOP
            others := others || oracle.constant(b.class, y);
        END LOOP;
    ELSE
        FOR y IN SELECT oracle.forms(b) LOOP
            others := others || oracle.value_of(coalesce(b.dgh, b.home), b.class, y);
        END LOOP;
    END IF;
    FOR x IN SELECT oracle.forms(a) LOOP
        v := oracle.value_of(coalesce(a.dgh, a.home), a.class, x);
        FOREACH w IN ARRAY others LOOP
            IF oracle.compare(operator, v, w) THEN
                pairs := pairs || (x || E'\t' || w.form);
            END IF;
        END LOOP;
    END LOOP;
    RETURN quote_literal(pairs::text);
END
$$;

CREATE FUNCTION oracle.pair_atom(a oracle.col, a_alias text, b oracle.col, b_alias text) RETURNS oracle.cond
    LANGUAGE plpgsql AS $$
DECLARE
    operator text := oracle.pick(CASE WHEN a.type LIKE 'timestamp%' OR b.type LIKE 'timestamp%' THEN '{=,~~^}'
        ELSE '{=,=,~~^,<=}' END::text[]);
    left_side text := format('%s.%I', a_alias, a.name);
    right_side text := format('%s.%I', b_alias, b.name);
BEGIN
    RETURN (format('%s %s %s', left_side, operator, right_side),
        format('(CASE WHEN %1$s IS NOT NULL AND %2$s IS NOT NULL THEN %1$s || E''\t'' || %2$s::text = ANY (%3$s) END)',
            left_side, right_side, oracle.pairs(operator, a, b)),
        a.role = 'quasi' AND b.role = 'quasi', false)::oracle.cond;
END
$$;

CREATE FUNCTION oracle.any_column(view_name text, roles text[]) RETURNS oracle.col LANGUAGE plpgsql AS $$
DECLARE
    columns oracle.col[] := ARRAY(SELECT c FROM oracle.col c WHERE c.view = view_name AND c.role = ANY (roles)
        ORDER BY c.pos);
BEGIN
    RETURN CASE WHEN columns <> '{}' THEN columns[1 + oracle.random(cardinality(columns))] END;
END
$$;

CREATE FUNCTION oracle.atom(v oracle.view) RETURNS oracle.cond LANGUAGE plpgsql AS $$
DECLARE
    c oracle.col := oracle.any_column(v.name,
        ARRAY[oracle.pick('{quasi,quasi,quasi,other,other,other,sensitive,sensitive,id}')]);
    d oracle.col;
BEGIN
    IF c.name IS NULL THEN
        c := oracle.any_column(v.name, '{quasi}');
    END IF;
    IF c.role = 'quasi' AND oracle.chance(8) THEN
        d := oracle.any_column(v.name, ARRAY[oracle.pick('{quasi,quasi,other}')]);
        RETURN oracle.pair_atom(c, '@', d, '@');
    ELSIF c.role = 'quasi' OR (c.role = 'sensitive' AND c.dgh IS NOT NULL) THEN
        RETURN oracle.generalized_atom(c);
    END IF;
    RETURN oracle.plain_atom(c, v);
END
$$;

-- quasi-identifier = constant
CREATE FUNCTION oracle.value_atom(v oracle.view) RETURNS oracle.cond LANGUAGE plpgsql AS $$
DECLARE
    c oracle.col := oracle.any_column(v.name, '{quasi}');
    a oracle.asked := oracle.make_constant(c);
BEGIN
    RETURN (format('@.%I = %s', c.name, a.k), oracle.holds_for(c, '=', ARRAY[a], true), true, false)::oracle.cond;
END
$$;

-- One condition of a WHERE, or two that are written as one.
CREATE FUNCTION oracle.conjunct(v oracle.view) RETURNS oracle.cond[] LANGUAGE plpgsql AS $$
DECLARE
    a oracle.cond := oracle.atom(v);
    b oracle.cond;
    c oracle.cond;
    shape int := oracle.random(100);
BEGIN
    IF shape < 50 THEN
        RETURN ARRAY[a];
    ELSIF shape < 60 THEN
        RETURN ARRAY[('NOT (' || a.k || ')', 'NOT (' || a.o || ')', a.quasi, a.plain)::oracle.cond];
    END IF;
    -- The same condition in two arms is taken out of an OR by PostgreSQL: leave that alone.
    LOOP
        b := oracle.atom(v);
        c := oracle.atom(v);
        EXIT WHEN a.k <> b.k AND a.k <> c.k AND b.k <> c.k;
    END LOOP;
    IF shape < 75 THEN
        RETURN ARRAY[(format('(%s OR %s)', a.k, b.k), format('(%s OR %s)', a.o, b.o), a.quasi AND b.quasi,
            a.plain AND b.plain)::oracle.cond];
    ELSIF shape < 83 THEN
        RETURN ARRAY[(format('(%s OR (%s AND %s))', a.k, b.k, c.k), format('(%s OR (%s AND %s))', a.o, b.o, c.o),
            a.quasi AND b.quasi AND c.quasi, a.plain AND b.plain AND c.plain)::oracle.cond];
    ELSIF shape < 92 THEN
        RETURN ARRAY[(format('NOT (%s AND %s)', a.k, b.k), format('NOT (%s AND %s)', a.o, b.o), a.quasi AND b.quasi,
            a.plain AND b.plain)::oracle.cond];
    END IF;
    -- NOT (a OR b) is two conditions.
    RETURN ARRAY[(format('NOT (%s OR %s)', a.k, b.k), 'NOT (' || a.o || ')', a.quasi, a.plain)::oracle.cond,
        (NULL, 'NOT (' || b.o || ')', b.quasi, b.plain)::oracle.cond];
END
$$;

-- Conditions on an A-view under an alias, in both versions.
CREATE TYPE oracle.conditions AS (k text, o text, plain bool, witness bool);

CREATE FUNCTION oracle.conditions_on(v oracle.view, alias text, how_many int) RETURNS oracle.conditions
    LANGUAGE plpgsql AS $$
DECLARE
    conds oracle.cond[] := '{}';
    witness text;
    published text;
    result oracle.conditions;
BEGIN
    -- The most frequent kind of condition: one value.
    IF how_many > 0 AND oracle.chance(20) THEN
        conds := ARRAY[oracle.value_atom(v)];
        how_many := 0;
    END IF;
    FOR i IN 1 .. how_many LOOP
        conds := conds || oracle.conjunct(v);
    END LOOP;
    SELECT coalesce(string_agg(k, ' AND '), 'true'),
        coalesce(string_agg(o, ' AND ') FILTER (WHERE v.match = 'cover' OR NOT oracle.groups(v) OR NOT quasi), 'true'),
        string_agg(o, ' AND ') FILTER (WHERE v.match = 'witness' AND oracle.groups(v) AND quasi),
        coalesce(bool_or(plain), false)
        INTO result.k, published, witness, result.plain FROM unnest(conds);
    result.k := replace(result.k, '@.', alias || '.');
    result.o := replace(published, '@.', alias || '.');
    result.witness := witness IS NOT NULL;
    -- A group qualifies when one of its members does.
    IF result.witness THEN
        result.o := format('%s AND EXISTS (SELECT FROM oracle.%I z WHERE z.group_ = %s.group_ AND %s)',
            result.o, v.name || '_zero', alias, replace(witness, '@.', 'z.'));
    END IF;
    RETURN result;
END
$$;

-- A query: over kanon's views ⟨v⟩ and ⟨w⟩, and over the oracle's tables.
CREATE TYPE oracle.query AS (
    form text, k text, o text,
    select_first bool, -- there is something to select by, so this plan must be possible
    witness bool);

-- Some columns of a view as one text.
CREATE FUNCTION oracle.some_columns(v text, alias text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    c oracle.col;
    result text := '';
BEGIN
    FOR c IN SELECT * FROM oracle.col WHERE view = v ORDER BY pos LOOP
        IF oracle.chance(60) THEN
            result := result || format('%s.%I, ', alias, c.name);
        END IF;
    END LOOP;
    RETURN 'ROW(' || result || '1)::text';
END
$$;

CREATE FUNCTION oracle.make_query(v oracle.view, w oracle.view, small bool) RETURNS oracle.query LANGUAGE plpgsql AS $$
DECLARE
    q oracle.query;
    c oracle.conditions := oracle.conditions_on(v, 'v', oracle.random(4));
    d oracle.conditions;
    shown text := oracle.some_columns(v.name, 'v');
    quasi oracle.col := oracle.any_column(v.name, '{quasi}');
    join_on oracle.cond;
    other_on oracle.cond;
    other oracle.col;
    text_ text; -- with [k|o] where the versions differ
BEGIN
    q.form := oracle.pick(CASE WHEN small
        THEN '{plain,plain,plain,plain,plain,plain,count,whole row,group,limit,union,table,table by value,left,right,'
            'exists,not exists,in,of exists,lateral,lateral by value,initplan,or join,or of both,or of both,over union,'
            'subquery,view,view by value,view by value,self}'
        ELSE '{plain,plain,plain,count,group,in,table,limit,lateral}' END::text[]);
    IF q.form IN ('view', 'view by value') THEN
        d := oracle.conditions_on(w, 'w', oracle.random(2));
        other := oracle.any_column(w.name, '{quasi}');
        join_on := oracle.pair_atom(quasi, 'v', other, 'w');
    ELSIF q.form = 'self' THEN
        d := oracle.conditions_on(v, 'u', oracle.random(2));
    ELSIF q.form LIKE '%by value' OR q.form = 'or join' THEN
        SELECT 's.b', 1, x.name, x.type, x.class, 'table', NULL, 1, NULL INTO other
            FROM (VALUES ('w', 'text', 'text'), ('n', 'int', 'number'), ('d', 'date', 'date')) x (name, type,
                class) OFFSET oracle.random(3) LIMIT 1;
        join_on := oracle.pair_atom(quasi, 'v', other, 'b');
    ELSIF q.form = 'or of both' THEN
        -- PostgreSQL derives a condition on the view alone from these two.
        join_on := oracle.value_atom(v);
        LOOP
            other_on := oracle.value_atom(v);
            EXIT WHEN other_on.k <> join_on.k;
        END LOOP;
    END IF;
    text_ := CASE q.form
        WHEN 'plain' THEN format('SELECT %s FROM ⟨v⟩ v WHERE ⟨c⟩', shown)
        WHEN 'count' THEN 'SELECT count(*)::text FROM ⟨v⟩ v WHERE ⟨c⟩'
        WHEN 'whole row' THEN format('SELECT [v::text|(ROW(%s))::text] FROM ⟨v⟩ v WHERE ⟨c⟩',
            (SELECT string_agg(format('v.%I', name), ', ' ORDER BY pos) FROM oracle.col WHERE view = v.name))
        WHEN 'group' THEN format('SELECT ROW(v.%1$I, count(*), min(v.oa))::text FROM ⟨v⟩ v WHERE ⟨c⟩ GROUP BY v.%1$I',
            quasi.name)
        WHEN 'limit' THEN format('SELECT x.r FROM (SELECT %s AS r FROM ⟨v⟩ v WHERE ⟨c⟩) x ORDER BY x.r COLLATE "C" '
            'LIMIT 7', shown)
        WHEN 'union' THEN format('SELECT %s FROM ⟨v⟩ v WHERE ⟨c⟩ UNION ALL SELECT v.oa::text FROM ⟨v⟩ v WHERE v.oa = '
            '%s', shown, oracle.random(10))
        WHEN 'table' THEN format('SELECT %s || b.x FROM ⟨v⟩ v JOIN s.b ON v.oa = b.x WHERE b.n < 9 AND ⟨c⟩', shown)
        WHEN 'table by value' THEN format('SELECT %s || b.x FROM ⟨v⟩ v JOIN s.b ON ⟨j⟩ WHERE ⟨c⟩', shown)
        WHEN 'left' THEN format('SELECT %s || coalesce(b.x, -1) FROM ⟨v⟩ v LEFT JOIN s.b ON v.oa = b.x AND b.n < 9 '
            'WHERE ⟨c⟩', shown)
        WHEN 'right' THEN format('SELECT coalesce(%s, ''none'') || b.x FROM s.b LEFT JOIN ⟨v⟩ v ON v.oa = b.x AND ⟨c⟩',
            shown)
        WHEN 'exists' THEN format('SELECT %s FROM ⟨v⟩ v WHERE ⟨c⟩ AND EXISTS (SELECT FROM s.b WHERE b.x = v.oa AND b.n '
            '> 2)', shown)
        WHEN 'not exists' THEN format('SELECT %s FROM ⟨v⟩ v WHERE ⟨c⟩ AND NOT EXISTS (SELECT FROM s.b WHERE b.x = v.oa '
            'AND b.n > 2)', shown)
        WHEN 'in' THEN format('SELECT %s FROM ⟨v⟩ v WHERE v.oa IN (SELECT x FROM s.b WHERE n > 2) AND ⟨c⟩', shown)
        WHEN 'of exists' THEN format('SELECT b.x::text FROM s.b WHERE %s EXISTS (SELECT FROM ⟨v⟩ v WHERE v.oa = b.x '
            'AND ⟨c⟩)', oracle.pick('{"",NOT}'))
        WHEN 'lateral' THEN format('SELECT l.r || b.x FROM s.b, LATERAL (SELECT %s AS r FROM ⟨v⟩ v WHERE v.oa = b.x '
            'AND ⟨c⟩ OFFSET 0) l', shown)
        WHEN 'lateral by value' THEN format('SELECT b.x::text || l.n FROM s.b, LATERAL (SELECT count(*) AS n FROM ⟨v⟩ '
            'v WHERE ⟨j⟩ AND ⟨c⟩) l')
        WHEN 'initplan' THEN format('SELECT %s FROM ⟨v⟩ v WHERE v.oa = (SELECT min(x) FROM s.b WHERE n > 2) AND ⟨c⟩',
            shown)
        WHEN 'or join' THEN format('SELECT %s || b.x FROM ⟨v⟩ v, s.b WHERE ((⟨j⟩ AND b.x < 3) OR (v.oa = b.x AND b.x > '
            '6)) AND ⟨c⟩', shown)
        WHEN 'or of both' THEN format('SELECT %s || b.x FROM ⟨v⟩ v JOIN s.b ON v.oa = b.x WHERE ((⟨j⟩ AND b.x < 4) OR '
            '(⟨i⟩ AND b.x > 6)) AND ⟨c⟩', shown)
        WHEN 'over union' THEN format('SELECT %s FROM (SELECT * FROM ⟨v⟩ UNION ALL SELECT * FROM ⟨v⟩) v WHERE ⟨c⟩',
            shown)
        WHEN 'subquery' THEN format('SELECT %s FROM (SELECT * FROM ⟨v⟩ v WHERE ⟨c⟩ OFFSET 0) v JOIN s.b ON v.oa = b.x',
            shown)
        WHEN 'view' THEN format('SELECT %s || w.ob FROM ⟨v⟩ v JOIN ⟨w⟩ w ON v.oa = w.oa AND v.ob = w.ob WHERE ⟨c⟩ AND '
            '⟨d⟩', shown)
        WHEN 'view by value' THEN format('SELECT %s || w.%I::text FROM ⟨v⟩ v JOIN ⟨w⟩ w ON v.oa = w.oa AND ⟨j⟩ WHERE '
            '⟨c⟩ AND ⟨d⟩', shown, other.name)
        WHEN 'self' THEN format('SELECT %s || u.ob FROM ⟨v⟩ v JOIN ⟨v⟩ u ON v.oa = u.oa AND v.oc = u.oc WHERE ⟨c⟩ AND '
            '⟨d⟩', shown) END;
    q.select_first := c.plain AND NOT c.witness AND v.stable AND v.block_size IS NULL;
    q.witness := c.witness;
    q.k := replace(replace(replace(regexp_replace(text_, '\[([^|]*)\|.*?\](?= FROM)', '\1'), '⟨c⟩', c.k), '⟨d⟩',
        coalesce(d.k, '')), '⟨j⟩', coalesce(join_on.k, ''));
    q.o := replace(replace(replace(regexp_replace(text_, '\[[^|]*\|(.*?)\](?= FROM)', '\1'), '⟨c⟩', c.o), '⟨d⟩',
        coalesce(d.o, '')), '⟨j⟩', coalesce(join_on.o, ''));
    q.k := replace(replace(q.k, '⟨i⟩', coalesce(other_on.k, '')), '@.', 'v.');
    q.o := replace(replace(q.o, '⟨i⟩', coalesce(other_on.o, '')), '@.', 'v.');
    q.k := replace(replace(q.k, '⟨v⟩', 's.' || v.name), '⟨w⟩', 's.' || w.name);
    q.o := replace(replace(q.o, '⟨v⟩', 'oracle.' || v.name || '_pub'), '⟨w⟩', 'oracle.' || w.name || '_pub');
    RETURN q;
END
$$;

-- Constants where «type|value» stands, written out or as parameters.
CREATE FUNCTION oracle.written_out(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    part text[];
BEGIN
    LOOP
        part := regexp_match(statement, '«([^|»]*)\|([^»]*)»');
        EXIT WHEN part IS NULL;
        statement := replace(statement, '«' || part[1] || '|' || part[2] || '»',
            CASE part[1] WHEN 'unknown' THEN quote_literal(part[2])
                         WHEN 'int' THEN '(' || part[2] || ')'
                         ELSE quote_literal(part[2]) || '::' || part[1] END);
    END LOOP;
    RETURN statement;
END
$$;

CREATE FUNCTION oracle.parameterized(query text, OUT statement text, OUT types text[], OUT arguments text[])
    LANGUAGE plpgsql AS $$
DECLARE
    part text[];
BEGIN
    statement := query;
    types := '{}';
    arguments := '{}';
    LOOP
        part := regexp_match(statement, '«([^|»]*)\|([^»]*)»');
        EXIT WHEN part IS NULL;
        types := types || CASE part[1] WHEN 'unknown' THEN 'text' ELSE part[1] END;
        arguments := arguments || quote_literal(part[2]);
        statement := replace(statement, '«' || part[1] || '|' || part[2] || '»', '$' || cardinality(types));
    END LOOP;
END
$$;
