-- The downcoding attack: what an attacker who knows the algorithm learns beyond the published values.
CREATE TABLE people (id int PRIMARY KEY, age int, illness text);
INSERT INTO people SELECT 2 * age + twin, age, 'flu' FROM generate_series(20, 27) age, generate_series(0, 1) twin
    UNION ALL VALUES (90, 28, 'mumps'), (91, 29, 'gout');
SELECT kanon.create_interval_dgh('ages', 0, '{10}');
SELECT kanon.create_anonymization_view('by_age', 'SELECT * FROM people', id => '{id}', quasi_ids => '{"age": "ages"}',
    sensitive => '{"illness": null}', k => 2);
-- With k = 2, eight ages are shown exactly and two rows as [20,30): they are 28 and 29 for certain.
SELECT age, count(*) FROM by_age GROUP BY age ORDER BY age::text;
SELECT * FROM kanon.downcoding('by_age');
