--
-- The oracle, part 6: every plan against the oracle.
--

CREATE TABLE oracle.tally (topic text, what text, many int, PRIMARY KEY (topic, what));

CREATE FUNCTION oracle.count(topic text, what text, many int DEFAULT 1) RETURNS void LANGUAGE sql AS $$
    INSERT INTO oracle.tally VALUES (topic, what, many)
        ON CONFLICT ON CONSTRAINT tally_pkey DO UPDATE SET many = tally.many + excluded.many
$$;

-- Where we are, for reproductions.
CREATE TABLE oracle.place (seed bigint, scenario int, query int);

CREATE FUNCTION oracle.complain(what text, v oracle.view, details text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    p oracle.place;
BEGIN
    SELECT * INTO p FROM oracle.place;
    PERFORM oracle.count('mismatches', what);
    RAISE INFO E'%: CALL oracle.run(%, 1, %), query %\nview: % k=% l=% t=% match=% algorithm=% levels=% block_size=% '
        'profile=% columns %\nsource: %\n%',
        what, p.seed, p.scenario, p.query, v.name, v.k, v.l, v.t, v.match, v.algorithm, v.levels,
        v.block_size, v.profile,
        (SELECT string_agg(format('%s %s %s %s', name, type, role, dgh), ', ' ORDER BY pos) FROM oracle.col
            WHERE view = v.name), v.source, details;
END
$$;

CREATE FUNCTION oracle.difference(a text[], b text[]) RETURNS text LANGUAGE sql AS $$
    SELECT format(E'  missing: %s\n  too much: %s',
        (SELECT array_agg(x) FROM (SELECT unnest(b) EXCEPT ALL SELECT unnest(a) LIMIT 5) y (x)),
        (SELECT array_agg(x) FROM (SELECT unnest(a) EXCEPT ALL SELECT unnest(b) LIMIT 5) y (x)))
$$;

-- The rows of a query as sorted texts; with parameters, by a generic plan.
CREATE FUNCTION oracle.rows_of(query text, parameters bool) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    rows text[];
    p record;
BEGIN
    query := format('SELECT coalesce(array_agg(r ORDER BY r COLLATE "C"), ''{}'') FROM (%s) x (r)', query);
    IF parameters THEN
        SELECT * INTO p FROM oracle.parameterized(query);
        IF cardinality(p.types) > 0 THEN
            EXECUTE format('PREPARE oracle_query (%s) AS %s', array_to_string(p.types, ', '), p.statement);
            EXECUTE format('EXECUTE oracle_query (%s)', array_to_string(p.arguments, ', ')) INTO rows;
            DEALLOCATE oracle_query;
            RETURN rows;
        END IF;
    END IF;
    EXECUTE oracle.written_out(query) INTO rows;
    RETURN rows;
END
$$;

CREATE FUNCTION oracle.plans_of(query text, plan text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    line text;
    many int := 0;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || oracle.written_out(query) LOOP
        many := many + (line LIKE '%Plan: ' || plan || '%')::int;
    END LOOP;
    RETURN many;
END
$$;

-- Random settings, so that joins rescan, sort, hash and use indexes.
CREATE FUNCTION oracle.shake_planner() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    setting text;
    parallel bool;
BEGIN
    FOREACH setting IN ARRAY '{enable_hashjoin,enable_mergejoin,enable_material,enable_memoize,enable_seqscan,'
        'enable_hashagg}'::text[] LOOP
        PERFORM set_config(setting, CASE WHEN oracle.chance(30) THEN 'off' ELSE 'on' END, false);
    END LOOP;
    PERFORM set_config('work_mem', oracle.pick('{4MB,64kB}'), false);
    PERFORM set_config('hash_mem_multiplier', oracle.pick('{1,2}'), false);
    parallel := oracle.chance(4);
    PERFORM set_config('parallel_setup_cost', CASE WHEN parallel THEN '0' ELSE '1000' END, false);
    PERFORM set_config('min_parallel_table_scan_size', CASE WHEN parallel THEN '0' ELSE '8MB' END, false);
    PERFORM set_config('plan_cache_mode', oracle.pick('{force_generic_plan,auto}'), false);
END
$$;

-- Is the plan that selects first really used where it can be?
CREATE FUNCTION oracle.check_plan(v oracle.view, q oracle.query) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('kanon.plan', 'select_first', false);
    IF oracle.plans_of(q.k, 'Select First') > 0 THEN
        PERFORM oracle.count('selected first', CASE WHEN q.witness THEN 'by witnesses'
            WHEN q.select_first THEN 'by what is shown as it is' ELSE 'by a join or subquery' END);
    ELSIF q.select_first AND oracle.plans_of(q.k, 'Nothing') = 0
        AND oracle.plans_of(q.k, 'Anonymize First') > 0 THEN
        PERFORM oracle.complain('select_first not used', v, oracle.written_out(q.k));
    END IF;
END
$$;

CREATE FUNCTION oracle.check_query(v oracle.view, w oracle.view, small bool) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    q oracle.query := oracle.make_query(v, w, small);
    parameters bool := oracle.chance(20);
    expected text[];
    rows text[];
    plan text;
BEGIN
    PERFORM oracle.shake_planner();
    expected := oracle.rows_of(q.o, false);
    PERFORM oracle.count('all', 'queries');
    PERFORM oracle.count('form', q.form);
    PERFORM oracle.count('conditions', CASE WHEN q.witness THEN 'ask for a witness'
        WHEN q.select_first THEN 'can be asked of the source first' ELSE 'are on published values' END);
    PERFORM oracle.count('answer', CASE WHEN cardinality(expected) = 0 THEN 'no rows' ELSE 'some rows' END);
    PERFORM oracle.count('constants', CASE WHEN parameters THEN 'parameters' ELSE 'written out' END);
    FOREACH plan IN ARRAY '{anonymize_first,select_first,auto,function}'::text[] LOOP
        -- The plain function knows no witnesses: conditions are evaluated outside.
        CONTINUE WHEN plan = 'function'
            AND ((v.match = 'witness' AND oracle.groups(v)) OR (w.match = 'witness' AND oracle.groups(w)));
        PERFORM set_config('kanon.plan', plan, false);
        PERFORM oracle.count('compared', plan);
        BEGIN
            rows := oracle.rows_of(q.k, parameters);
            IF rows <> expected THEN
                PERFORM oracle.complain('rows of plan ' || plan, v,
                    format(E'query (parameters %s): %s\noracle: %s\n%s', parameters,
                    oracle.written_out(q.k), oracle.written_out(q.o), oracle.difference(rows, expected)));
            END IF;
        EXCEPTION WHEN OTHERS THEN
            PERFORM oracle.complain('error in plan ' || plan, v,
                format(E'query (parameters %s): %s\n%s', parameters, oracle.written_out(q.k), SQLERRM));
        END;
    END LOOP;
    PERFORM oracle.check_plan(v, q);
    PERFORM set_config('kanon.plan', 'auto', false);
END
$$;

-- The boxes of a view, each with a form that is the same in every spelling of its ends.
CREATE FUNCTION oracle.check_boxes(v oracle.view) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    found text[] := ARRAY(SELECT ROW(g.box, g.parent, c.nth, oracle.key(g.lo), oracle.key(g.hi), g.open)::text
        FROM kanon.cell_tree(('s.' || v.name)::regclass) g JOIN oracle.col c ON c.view = v.name AND c.name = g.column
            ORDER BY g.box);
    wanted text[] := ARRAY(SELECT ROW(b.box, b.parent, b.nth, b.lo, b.hi, b.open)::text FROM oracle.box b
        WHERE b.view = v.name AND b.box > 0 ORDER BY b.box);
BEGIN
    PERFORM oracle.count('boxes', CASE WHEN cardinality(wanted) = 0 THEN 'no box'
        WHEN cardinality(wanted) <= 20 THEN 'up to 20' ELSE 'more' END);
    IF found <> wanted THEN
        PERFORM oracle.complain('boxes', v, oracle.difference(found, wanted));
    END IF;
END
$$;

-- The NOTICEs at the creation of a view.
CREATE FUNCTION oracle.check_view(v oracle.view) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    steps int[];
BEGIN
    SELECT coalesce(array_agg(c.nth ORDER BY g.step), '{}') INTO steps
        FROM kanon.generalization_sequence(('s.' || v.name)::regclass) g JOIN oracle.col c ON c.view = v.name
            AND c.name = g.column;
    PERFORM oracle.count('all', 'views');
    PERFORM oracle.count('views', format('k %s', CASE WHEN v.profile ? 'k' THEN 'of each row'
        WHEN v.k < 2 THEN v.k::text ELSE 'of 2 and more' END));
    PERFORM oracle.count('profiles', what) FROM jsonb_object_keys(v.profile) p (what)
        WHERE what IN ('k', 'sa_level', 'disclose', 'retain');
    PERFORM oracle.count('profiles', CASE WHEN EXISTS (SELECT FROM pg_index WHERE indrelid = to_regclass('s.choices'))
        THEN 'one row of choices' ELSE 'several rows of choices' END) FROM (SELECT 1) x WHERE v.profile IS NOT NULL;
    PERFORM oracle.count('views', 'match ' || v.match);
    PERFORM oracle.count('views', v.algorithm);
    PERFORM oracle.count('views', 'l') FROM (SELECT 1) x WHERE v.l IS NOT NULL;
    PERFORM oracle.count('views', 'levels') FROM (SELECT 1) x WHERE v.levels IS NOT NULL;
    PERFORM oracle.count('views', 't') FROM (SELECT 1) x WHERE v.t IS NOT NULL;
    PERFORM oracle.count('views', 'block_size') FROM (SELECT 1) x WHERE v.block_size IS NOT NULL;
    PERFORM oracle.count('hierarchies', coalesce(h.kind, 'none')) FROM oracle.col c LEFT
        JOIN oracle.hierarchy h ON h.name = c.dgh WHERE c.view = v.name AND c.role = 'quasi';
    PERFORM oracle.count('distances', CASE WHEN c.dgh IS NOT NULL THEN 'hierarchical'
        WHEN c.class = 'number' THEN 'ordered' ELSE 'equal' END)
        FROM oracle.col c WHERE c.view = v.name AND c.role = 'sensitive' AND v.t IS NOT NULL AND oracle.groups(v);
    IF steps <> v.steps THEN
        PERFORM oracle.complain('sequence', v, format('kanon %s, oracle %s', steps, v.steps));
    END IF;
    PERFORM oracle.check_boxes(v) FROM (SELECT 1) x WHERE v.algorithm = 'mondrian';
    IF EXISTS (SELECT g.column::text, g.value, g.rows FROM kanon.uncovered(('s.' || v.name)::regclass) g
               EXCEPT ALL SELECT * FROM oracle.uncovered(v)) OR
        EXISTS (SELECT * FROM oracle.uncovered(v)
                EXCEPT ALL SELECT g.column::text, g.value,
                g.rows FROM kanon.uncovered(('s.' || v.name)::regclass) g) THEN
        PERFORM oracle.complain('uncovered', v, format('kanon %s, oracle %s',
            (SELECT array_agg(g ORDER BY g::text) FROM kanon.uncovered(('s.' || v.name)::regclass) g),
            (SELECT array_agg(u ORDER BY u::text) FROM oracle.uncovered(v) u)));
    END IF;
END
$$;

CREATE FUNCTION oracle.change_data() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    c oracle.tcol;
BEGIN
    -- Values that were not there before, some of them beyond all others.
    FOR c IN SELECT * FROM oracle.tcol WHERE role = 'quasi' ORDER BY pos LOOP
        EXECUTE format(CASE WHEN c.type LIKE 'timestamp%%' THEN
            'UPDATE s.t SET %1$I = %1$I + interval ''1 day'' WHERE oa = %2$s'
                            WHEN c.class IN ('number', 'date') THEN 'UPDATE s.t SET %1$I = %1$I + 1 WHERE oa = %2$s'
                            WHEN c.type = 'text' AND c.name NOT IN ('un',
                                'ud') THEN 'UPDATE s.t SET %1$I = %1$I || ''1'' WHERE oa = %2$s'
                            ELSE 'SELECT' END, c.name, oracle.random(10));
    END LOOP;
    EXECUTE format('DELETE FROM s.t WHERE oa = %s', oracle.random(10));
    IF NOT EXISTS (SELECT FROM pg_index WHERE indrelid = 's.t'::regclass AND indisunique) THEN
        EXECUTE format('INSERT INTO s.t SELECT * FROM s.t WHERE oa = %s', oracle.random(10));
    END IF;
END
$$;

-- Another guarantee for a view.
CREATE FUNCTION oracle.alter_view(v oracle.view) RETURNS oracle.view LANGUAGE plpgsql AS $$
BEGIN
    v.match := CASE v.match WHEN 'cover' THEN 'witness' ELSE 'cover' END;
    v.k := 2 + oracle.random(4);
    PERFORM kanon.alter_anonymization_view('s.' || v.name, k => v.k, match => v.match);
    UPDATE oracle.view SET k = v.k, match = v.match WHERE name = v.name;
    RETURN v;
END
$$;

-- One set of tables and views, and queries on them.
CREATE FUNCTION oracle.check_scenario(queries int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    rows int := CASE WHEN oracle.chance(7) THEN 1000 + oracle.random(1500) WHEN oracle.chance(4) THEN oracle.random(3)
        ELSE 20 + oracle.random(140) END;
    changed bool := oracle.chance(30);
    v oracle.view;
    w oracle.view;
BEGIN
    PERFORM oracle.make_tables(rows);
    PERFORM oracle.learn_hierarchies();
    v := oracle.make_view('v');
    PERFORM oracle.check_view(v);
    IF NOT changed THEN
        PERFORM oracle.publish('v', false);
    END IF;
    w := oracle.make_view('w', upper_view => NOT changed AND oracle.chance(20));
    PERFORM oracle.check_view(w);
    -- The sequence stays when the data change.
    IF changed THEN
        PERFORM oracle.change_data();
        PERFORM oracle.publish('v');
    END IF;
    PERFORM oracle.publish('w', changed);
    FOR i IN 1 .. queries LOOP
        UPDATE oracle.place SET query = i;
        IF i = queries / 2 AND oracle.chance(60) AND w.known_source NOT LIKE '%v_pub%' THEN
            v := oracle.alter_view(v);
            PERFORM oracle.publish('v');
        END IF;
        PERFORM oracle.check_query(v, w, rows < 300);
    END LOOP;
END
$$;

-- So many queries, from a scenario on.
CREATE PROCEDURE oracle.run(seed bigint, queries int, first int DEFAULT 1) LANGUAGE plpgsql AS $$
DECLARE
    per_scenario int := 15;
BEGIN
    SET client_min_messages = error; -- complaints come as INFO
    SET DateStyle = ISO; -- text forms are
    SET kanon.purpose = care;
    SET kanon.recipient = ward;
    PERFORM kanon.grant_access('public', 'care', 'ward');
    SET jit = off; -- forbidden sequential scans look expensive to it
    FOR scenario IN first .. first + (queries - 1) / per_scenario LOOP
        PERFORM oracle.seed(seed, scenario);
        DELETE FROM oracle.place;
        INSERT INTO oracle.place VALUES (seed, scenario, 0);
        PERFORM oracle.check_scenario(per_scenario);
        DROP SCHEMA s CASCADE;
        DELETE FROM kanon.dgh;
        COMMIT;
    END LOOP;
END
$$;

-- The numbers of tried cases, one line per topic, and of mismatches.
CREATE VIEW oracle.report AS
    SELECT topic, string_agg(format('%s %s', many, what), ', ' ORDER BY what COLLATE "C") AS counts
    FROM oracle.tally WHERE topic NOT IN ('mismatches', 'selected first') GROUP BY topic
    UNION ALL
    -- How often is the planner's business, and that of statistics.
    SELECT 'selected first', string_agg(format('%s: %s', what, CASE WHEN many >= 5 THEN 'yes' ELSE 'hardly ever' END),
        ', ' ORDER BY what COLLATE "C")
    FROM oracle.tally WHERE topic = 'selected first'
    UNION ALL
    SELECT 'mismatches', coalesce(string_agg(format('%s %s', many, what), ', ' ORDER BY what COLLATE "C"), '0')
    FROM oracle.tally WHERE topic = 'mismatches';
