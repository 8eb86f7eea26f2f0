-- Random histories of rows and of choices. After each commit every published row has as many rows around it as the
-- largest of his k asks for, is where he was or in something wider, and is shown to all purposes alike. The checks are
-- SQL over the tables.
DO $$
BEGIN
	PERFORM kanon.create_interval_dgh('ages', 0, '{5, 20, 40}');
	PERFORM kanon.create_prefix_dgh('zips', 3);
	PERFORM kanon.grant_access(current_user, p, 'lab') FROM unnest('{care, study}'::text[]) AS p;
END
$$;
CREATE TABLE person (id integer PRIMARY KEY, age integer, zip text);
CREATE TABLE wish (who integer, purpose text, k integer, PRIMARY KEY (who, purpose));
CREATE TABLE wish_heir () INHERITS (wish);
CREATE TABLE published (id integer PRIMARY KEY, step integer);
CREATE TABLE complaint (view text, moment integer, what text, who text);
CREATE TABLE summary (view text, moment integer, shown bigint, hidden bigint, alone bigint);

-- Return the k that a person asks for; own is the view's k, null for none. -1 means: not to be published.
CREATE FUNCTION demand(person_id integer, own integer) RETURNS integer LANGUAGE sql AS $$
	SELECT CASE WHEN count(*) = 0 THEN coalesce(own, -1) WHEN bool_or(k IS NULL OR k < 0) THEN -1
		ELSE greatest(max(k), own) END
	FROM wish WHERE who = person_id
$$;
-- own: as above; n: the view's number
CREATE PROCEDURE note(view text, own integer, n integer, moment integer) LANGUAGE plpgsql AS $$
DECLARE
	rows_read bigint[];
BEGIN
	EXECUTE format($sql$
		CREATE TEMP TABLE stored ON COMMIT DROP AS
		SELECT m.c1 AS id, g.g_id AS grp, g.g_step AS step, g.g_id IS NOT NULL AND g.g_key IS NULL AS alone,
			g.c2 AS age, g.c3 AS zip, m.m_k, g.g_size,
			m.m_k <= g.g_size AS shown, demand(m.c1, %L) AS wants
		FROM kanon.members_%s m LEFT JOIN kanon.groups_%s g ON g.g_id = m.m_group $sql$, own, n, n);
	INSERT INTO complaint
	SELECT view, moment, 'not stored just once', p.id::text FROM person p LEFT JOIN stored s USING (id) GROUP BY p.id
		HAVING count(s.id) <> 1
	UNION ALL SELECT view, moment, 'stored, but gone', id::text FROM stored WHERE id NOT IN (SELECT id FROM person)
	UNION ALL SELECT view, moment, 'old demand', id::text FROM stored WHERE m_k <> wants
	-- The company that is shown, counted.
	UNION ALL SELECT view, moment, 'company too small', id::text FROM stored s
		WHERE shown AND (wants < 0 OR wants > (SELECT count(*) FROM stored o WHERE o.grp = s.grp AND o.shown))
	UNION ALL SELECT view, moment, 'wrong size', grp::text FROM stored WHERE grp IS NOT NULL GROUP BY grp,
		g_size HAVING count(*) FILTER (WHERE shown) <> g_size
	-- No row is left out that could be published.
	UNION ALL SELECT view, moment, 'hidden for nothing', s.id::text FROM stored s
		WHERE NOT shown AND EXISTS (SELECT FROM stored o WHERE o.grp = s.grp AND o.wants >= s.wants
			AND o.wants <= (SELECT count(*) FROM stored c WHERE c.grp = s.grp AND c.wants <= o.wants))
	UNION ALL SELECT view, moment, 'alone, and asks for company', id::text FROM stored
		WHERE alone AND (wants > 1 OR g_size <> 1)
	UNION ALL SELECT view, moment, 'not covered', s.id::text FROM stored s JOIN person p USING (id)
		WHERE grp IS NOT NULL AND (NOT kanon.avlike(s.age, p.age) OR NOT kanon.avlike(s.zip, p.zip))
	UNION ALL SELECT view, moment, 'narrower than before', s.id::text FROM stored s JOIN published p USING (id)
		WHERE shown AND s.step < p.step;
	-- The view publishes the same rows for every purpose; without a k of its own, only for the purpose of the choice.
	FOR i IN 1 .. 2 LOOP
		PERFORM set_config('kanon.purpose', (ARRAY['care', 'study'])[i], true);
		EXECUTE format('SELECT array_agg(c ORDER BY c) FROM (SELECT count(*) AS c FROM %I GROUP BY age, zip) AS q',
			view) INTO rows_read;
		INSERT INTO complaint SELECT view, moment, 'not as stored for ' || (ARRAY['care', 'study'])[i], rows_read::text
		WHERE rows_read IS DISTINCT FROM (SELECT array_agg(c ORDER BY c) FROM (
			SELECT sum(c)::bigint AS c FROM (
				SELECT age, zip, count(*) AS c FROM stored s LEFT JOIN wish w ON w.who = s.id
					AND w.purpose = (ARRAY['care', 'study'])[i]
				WHERE shown AND (own IS NOT NULL OR w.who IS NOT NULL) GROUP BY grp, age,
					zip HAVING count(*) >= max(wants)) AS g
			GROUP BY age, zip) AS q);
	END LOOP;
	DELETE FROM published WHERE id NOT IN (SELECT id FROM person);
	INSERT INTO published SELECT id, step FROM stored WHERE shown ON CONFLICT (id) DO UPDATE SET step = excluded.step;
	INSERT INTO summary SELECT view, moment, count(*) FILTER (WHERE shown AND NOT alone),
		count(*) FILTER (WHERE NOT coalesce(shown, false)),
		count(*) FILTER (WHERE alone) FROM stored;
	DROP TABLE stored;
END
$$;

CREATE FUNCTION some_k() RETURNS integer LANGUAGE sql AS $$
	SELECT CASE WHEN r < 0.05 THEN NULL WHEN r < 0.08 THEN -1 WHEN r < 0.16 THEN 0 WHEN r < 0.2 THEN 1
		WHEN r < 0.95 THEN 2 + (random() * 5)::int ELSE 5 + (random() * 40)::int END
	FROM (SELECT random() AS r OFFSET 0) AS q
$$;
CREATE PROCEDURE change(last integer) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. 1 + (random() * 2)::int LOOP
		CASE (random() * 6)::int
			WHEN 0 THEN DELETE FROM person WHERE random() < 0.05;
			WHEN 1 THEN UPDATE person SET age = (age + 1) % 90 WHERE random() < 0.05;
			WHEN 2 THEN UPDATE wish SET k = some_k() WHERE random() < 0.05;
			WHEN 3 THEN DELETE FROM wish WHERE random() < 0.05;
			WHEN 4 THEN UPDATE wish SET who = who + 1
				WHERE who = (SELECT who FROM ONLY wish WHERE who + 1 NOT IN (SELECT who FROM wish)
				ORDER BY random() LIMIT 1);
			WHEN 5 THEN INSERT INTO wish_heir SELECT id, 'care', some_k() FROM person WHERE random() < 0.03
				AND id NOT IN (SELECT who FROM wish);
			ELSE
				INSERT INTO wish SELECT j, p, some_k() FROM generate_series(last, last + 7) AS j,
					unnest('{care, study}'::text[]) AS p
					WHERE random() < 0.5 ON CONFLICT DO NOTHING;
				INSERT INTO person SELECT j, (random() * 89)::int, lpad((random() * 999)::int::text, 3, '0')
					FROM generate_series(last, last + 7) AS j ON CONFLICT DO NOTHING;
		END CASE;
	END LOOP;
END
$$;
CREATE PROCEDURE replay(view text, own integer, n integer, moments integer) LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE published;
	FOR moment IN 1 .. moments LOOP
		CALL change(1000 + 10 * moment);
		COMMIT;
		CALL note(view, own, n, moment);
		COMMIT;
	END LOOP;
END
$$;
CREATE PROCEDURE start(view text, own integer) LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE person, wish;
	INSERT INTO person SELECT i, (random() * 89)::int, lpad((random() * 999)::int::text, 3, '0')
		FROM generate_series(1, 60) AS i;
	INSERT INTO wish SELECT i, p, some_k() FROM generate_series(1, 60) AS i, unnest('{care, study}'::text[]) AS p
		WHERE random() < 0.5;
	PERFORM kanon.create_anonymization_view(view, 'SELECT * FROM person', id => '{id}',
		quasi_ids => '{"age": "ages", "zip": "zips"}', k => own,
		materialized => true, profile => '{"table": "wish", "key": {"id": "who"}, "k": "k", "purpose": "purpose"}');
	COMMIT;
END
$$;
SET client_min_messages = warning;
SET kanon.recipient = 'lab';
SELECT setseed(0.3);
CALL start('kept', 3);
CALL replay('kept', 3, 1, 60);
SELECT kanon.refresh('kept') AS nothing_missed;
SELECT kanon.drop_anonymization_view('kept');
CALL start('chosen', NULL);
CALL replay('chosen', NULL, 2, 60);
SELECT kanon.refresh('chosen') AS nothing_missed;
SELECT view, what, count(*), min(moment), min(who) FROM complaint GROUP BY view, what ORDER BY view, what;
-- Neither all rows were hidden nor all published; where the view has a k of 3, no row is alone.
SELECT view, max(shown) > 10 AS many_shown, max(hidden) > 0 AS some_hidden, max(alone) > 0 AS some_alone FROM summary
	GROUP BY view ORDER BY view;
