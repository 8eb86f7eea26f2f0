-- A-views by Mondrian: the tree is made from the rows of the day on which the view is created; later rows find their
-- cells in it.
CREATE TABLE person (id integer, age integer, sex text, country text, disease text);
SELECT kanon.create_dgh('countries');
INSERT INTO kanon.dgh_edge VALUES ('countries', 'Benin', 'Africa'), ('countries', 'Chad', 'Africa'),
    ('countries', 'Spain', 'Europe'),
    ('countries', 'Wales', 'Europe'), ('countries', 'Africa', 'Earth'), ('countries', 'Europe', 'Earth');
INSERT INTO person VALUES
    (1, 20, 'f', 'Benin', 'flu'), (2, 21, 'f', 'Benin', 'cold'), (3, 22, 'm', 'Chad', 'flu'),
    (4, 23, 'm', 'Wales', 'cold'),
    (5, 30, 'f', 'Spain', 'flu'), (6, 31, 'm', 'Spain', 'cold'), (7, 32, 'f', 'Wales', 'flu'),
    (8, 40, 'm', 'Wales', 'cold');
SELECT kanon.create_anonymization_view('people', 'SELECT * FROM person', id => '{id}',
    quasi_ids => '{"age": null, "sex": null, "country": "countries"}', sensitive => '{"disease": null}', k => 2,
    algorithm => 'mondrian');
-- Cut in the middle by age, either half by sex: two people each, so that is all.
SELECT * FROM kanon.cell_tree('people');
SELECT age, sex, country, disease FROM people ORDER BY age, sex, disease;
-- It has no sequence of steps.
SELECT * FROM kanon.generalization_sequence('people');

-- Later rows.  25 is between the values of the first day and belongs to the lower half; 41 and NULL were not there, and
-- pass no cut
-- by age: alone, they are suppressed; together, they are published as everything.
INSERT INTO person VALUES (9, 25, 'f', 'Chad', 'gout'), (10, 41, 'f', 'Chad', 'gout');
SELECT age, sex, country, disease FROM people WHERE disease = 'gout' OR disease IS NULL ORDER BY age, disease;
INSERT INTO person VALUES (11, NULL, 'm', 'Chad', 'mumps');
SELECT age, sex, country, disease FROM people WHERE disease IN ('gout', 'mumps') ORDER BY age, disease;
-- A word that was not there stays where the words part: with the rows of its age, if they are enough.
INSERT INTO person VALUES (12, 22, 'x', 'Peru', 'lupus');
SELECT age, sex, country, disease FROM people WHERE disease = 'lupus' OR disease IS NULL;
INSERT INTO person VALUES (13, 23, 'y', 'Peru', 'lupus');
SELECT age, sex, country, disease FROM people WHERE disease = 'lupus';
-- Rows that go leave others alone in their cells: they go on to larger ones.
DELETE FROM person WHERE id IN (4, 12, 13);
SELECT age, sex, country, disease FROM people WHERE age = '22' ORDER BY 1, 2, 3, 4;
-- New words enter the tree when the owner rebuilds it.
SELECT kanon.refresh_sequence('people');
SELECT * FROM kanon.cell_tree('people');
SELECT age, sex, country, disease FROM people ORDER BY age, sex, disease, country;

-- Numbers with digits after the point have room between whole ones; leaves of a tree are cut in their order, and shown
-- as the lowest
-- node above; codes as far as they agree; words without an order only if all are the same; null if all are.
CREATE TABLE thing (id serial, n numeric, d date, country text, code text, word text);
INSERT INTO thing (n, d, country, code, word) VALUES
    (1, '2020-01-01', 'Benin', '1201', 'a'), (2, '2020-01-01', 'Chad', '1202', 'a'),
    (3, '2020-01-02', 'Chad', '1310', 'b'), (4, '2020-01-02', 'Spain', '1311', 'c'),
    (5, '2020-01-03', 'Spain', '2000', 'c'), (6, '2020-01-03', 'Wales', '2100', 'd'), (7, NULL, NULL, '2200', NULL),
    (8, NULL, NULL, 'no', NULL);
SELECT kanon.create_prefix_dgh('codes', 4);
SELECT kanon.create_anonymization_view('by_' || c, format('SELECT id, %I FROM thing', c), id => '{id}',
    quasi_ids => jsonb_build_object(c, dgh),
    k => 2, algorithm => 'mondrian') FROM (VALUES ('n', NULL), ('d', NULL), ('country', 'countries'), ('code', 'codes'),
    ('word', NULL)) AS v (c, dgh);
SELECT n, count(*) FROM by_n GROUP BY n ORDER BY n;
SELECT d, count(*) FROM by_d GROUP BY d ORDER BY d;
SELECT country, count(*) FROM by_country GROUP BY country ORDER BY country;
SELECT code, count(*) FROM by_code GROUP BY code ORDER BY code;
SELECT word, count(*) FROM by_word GROUP BY word ORDER BY word;
-- A column that was published before and has no hierarchy here is not cut: its texts have no order.
SELECT kanon.create_anonymization_view('again', 'SELECT n FROM by_n', quasi_ids => '{"n": null}', k => 2,
    algorithm => 'mondrian');
SELECT * FROM kanon.cell_tree('again');
SELECT n, count(*) FROM again GROUP BY n;
-- No rows, no column: one cell.
SELECT kanon.create_anonymization_view('nothing', 'SELECT * FROM thing WHERE false', quasi_ids => '{"n": null}', k => 2,
    algorithm => 'mondrian', other => '{*}');
SELECT kanon.create_anonymization_view('no_quasi', 'SELECT id, word FROM thing', id => '{id}', k => 2,
    algorithm => 'mondrian', other => '{word}');
SELECT count(*) FROM nothing;
SELECT count(*), count(id) FROM no_quasi;
-- With l, both halves of a cut have l values of the first sensitive column.
SELECT kanon.create_anonymization_view('diverse', 'SELECT * FROM person', id => '{id}', quasi_ids => '{"age": null}',
    sensitive => '{"disease": null}', k => 2, l => 2, algorithm => 'mondrian', other => '{sex, country}');
SELECT age, count(*), count(DISTINCT disease) FROM diverse GROUP BY age ORDER BY age;

-- The hierarchy changes below the tree. A label that is gone is in no cell but a larger one; nothing is shown too
-- narrow.
SELECT country, count(*) FROM people GROUP BY country ORDER BY country;
DELETE FROM kanon.dgh_edge WHERE child IN ('Chad', 'Spain');
INSERT INTO kanon.dgh_edge VALUES ('countries', 'Chad', 'Europe');
SELECT country, count(*) FROM people GROUP BY country ORDER BY country;
SELECT country, count(*) FROM by_country GROUP BY country ORDER BY country;

SELECT kanon.create_anonymization_view('bad', 'SELECT * FROM person', quasi_ids => '{"age": null}', k => 2,
    algorithm => 'mondrain');
-- The bounds are raw values: for the owner alone.
CREATE ROLE aview_mondrian_analyst;
GRANT SELECT ON people TO aview_mondrian_analyst;
SET ROLE aview_mondrian_analyst;
SELECT count(*) FROM people;
SELECT * FROM kanon.cell_tree('people');
SELECT lo FROM kanon.aview_tree;
RESET ROLE;
REVOKE SELECT ON people FROM aview_mondrian_analyst;
DROP ROLE aview_mondrian_analyst;
-- A tree that does not fit is refused, not guessed.
UPDATE kanon.aview_tree SET parent = '{5}', attnum = '{2}', lo = '{1}', hi = '{2}', open = '{f}'
    WHERE aview = (SELECT id FROM kanon.aview WHERE view = 'people'::regclass);
SELECT count(*) FROM people;
DELETE FROM kanon.aview_tree WHERE aview = (SELECT id FROM kanon.aview WHERE view = 'people'::regclass);
SELECT DISTINCT age, sex, country FROM people;
SELECT kanon.drop_anonymization_view('people');
SELECT count(*) FROM kanon.aview_tree WHERE aview NOT IN (SELECT id FROM kanon.aview);
