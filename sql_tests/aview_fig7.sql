-- The attack of the paper's Fig. 7: does a person with these quasi-identifiers have that disease?  The answer must be
-- the same for every disease of the group, in both plans and both match modes.
CREATE TABLE t (id integer PRIMARY KEY, qi1 text, qi2 integer, sa text, oa text);
INSERT INTO t VALUES
	(1, 'A1', 35, 'Sa1', 'Oa1'), (2, 'A2', 35, 'Sa1', 'Oa2'), (3, 'A3', 36, 'Sa2', 'Oa2'), (4, 'A4', 31, 'Sa3', 'Oa3'),
	(5, 'B1', 32, 'Sa4', 'Oa2'), (6, 'B2', 32, 'Sa5', 'Oa4'), (7, 'B2', 36, 'Sa3', 'Oa5');
CREATE INDEX ON t (sa);
CREATE INDEX ON t (oa);
CREATE INDEX ON t (qi1, qi2);
SELECT kanon.create_prefix_dgh('letters', 2);
SELECT kanon.create_interval_dgh('tens', 0, '{10}');
SELECT kanon.create_anonymization_view('cover', 'SELECT * FROM t', id => '{id}',
	quasi_ids => '{"qi1": "letters", "qi2": "tens"}',
	sensitive => '{"sa": null}', k => 3, other => '{oa}');
SELECT kanon.create_anonymization_view('witness', 'SELECT * FROM t', id => '{id}',
	quasi_ids => '{"qi1": "letters", "qi2": "tens"}',
	sensitive => '{"sa": null}', k => 3, match => 'witness', other => '{oa}');
SELECT qi1, qi2, sa, oa FROM cover ORDER BY sa, oa;
CREATE TABLE published AS TABLE cover;

-- The two queries of the paper.
SET kanon.plan = select_first;
SELECT qi1, qi2, sa FROM cover WHERE qi1 = 'A4' AND qi2 = 31 AND sa = 'Sa1';
SELECT qi1, qi2, sa FROM cover WHERE qi1 = 'A4' AND qi2 = 31 AND sa = 'Sa2';
SELECT qi1, qi2, sa FROM witness WHERE qi1 = 'A4' AND qi2 = 31 AND sa = 'Sa1';
SELECT qi1, qi2, sa FROM witness WHERE qi1 = 'A4' AND qi2 = 31 AND sa = 'Sa2';
EXPLAIN (COSTS OFF) SELECT * FROM witness WHERE qi1 = 'A4' AND qi2 = 31 AND sa = 'Sa1';
EXPLAIN (COSTS OFF) SELECT * FROM witness WHERE qi1 = 'A4' AND qi2 = 31;
EXPLAIN (COSTS OFF) SELECT * FROM cover WHERE qi1 = 'A4' AND qi2 = 31 AND sa = 'Sa1';
RESET kanon.plan;

-- All such queries, in many forms. Under cover the answer is that of the published table. Under witness it is that of
-- the published table for an attacker who knows that a person with these quasi-identifiers is in the group, and empty
-- for others.
CREATE FUNCTION rows_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(s::text, '' '' ORDER BY s::text) FROM (%s) s', query) INTO result;
	RETURN result;
END
$$;
DO $$
DECLARE
	plan text;
	asked record;
	form text;
	query text;
	expected text;
	queries integer := 0;
	nonempty integer := 0;
	wrong integer := 0;
BEGIN
	FOREACH plan IN ARRAY '{anonymize_first, select_first}'::text[] LOOP
		PERFORM set_config('kanon.plan', plan, false);
		FOR asked IN
			SELECT * FROM (SELECT qi1, qi2 FROM t UNION VALUES ('A1', 31), ('C1', 31), ('A4', 50)) q,
				(VALUES ('Sa1', 'Oa1'), ('Sa2', 'Oa2'), ('Sa3', 'Oa3'), ('Sa4', 'Oa4'), ('Sa5', 'Oa5'),
					('Sa9', 'Oa2')) AS a (sa, oa)
		LOOP
			FOREACH form IN ARRAY ARRAY [
				'SELECT qi1, qi2, sa, oa FROM %5$s WHERE qi1 = %1$L AND qi2 = %2$s',
				'SELECT qi1, qi2, sa, oa FROM %5$s WHERE qi1 = %1$L AND qi2 = %2$s AND sa = %3$L',
				'SELECT qi1, qi2, sa, oa FROM %5$s WHERE qi1 = %1$L AND qi2 = %2$s AND oa = %4$L',
				'SELECT qi1, qi2, sa, oa FROM %5$s WHERE qi1 = %1$L AND qi2 = %2$s AND sa IN (%3$L, ''Sa8'') '
					'AND oa = %4$L']
			LOOP
				-- cover
				query := format(form, asked.qi1, asked.qi2, asked.sa, asked.oa, 'cover');
				expected := rows_of(format(form, asked.qi1, asked.qi2, asked.sa, asked.oa, 'published'));
				wrong := wrong + (rows_of(query) IS DISTINCT FROM expected)::integer;
				nonempty := nonempty + (expected IS NOT NULL)::integer;
				-- witness
				query := format(form, asked.qi1, asked.qi2, asked.sa, asked.oa, 'witness');
				IF NOT EXISTS (SELECT FROM t WHERE qi1 = asked.qi1 AND qi2 = asked.qi2) THEN
					expected := NULL;
				END IF;
				wrong := wrong + (rows_of(query) IS DISTINCT FROM expected)::integer;
				queries := queries + 2;
			END LOOP;
		END LOOP;
	END LOOP;
	RESET kanon.plan;
	RAISE NOTICE '% queries, % answers that are not empty, % wrong', queries, nonempty, wrong;
END
$$;

-- Mixed conditions are on published values under witness, too: A4 is hidden among the others of A*.
DO $$
DECLARE
	plan text;
	form text;
	wrong integer := 0;
	queries integer := 0;
BEGIN
	FOREACH plan IN ARRAY '{anonymize_first, select_first}'::text[] LOOP
		PERFORM set_config('kanon.plan', plan, false);
		FOREACH form IN ARRAY ARRAY [
			'SELECT qi1, qi2, sa, oa FROM %s WHERE (qi1 = ''A4'' AND sa = ''Sa1'') OR (qi1 = ''A1'' AND sa = ''Sa3'')',
			'SELECT qi1, qi2, sa, oa FROM %s WHERE NOT (qi1 = ''A4'' AND sa <> ''Sa1'')',
			'SELECT qi1, qi2, sa, oa FROM %s WHERE CASE WHEN qi1 = ''A4'' THEN sa = ''Sa1'' END',
			'SELECT qi1, qi2, sa, oa FROM %s WHERE (qi1 = ''A4'') = (sa = ''Sa1'')',
			'SELECT v.qi1, v.qi2, v.sa, v.oa FROM %s v JOIN (VALUES (''A4'', 31, ''Sa1''), (''B1'', 32, ''Sa3'')) AS '
				'x (a, b, s) ON v.qi1 = x.a AND v.qi2 = x.b AND v.sa = x.s',
			'SELECT v.qi1, v.qi2, v.sa, v.oa FROM (VALUES (''A4'', 31, ''Sa1'')) AS x (a, b, s), LATERAL (SELECT * '
				'FROM %s WHERE qi1 = a AND qi2 = b AND sa = s) v',
			'SELECT qi1, qi2, sa, oa FROM %s v WHERE sa = ''Sa1'' AND EXISTS (SELECT FROM (VALUES (''A4'')) AS x (a) '
				'WHERE v.qi1 = x.a)']
		LOOP
			queries := queries + 2;
			wrong := wrong + (rows_of(format(form, 'cover')) IS DISTINCT FROM rows_of(format(form,
				'published')))::integer
				+ (rows_of(format(form, 'witness')) IS DISTINCT FROM rows_of(format(form, 'published')))::integer;
		END LOOP;
	END LOOP;
	RESET kanon.plan;
	RAISE NOTICE '% queries, % wrong', queries, wrong;
END
$$;
