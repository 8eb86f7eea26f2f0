-- kanon.quality by hand, and by an oracle that knows nothing of classes.
\set dir `echo "$PG_ABS_SRCDIR"`
\set people :dir '/data/people.sql'
\i :people
\set SHOW_CONTEXT never
SET ROLE :"owner";

-- Eight rows of seven people.  Ada has two rows: she is one of two people in her group of three rows.
CREATE TABLE small (who text, age integer, town text, ill text, ward integer);
INSERT INTO small VALUES ('Ada', 21, 'Rome', 'flu', 1), ('Ada', 21, 'Rome', 'ulcer', 1), ('Bob', 24, 'Rome', 'flu', 2),
	('Cyd', 33, 'Oslo', 'flu', 3), ('Dan', 36, 'Oslo', 'hiv', 3), ('Eve', 39, 'Oslo', 'flu', 4),
	('Fay', 52, 'Rome', 'hiv', 4), ('Gus', 91, 'Bonn', 'plague', 5);
SELECT kanon.create_interval_dgh('tens', 0, '{10}');
SELECT kanon.create_anonymization_view('small_view', 'SELECT * FROM small', id => '{who}',
	quasi_ids => '{"age": "tens", "town": null}', sensitive => '{"ill": null}', k => 2, other => '{ward}');
SELECT * FROM kanon.generalization_sequence('small_view');
SELECT age, town, ill, count(*) FROM small_view GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;

-- Ages 20-30 in Rome: 3 rows, 2 people; 30-40 in Oslo: 3 rows, 3 people; Fay and Gus together, at the root, are two.
-- The range of ages is 70: a decade loses 1/7 of it, everything 1; a town 0 or 1.
-- ncp = (6 * (1/7 + 0) + 2 * (1 + 1)) / 16, dm = 9 + 9 + 4, k_deviation = 3 * 0 + 3 * 1 + 2 * 0.
SELECT rows, published, suppressed, groups, min_group, round(avg_group::numeric, 3) AS avg_group,
	round(ncp::numeric, 6) AS ncp,
	round((6 / 7.0 + 4) / 16, 6) AS by_hand, dm, k_deviation, "precision", recall FROM kanon.quality('small_view');
SELECT rows, people, fate, raw_classes, raw_alone, box, ARRAY(SELECT round(x::numeric, 3) FROM unnest(loss) x) AS loss
	FROM kanon.tally('small_view') WHERE "column" IS NULL ORDER BY box;
SELECT "column", value, unknown, rows FROM kanon.tally('small_view') WHERE "column" IS NOT NULL ORDER BY 1, 2;

-- With k = 3 all of Rome are one group of 4 rows and 3 people, and Gus is suppressed: dm = 9 + 16 + 8. With l = 4 all
-- rows are at the root, and with l = 5 suppressed.
SELECT kanon.alter_anonymization_view('small_view', k => 3);
SELECT rows, published, suppressed, groups, min_group, dm, k_deviation FROM kanon.quality('small_view');
SELECT kanon.alter_anonymization_view('small_view', k => 2, l => 4);
SELECT ill IS NULL AS hidden, age, town, count(*) FROM small_view GROUP BY 1, 2, 3;
SELECT rows, published, suppressed, groups, min_group, dm, k_deviation FROM kanon.quality('small_view');
SELECT kanon.alter_anonymization_view('small_view', l => 5);
SELECT ill IS NULL AS hidden, age, town, count(*) FROM small_view GROUP BY 1, 2, 3;
SELECT * FROM kanon.quality('small_view');
SELECT kanon.alter_anonymization_view('small_view', l => 1);

-- Precision and recall.  Three rows in Rome and two at the root may be 24; one is.
SELECT "precision", recall FROM kanon.quality('small_view', 'age = 24');
SELECT "precision", recall FROM kanon.quality('small_view', $$age < 40 AND ill = 'hiv'$$);
-- An identifier is never found, and nothing is found without one.
SELECT "precision", recall FROM kanon.quality('small_view', $$who = 'Ada'$$);
SELECT "precision", recall FROM kanon.quality('small_view', $$ward = 3 AND town = 'Oslo'$$);
SELECT "precision", recall FROM kanon.quality('small_view', 'ward = 99');
SELECT kanon.quality('small_view', 'age');
SELECT kanon.quality('small_view', 'EXISTS (SELECT 1)');
SELECT kanon.quality('small_view', 'random() < 2');
SELECT kanon.quality('small_view', 'nothing = 1');
SELECT kanon.quality('small_view', 'small_view IS NULL');
SELECT kanon.quality('small_view', 'v IS NULL');
SELECT kanon.quality('small_view', '*');
SELECT kanon.quality('small_view', 'v.*');
SELECT kanon.quality('small');

-- The same with a witness: Bob is a witness for the three rows in Rome; there is none for 25.
SELECT kanon.alter_anonymization_view('small_view', match => 'witness');
SELECT count(*) FROM small_view WHERE age = 24;
SELECT "precision", recall FROM kanon.quality('small_view', 'age = 24');
SELECT count(*) FROM small_view WHERE age = 25;
SELECT "precision", recall FROM kanon.quality('small_view', 'age = 25');

-- A larger one against an oracle: the view itself, grouped by SQL.
WITH groups AS (SELECT age, zip, count(*) AS n FROM people GROUP BY age, zip),
	q AS (SELECT * FROM kanon.quality('people'))
SELECT q.rows = (SELECT count(*) FROM person) AS rows,
	q.groups = (SELECT count(*) FROM groups WHERE NOT (age::text = '*' AND zip::text = '*')) AS groups,
	q.published + q.suppressed = q.rows AS all,
	q.suppressed = coalesce((SELECT n FROM groups WHERE age::text = '*' AND zip::text = '*'), 0) AS suppressed
FROM q;
SELECT answered.n = round(q."precision" * answered.n) / q."precision" AS sane,
	round(q."precision" * answered.n) = wanted.n AS "all that is wanted is answered", q.recall
FROM kanon.quality('people', 'age BETWEEN 30 AND 33') q,
	(SELECT count(*) AS n FROM people WHERE age BETWEEN 30 AND 33) answered,
	(SELECT count(*) AS n FROM person WHERE age BETWEEN 30 AND 33) wanted;

-- Sources of every kind: grouped, distinct, united, limited; none, and no quasi-identifier.
CREATE FUNCTION try(query text, OUT rows bigint, OUT published bigint, OUT groups bigint, OUT ncp numeric)
	LANGUAGE plpgsql AS $$
BEGIN
	PERFORM kanon.create_anonymization_view('tried', query, quasi_ids => '{"age": "tens"}', k => 2, other => '{*}');
	SELECT q.rows, q.published, q.groups, round(q.ncp::numeric, 4) INTO rows, published, groups,
		ncp FROM kanon.quality('tried') q;
	PERFORM kanon.drop_anonymization_view('tried');
END
$$;
SELECT * FROM try('SELECT age, count(*) FROM small GROUP BY age');
SELECT * FROM try('SELECT DISTINCT age, town FROM small');
SELECT * FROM try('SELECT age FROM small UNION ALL SELECT age + 1 FROM small');
SELECT * FROM try('SELECT age FROM small ORDER BY age LIMIT 4');
SELECT * FROM try('SELECT age FROM small WHERE false');
SELECT kanon.create_anonymization_view('plain', 'SELECT who, ward FROM small', id => '{who}', k => 2,
    other => '{ward}');
SELECT * FROM kanon.quality('plain');

-- For the owner only; the analyst may query the view, and learns nothing here.
GRANT SELECT ON small_view TO :"analyst";
SET ROLE :"analyst";
SELECT kanon.quality('small_view');
SELECT kanon.tally('small_view');
SELECT kanon.audit('small_view');
SELECT kanon.report('small_view');
\set end :dir '/data/people_end.sql'
\i :end
