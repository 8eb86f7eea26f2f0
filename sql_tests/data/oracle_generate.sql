--
-- The oracle, part 4: random hierarchies, tables and A-views.
--

CREATE TYPE oracle.mood AS ENUM ('sad', 'so so', 'glad');
CREATE DOMAIN oracle.word AS text;

-- Quasi-identifiers to choose from: name, type, class, and the kinds of hierarchy that suit them.
CREATE TABLE oracle.menu (name text, type text, class text, kinds text[]);
INSERT INTO oracle.menu VALUES
    ('w', 'text', 'text', '{tree,tree,forest,none}'),
    ('x', 'varchar(12)', 'text', '{tree,forest,none}'),
    ('ch', 'char(6)', 'text', '{tree,none}'),
    ('dm', 'oracle.word', 'text', '{tree,none}'),
    ('en', 'oracle.mood', 'other', '{tree,none}'),
    ('flag', 'boolean', 'other', '{tree,none}'),
    ('n', 'int', 'number', '{interval,interval,none,numbers}'),
    ('si', 'smallint', 'number', '{interval,none}'),
    ('bi', 'bigint', 'number', '{interval,none}'),
    ('nu', 'numeric', 'number', '{interval,none}'),
    ('re', 'real', 'number', '{interval,none}'),
    ('dp', 'double precision', 'number', '{interval,none}'),
    ('d', 'date', 'date', '{date,date,none}'),
    ('ts', 'timestamp', 'date', '{date,none}'),
    ('tz', 'timestamptz', 'date', '{date,none}'),
    ('zp', 'text', 'text', '{prefix,prefix,none}'),
    ('zi', 'int', 'number', '{prefix}'),
    ('un', 'text', 'text', '{interval}'),
    ('ud', 'text', 'text', '{date}'),
    ('Odd "name"', 'text', 'text', '{tree,none}');

CREATE TABLE oracle.sensitive_menu (type text, class text, kind text);
INSERT INTO oracle.sensitive_menu VALUES
    ('text', 'text', 'tree'), ('text', 'text', 'forest'), ('text', 'text', 'none'), ('int', 'number', 'none'),
    ('numeric', 'number', 'none'), ('int', 'number', 'interval'), ('date', 'date', 'none'), ('text', 'text', 'prefix');

-- With the setting oracle.focus = counting, views have people and values that are hard to count: identifiers that are
-- missing or spelled in several ways, several rows per person, values that look different and are equal, and mixes of
-- levels.  oracle.nocase and citext must exist: see oracle.make_nocase().
CREATE FUNCTION oracle.counting() RETURNS bool LANGUAGE sql STABLE AS $$
    SELECT coalesce(current_setting('oracle.focus', true) = 'counting', false)
$$;

CREATE PROCEDURE oracle.make_nocase() LANGUAGE plpgsql AS $$
BEGIN
    CREATE EXTENSION citext;
    CREATE COLLATION oracle.ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    CREATE DOMAIN oracle.nocase AS text COLLATE oracle.ignore_case;
END
$$;

CREATE TABLE oracle.counting_menu (type text, class text, kind text);
INSERT INTO oracle.counting_menu VALUES
    ('oracle.nocase', 'text', 'none'), ('oracle.nocase', 'text', 'tree'), ('oracle.nocase', 'text', 'forest'),
    ('citext', 'other', 'none'), ('citext', 'other', 'tree'), ('interval', 'other', 'none'),
    ('timestamp', 'date', 'none'), ('timestamp', 'date', 'date'), ('double precision', 'number', 'none'),
    ('numeric', 'number', 'none'), ('numeric', 'number', 'interval'), ('text', 'text', 'tree'),
    ('text', 'text', 'prefix'), ('char(6)', 'text', 'tree');

-- A tree over leaves, of any shape: unbalanced, with chains, with labels that are leaves beside inner ones.
CREATE FUNCTION oracle.make_tree(tree_name text, leaves text[], forest bool) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    inner_count int := 1 + oracle.random(5);
    used bool[] := array_fill(false, ARRAY[inner_count]);
    parents int[] := '{}';
    parent int;
BEGIN
    PERFORM kanon.create_dgh(tree_name);
    IF oracle.chance(3) THEN
        RETURN; -- knows nothing
    END IF;
    FOR i IN 1 .. cardinality(leaves) LOOP
        parent := 1 + oracle.random(inner_count);
        parents := parents || parent;
        used[parent] := true;
    END LOOP;
    -- Inner node 1 is the root, or, of a forest, one of several.
    FOR i IN REVERSE inner_count .. 2 LOOP
        CONTINUE WHEN NOT used[i];
        parent := CASE WHEN forest AND oracle.chance(50) THEN 0 ELSE 1 + oracle.random(i - 1) END;
        CONTINUE WHEN parent = 0;
        used[parent] := true;
        INSERT INTO kanon.dgh_edge VALUES (tree_name, tree_name || i, tree_name || parent);
    END LOOP;
    INSERT INTO kanon.dgh_edge SELECT tree_name, leaf, tree_name || parents[nr]
        FROM unnest(leaves) WITH ORDINALITY u (leaf, nr);
    IF oracle.chance(15) THEN
        -- the root, spelled out
        INSERT INTO kanon.dgh_edge VALUES (tree_name, tree_name || parents[1], '*') ON CONFLICT DO NOTHING;
    END IF;
END
$$;

-- A hierarchy h_<name> for a column, unless its kind is none, and the values that the column may have.
CREATE FUNCTION oracle.make_domain(col text, type text, kind text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    hierarchy text := 'h_' || col;
    pool text[];
    size int := 3 + oracle.random(10);
    step numeric;
BEGIN
    IF type = 'oracle.mood' THEN
        pool := enum_range(NULL::oracle.mood)::text[];
    ELSIF type = 'boolean' THEN
        pool := '{t,f}';
    ELSIF type = 'interval' THEN
        pool := '{1 mon,30 days,720:00:00,2 days,48:00:00,3 days,1 year,12 mons}';
    ELSIF kind IN ('tree', 'forest', 'none')
        AND type IN ('text', 'varchar(12)', 'char(6)', 'oracle.word', 'oracle.nocase', 'citext') THEN
        SELECT array_agg(left(col, 1) || chr(97 + i) ORDER BY i) INTO pool FROM generate_series(1, size) i;
    ELSIF kind = 'prefix' OR col = 'zp' THEN
        FOR i IN 1 .. size LOOP
            pool := pool || (1000 + oracle.random(3) * 1000 + oracle.random(3) * 100 + oracle.random(25))::text;
        END LOOP;
    ELSIF type LIKE 'timestamp%' THEN
        FOR i IN 1 .. size LOOP
            pool := pool || format('%s %s:30:00', date '1999-11-20' + oracle.random(6) * oracle.random(200),
                10 + oracle.random(10));
        END LOOP;
    ELSIF type = 'date' OR kind = 'date' THEN
        FOR i IN 1 .. size LOOP
            pool := pool || (date '1999-11-20' + oracle.random(6) * oracle.random(400))::text;
        END LOOP;
    ELSE
        step := CASE WHEN type IN ('numeric', 'real', 'double precision') THEN 0.35 ELSE 3 END;
        FOR i IN 1 .. size LOOP
            pool := pool || ((oracle.random(20) - 4) * step)::text;
        END LOOP;
    END IF;

    CASE kind
        WHEN 'tree' THEN PERFORM oracle.make_tree(hierarchy, pool, false);
        WHEN 'forest' THEN PERFORM oracle.make_tree(hierarchy, pool, true);
        WHEN 'numbers' THEN
            SELECT array_agg(DISTINCT u) INTO pool FROM unnest(pool) u;
            PERFORM oracle.make_tree(hierarchy, pool, oracle.chance(50));
        WHEN 'interval' THEN PERFORM kanon.create_interval_dgh(hierarchy, oracle.random(5),
            (ARRAY['{5}', '{5,10}', '{4,8,40}', '{0.5,2.5}'])[1 + oracle.random(4)]::numeric[]);
        WHEN 'date' THEN PERFORM kanon.create_date_dgh(hierarchy,
            (ARRAY['{month,year}', '{day,year}', '{quarter,decade}',
                '{day,month,quarter,century}'])[1 + oracle.random(4)]::text[]);
        WHEN 'prefix' THEN PERFORM kanon.create_prefix_dgh(hierarchy, 4, oracle.pick('{*,#}'));
        ELSE NULL;
    END CASE;

    -- Values that a hierarchy does not know, and inner nodes as values.
    IF type IN ('text', 'varchar(12)', 'char(6)', 'oracle.word', 'oracle.nocase', 'citext') AND kind <> 'none' THEN
        IF oracle.chance(50) THEN
            pool := pool || '{n/a,77x}'::text[];
        END IF;
        IF oracle.chance(50) THEN
            pool := pool || CASE kind
                WHEN 'interval' THEN '{007,3.0," 6",-3,1e1}'::text[]
                WHEN 'date' THEN '{2000-1-5,2000-01-05,2001-2-03}'::text[]
                WHEN 'prefix' THEN ARRAY['123',
                    '20' || repeat((SELECT mask::text FROM kanon.dgh WHERE name = hierarchy), 2)]
                ELSE ARRAY(SELECT DISTINCT parent::text FROM kanon.dgh_edge e WHERE e.dgh = hierarchy AND parent <> '*'
                    ORDER BY 1) END;
        END IF;
        IF kind IN ('interval', 'date') AND oracle.chance(25) THEN
            pool := pool || (SELECT oracle.bucket(h, 1, 1) FROM oracle.hierarchy_of(hierarchy) h);
        END IF;
    END IF;
    IF type IN ('oracle.nocase', 'citext') THEN
        pool := pool || ARRAY(SELECT CASE WHEN i % 2 = 0 THEN upper(p) ELSE initcap(p) END
            FROM unnest(pool) WITH ORDINALITY u (p, i) ORDER BY i);
    ELSIF type = 'double precision' AND oracle.counting() THEN
        pool := pool || '{0,-0,0.0}'::text[];
    END IF;
    IF type IN ('real', 'double precision', 'numeric') AND oracle.chance(20) THEN
        pool := pool || '{NaN}'::text[];
    END IF;
    IF (type = 'date' OR type LIKE 'timestamp%') AND oracle.chance(10) THEN
        pool := pool || '{infinity}'::text[];
    END IF;
    IF type = 'numeric' THEN
        pool := pool || '{1.50,1.5}'::text[];
    END IF;
    RETURN pool;
END
$$;

-- A hierarchy before the oracle has learned it.
CREATE FUNCTION oracle.hierarchy_of(wanted text) RETURNS oracle.hierarchy LANGUAGE sql AS $$
    SELECT (d.name, d.kind, d.origin, d.widths, array_remove(d.units, 'day'), d.length, d.mask, NULL,
        '*')::oracle.hierarchy
    FROM kanon.dgh d WHERE d.name = wanted
$$;

-- Some rows of a pool, the first values more often, and NULLs.
CREATE FUNCTION oracle.fill(pool text[], rows int, nulls int) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    result text[] := array_fill(NULL::text, ARRAY[rows]);
    size int := cardinality(pool);
    r bigint := 1 + oracle.random(2000000000); -- the same generator as oracle.random(), without keeping its state
BEGIN
    FOR i IN 1 .. rows LOOP
        r := r * 48271 % 2147483647;
        CONTINUE WHEN r % 100 < nulls;
        r := r * 48271 % 2147483647;
        result[i] := pool[1 + least(r % size, r / 1000 % size)];
    END LOOP;
    RETURN result;
END
$$;

-- The columns of the table at hand.
CREATE TABLE oracle.tcol (pos int, name text, type text, class text, role text, dgh text, pool text[]);

CREATE FUNCTION oracle.add_column(name text, type text, class text, role text, dgh text, pool text[]) RETURNS void
    LANGUAGE sql AS $$
    INSERT INTO oracle.tcol VALUES ((SELECT 1 + count(*) FROM oracle.tcol), $1, $2, $3, $4, $5, $6)
$$;

-- s.t: people and what is known of them.  s.b: a small table to join with.
CREATE FUNCTION oracle.make_tables(rows int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    counting bool := oracle.counting();
    people int := CASE WHEN oracle.chance(50) AND NOT counting THEN rows ELSE 1 + rows / (2 + oracle.random(3)) END;
    ids text := oracle.pick(CASE WHEN counting THEN '{none,key,unique,person,two,nocase,citext,numeric}'
        ELSE '{none,key,unique,person,person,two,text,day}' END::text[]);
    m oracle.menu;
    sm oracle.sensitive_menu;
    kind text;
    nulls int := oracle.random(3) * 6;
    c oracle.tcol;
    arrays text;
BEGIN
    DELETE FROM oracle.tcol;
    CREATE SCHEMA s;
    IF ids <> 'none' THEN
        PERFORM oracle.add_column('p', CASE ids WHEN 'text' THEN 'text' WHEN 'day' THEN 'date' WHEN 'nocase'
            THEN 'oracle.nocase' WHEN 'citext' THEN 'citext' WHEN 'numeric' THEN 'numeric' ELSE 'int' END,
            CASE WHEN ids IN ('nocase', 'citext') THEN 'text' ELSE 'number' END, 'id', NULL, NULL);
    END IF;
    IF ids = 'two' THEN
        PERFORM oracle.add_column('p2', 'text', 'text', 'id', NULL, '{a,b}');
    END IF;
    FOR i IN 1 .. 1 + oracle.random(4) LOOP
        SELECT * INTO m FROM oracle.menu OFFSET oracle.random((SELECT count(*)::int FROM oracle.menu)) LIMIT 1;
        CONTINUE WHEN EXISTS (SELECT FROM oracle.tcol t WHERE t.name = m.name);
        kind := oracle.pick(m.kinds);
        PERFORM oracle.add_column(m.name, m.type, m.class, 'quasi', CASE WHEN kind <> 'none' THEN 'h_' || m.name END,
            oracle.make_domain(m.name, m.type, kind));
    END LOOP;
    FOR i IN 1 .. CASE WHEN counting THEN 1 + oracle.random(2) ELSE oracle.random(3) END LOOP
        IF counting THEN
            SELECT * INTO sm FROM oracle.counting_menu OFFSET oracle.random(14) LIMIT 1;
        ELSE
            SELECT * INTO sm FROM oracle.sensitive_menu OFFSET oracle.random(8) LIMIT 1;
        END IF;
        PERFORM oracle.add_column('s' || i, sm.type, sm.class, 'sensitive', CASE WHEN sm.kind <> 'none' THEN 'h_s'
            || i END,
            oracle.make_domain('s' || i, sm.type, sm.kind));
    END LOOP;
    PERFORM oracle.add_column('oa', 'int', 'number', 'other', NULL, '{0,1,2,3,4,5,6,7,8,9}');
    PERFORM oracle.add_column('ob', 'text', 'text', 'other', NULL, '{wa,wb,k,3,6,1999-11-20,2100}');
    PERFORM oracle.add_column('oc', 'date', 'date', 'other', NULL, '{1999-11-20,2000-02-29,2001-01-01}');
    -- In any order.
    UPDATE oracle.tcol t SET pos = o.pos FROM
        (SELECT name, row_number() OVER (ORDER BY md5(name || current_setting('oracle.state'))) AS pos
            FROM oracle.tcol) o WHERE o.name = t.name;

    EXECUTE format('CREATE TABLE s.t (%s)%s',
        (SELECT string_agg(format('%I %s', name, type), ', ' ORDER BY pos) FROM oracle.tcol),
        CASE WHEN ids <> 'key' AND oracle.chance(8) THEN ' PARTITION BY HASH (oa)' END);
    IF (SELECT relkind = 'p' FROM pg_class WHERE oid = 's.t'::regclass) THEN
        CREATE TABLE s.t0 PARTITION OF s.t FOR VALUES WITH (MODULUS 2, REMAINDER 0);
        CREATE TABLE s.t1 PARTITION OF s.t FOR VALUES WITH (MODULUS 2, REMAINDER 1);
    END IF;
    arrays := '';
    FOR c IN SELECT * FROM oracle.tcol ORDER BY pos LOOP
        IF c.name = 'p' THEN
            c.pool := ARRAY(SELECT CASE WHEN ids IN ('key', 'unique') THEN i::text
                                        WHEN ids = 'day' THEN (date '2020-01-01' + i % people)::text
                                        WHEN ids = 'nocase' OR ids = 'citext'
                                            THEN CASE WHEN i % 3 = 0 THEN 'P' ELSE 'p' END
                                            || i % people
                                        WHEN ids = 'numeric' AND i % 3 = 0 THEN i % people || '.0'
                                        ELSE (i % people)::text END FROM generate_series(1, rows) i);
            IF counting AND ids <> 'key' AND oracle.chance(60) THEN
                -- In every class, not only in the first ones.
                c.pool := ARRAY(SELECT CASE WHEN (i * 7919) % 11 > 2 THEN p END
                    FROM unnest(c.pool) WITH ORDINALITY u (p, i) ORDER BY i);
            ELSIF NOT counting AND ids NOT IN ('key', 'unique') AND oracle.chance(30) THEN
                c.pool[1:1 + rows / 20] := array_fill(NULL::text, ARRAY[1 + rows / 20]);
            END IF;
        ELSE
            c.pool := oracle.fill(c.pool, rows, CASE WHEN c.role = 'other' THEN 5 ELSE nulls END);
        END IF;
        arrays := arrays || format('%s%L::%s[]', CASE WHEN arrays <> '' THEN ', ' END, c.pool, c.type);
    END LOOP;
    EXECUTE 'INSERT INTO s.t SELECT * FROM unnest(' || arrays || ')';

    IF ids = 'key' THEN
        ALTER TABLE s.t ADD PRIMARY KEY (p);
    END IF;
    FOR c IN SELECT * FROM oracle.tcol ORDER BY pos LOOP
        IF oracle.chance(35) THEN
            EXECUTE format('CREATE INDEX ON s.t (%I)', c.name);
        END IF;
    END LOOP;
    IF oracle.chance(40) THEN
        EXECUTE format('CREATE INDEX ON s.t (%s)',
            (SELECT string_agg(quote_ident(name), ', ' ORDER BY pos) FROM oracle.tcol WHERE role = 'quasi'));
    END IF;
    EXECUTE 'CREATE TABLE s.b (x int, w text, n int, d date)';
    EXECUTE format('INSERT INTO s.b SELECT * FROM unnest(%L::int[], %L::text[], %L::int[], %L::date[])',
        ARRAY(SELECT i FROM generate_series(0, 11) i), oracle.fill('{wa,wb,wc,ta,2100,6,h_w1,*,[0,5)}'::text[], 12, 8),
        oracle.fill('{0,3,6,7,2100,99}'::text[], 12, 8),
        oracle.fill('{1999-11-20,2000-02-29,2001-01-01}'::text[], 12, 8));
    IF oracle.chance(70) THEN
        ANALYZE s.t, s.b;
    END IF;
END
$$;

-- A source query over s.t with the columns of s.t; whether it may be asked twice.
CREATE FUNCTION oracle.make_source(OUT source text, OUT stable bool, OUT form text) LANGUAGE plpgsql AS $$
DECLARE
    columns text := (SELECT string_agg(format('t.%I', name), ', ' ORDER BY pos) FROM oracle.tcol);
BEGIN
    form := oracle.pick('{table,table,table,table,where,join,cte,union,distinct,aggregate,view}');
    stable := form NOT IN ('aggregate', 'view');
    source := CASE form
        WHEN 'table' THEN format('SELECT %s FROM s.t', columns)
        WHEN 'where' THEN format('SELECT %s FROM s.t WHERE t.oa <> %s', columns, oracle.random(10))
        WHEN 'join' THEN format('SELECT %s FROM s.t JOIN s.b ON t.oa = b.x', columns)
        WHEN 'cte' THEN format('WITH t AS (SELECT * FROM s.t WHERE oa < 8) SELECT %s FROM t', columns)
        WHEN 'union' THEN format('SELECT %s FROM s.t WHERE t.oa < 5 UNION ALL SELECT %1$s FROM s.t WHERE t.oa >= 5',
            columns)
        WHEN 'distinct' THEN format('SELECT DISTINCT %s FROM s.t', columns)
        WHEN 'aggregate' THEN format('SELECT %s FROM s.t GROUP BY %1$s HAVING count(*) > 0', columns)
        WHEN 'view' THEN format('SELECT %s FROM s.tv t', columns) END;
    IF form = 'view' AND to_regclass('s.tv') IS NULL THEN
        CREATE VIEW s.tv AS SELECT * FROM s.t;
    END IF;
END
$$;

-- For one source in three, the same with columns that have no role and are not in the view; no random number is drawn.
CREATE FUNCTION oracle.add_hidden(source text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN ('x' || left(md5(source), 4))::bit(16)::int % 3 > 0 THEN source ELSE
        regexp_replace(regexp_replace(source, 'SELECT (DISTINCT )?t\.', 'SELECT \1t.oa AS "kanon rows", t.', 'g'),
            ' FROM (s\.|t$|oracle\.)', ', t.oa IS NULL AS ward FROM \1', 'g') END
$$;

-- A source over the A-view s.v itself, or over a copy of what it published.
CREATE FUNCTION oracle.make_upper_source(OUT source text, OUT known_source text, OUT stable bool, OUT form text)
    LANGUAGE plpgsql AS $$
DECLARE
    columns text := (SELECT string_agg(format('t.%I', name), ', ' ORDER BY pos) FROM oracle.tcol);
BEGIN
    stable := oracle.chance(50);
    form := CASE WHEN stable THEN 'stored A-view' ELSE 'A-view' END;
    IF stable THEN
        CREATE TABLE s.stored AS SELECT * FROM s.v;
    END IF;
    source := format('SELECT %s FROM %s t', columns, CASE WHEN stable THEN 's.stored' ELSE 's.v' END);
    known_source := format('SELECT %s FROM oracle.v_pub t', columns);
END
$$;

-- The columns of a new view: those of the table, or those of the view below it.
CREATE FUNCTION oracle.make_columns(view_name text, upper_view bool) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    nr int;
BEGIN
    DELETE FROM oracle.col WHERE view = view_name;
    INSERT INTO oracle.col SELECT view_name, pos, name, type, class, role, dgh, 0, NULL FROM oracle.tcol;
    IF upper_view THEN
        -- The view below hides identifiers, and its generalized columns stay generalized.
        UPDATE oracle.col SET role = 'other' WHERE view = view_name AND role = 'id';
        -- One by one: an UPDATE would draw for its rows in the order in which they are stored.
        FOR nr IN SELECT pos FROM oracle.col WHERE view = view_name AND role = 'quasi' ORDER BY pos LOOP
            UPDATE oracle.col SET type = 'kanon.generalized', home = dgh, dgh = CASE WHEN oracle.chance(50) THEN dgh END
                WHERE view = view_name AND pos = nr;
        END LOOP;
        UPDATE oracle.col SET type = 'kanon.generalized' WHERE view = view_name AND role = 'sensitive'
            AND dgh IS NOT NULL;
    END IF;
    UPDATE oracle.col c SET nth = o.nth
        FROM (SELECT pos, row_number() OVER (PARTITION BY role ORDER BY pos) AS nth FROM oracle.col
            WHERE view = view_name) o
        WHERE c.view = view_name AND c.pos = o.pos;
END
$$;

-- s.choices: the choices of the owners of rows; one owner for each value of oa.
CREATE FUNCTION oracle.make_choices() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    several bool := oracle.chance(25);
BEGIN
    CREATE TABLE s.choices (who int, purpose text, recipient text, k bigint, lvl int, ok1 bool, ok2 bool, till date);
    FOR owner IN 0 .. 9 LOOP
        FOR i IN 1 .. CASE WHEN oracle.chance(15) THEN 0 WHEN several THEN 1 + oracle.random(2) ELSE 1 END LOOP
            INSERT INTO s.choices VALUES (owner, 'care', 'ward', nullif(oracle.random(8) - 1, -1),
                nullif(oracle.random(5) - 1, -1),
                nullif(oracle.pick('{t,t,t,t,f,""}'), '')::bool, oracle.pick('{t,t,t,f}')::bool,
                CASE WHEN oracle.chance(90) THEN CASE WHEN oracle.chance(80) THEN date '2999-01-01'
                    ELSE '1999-01-01' END END);
        END LOOP;
        -- Choices for another purpose or recipient do not count here.
        INSERT INTO s.choices VALUES (owner, 'care', 'lab', 0, 0, true, true, '2999-01-01'),
            (owner, 'study', 'ward', 0, 0, true, true, '2999-01-01');
    END LOOP;
    IF NOT several THEN
        CREATE UNIQUE INDEX ON s.choices (who, purpose, recipient);
    END IF;
END
$$;

-- A profile for a view: the column oa names the owner of a row.
CREATE FUNCTION oracle.make_profile(view_name text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    profile jsonb := '{"table": "s.choices", "key": {"oa": "who"}, "purpose": "purpose", "recipient": "recipient"}';
    c oracle.col;
BEGIN
    IF to_regclass('s.choices') IS NULL THEN
        PERFORM oracle.make_choices();
    END IF;
    IF oracle.chance(85) THEN
        profile := profile || '{"k": "k"}';
    END IF;
    IF oracle.counting() OR oracle.chance(60) THEN
        profile := profile || '{"sa_level": "lvl"}';
    END IF;
    FOR c IN SELECT * FROM oracle.col x WHERE x.view = view_name ORDER BY x.pos LOOP
        IF oracle.chance(25) THEN
            profile := jsonb_set(profile, '{disclose}', coalesce(profile -> 'disclose', '{}')
                || jsonb_build_object(c.name, oracle.pick('{ok1,ok2}')));
        END IF;
        IF oracle.chance(15) THEN
            profile := jsonb_set(profile, '{retain}', coalesce(profile -> 'retain', '{}')
                || jsonb_build_object(c.name, 'till'));
        END IF;
    END LOOP;
    RETURN profile;
END
$$;

-- Levels between which the columns of a view are published.  They are drawn aside, from no number of the sequence.
CREATE FUNCTION oracle.make_levels(view_name text) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    UPDATE oracle.col c SET lowest = d.lowest, highest = d.lowest + d.draw / 64 % (h.height - d.lowest + 1)
        FROM oracle.col x,
            LATERAL (SELECT oracle.height(x.dgh) AS height) h,
            LATERAL (SELECT ('x' || md5(x.name || current_setting('oracle.state')))::bit(28)::int AS draw) r,
            LATERAL (SELECT r.draw / 8 % (h.height + 1) AS lowest, r.draw) d
        WHERE x.view = view_name AND x.role = 'quasi' AND r.draw % 8 < 6 AND (c.view, c.pos) = (x.view, x.pos);
    RETURN (SELECT jsonb_object_agg(name, jsonb_build_array(lowest, highest)) FROM oracle.col
        WHERE view = view_name AND highest IS NOT NULL);
END
$$;

-- An A-view s.<name>, as kanon has it and as the oracle knows it.
CREATE FUNCTION oracle.make_view(view_name text, upper_view bool DEFAULT false) RETURNS oracle.view
    LANGUAGE plpgsql AS $$
DECLARE
    v oracle.view;
    src record;
    has_id bool := EXISTS (SELECT FROM oracle.tcol WHERE role = 'id') AND NOT upper_view;
    has_sensitive bool := EXISTS (SELECT FROM oracle.tcol WHERE role = 'sensitive');
BEGIN
    v.name := view_name;
    IF upper_view THEN
        SELECT * INTO src FROM oracle.make_upper_source();
        v.known_source := src.known_source;
    ELSE
        SELECT * INTO src FROM oracle.make_source();
        v.known_source := src.source;
    END IF;
    v.source := oracle.add_hidden(src.source);
    v.stable := src.stable;
    v.k := CASE WHEN oracle.chance(12) THEN oracle.random(2) ELSE 2 + oracle.random(9) * oracle.random(2) END;
    IF oracle.counting() AND v.k > 3 THEN
        v.k := 2 + v.k % 3;
    END IF;
    v.l := CASE WHEN has_sensitive AND oracle.chance(CASE WHEN oracle.counting() THEN 90 ELSE 30 END)
        THEN 1 + oracle.random(4) END;
    v.t := CASE WHEN has_sensitive AND oracle.chance(30) THEN (1 + oracle.random(9)) / 10.0 END;
    v.match := oracle.pick('{cover,witness}');
    v.algorithm := oracle.pick('{datafly,datafly,mondrian}');
    v.block_size := CASE WHEN has_id AND oracle.chance(12) THEN 1 + oracle.random(60) END;
    PERFORM oracle.make_columns(view_name, upper_view);
    IF NOT upper_view AND oracle.chance(CASE WHEN oracle.counting() THEN 45 ELSE 30 END) THEN
        v.profile := oracle.make_profile(view_name);
        v.stable := v.stable AND EXISTS (SELECT FROM pg_index WHERE indrelid = 's.choices'::regclass);
        v.k := CASE WHEN NOT v.profile ? 'k' OR oracle.chance(70) THEN v.k END;
    END IF;
    IF v.algorithm = 'datafly' AND coalesce(v.k, 2) >= 2 AND md5(v.source || v.k) < '6' THEN
        v.levels := oracle.make_levels(view_name);
    END IF;
    PERFORM oracle.count('sources', src.form);
    PERFORM kanon.create_anonymization_view('s.' || view_name, v.source,
        id => ARRAY(SELECT name FROM oracle.col WHERE view = view_name AND role = 'id' ORDER BY pos),
        quasi_ids => (SELECT coalesce(jsonb_object_agg(name, dgh), '{}') FROM oracle.col WHERE view = view_name
            AND role = 'quasi'),
        sensitive => (SELECT coalesce(jsonb_object_agg(name, dgh), '{}') FROM oracle.col WHERE view = view_name
            AND role = 'sensitive'),
        profile => v.profile, k => v.k, l => v.l, t => v.t, match => v.match, block_size => v.block_size,
        algorithm => v.algorithm, levels => v.levels,
        other => ARRAY(SELECT name FROM oracle.col WHERE view = view_name AND role = 'other' ORDER BY pos));
    DELETE FROM oracle.view WHERE name = view_name;
    INSERT INTO oracle.view SELECT v.*;
    PERFORM oracle.read_source(v);
    v.steps := '{}';
    IF v.algorithm = 'mondrian' THEN
        PERFORM oracle.cut_boxes(v);
    ELSE
        v.steps := oracle.sequence(v);
    END IF;
    UPDATE oracle.view SET steps = v.steps WHERE name = view_name;
    RETURN v;
END
$$;
