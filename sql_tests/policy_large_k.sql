-- People who have several rows each, and ask for more people in their group than are told apart at first (64).
CREATE TABLE choice (person integer PRIMARY KEY, k integer, purpose text, recipient text);
INSERT INTO choice
	SELECT i, CASE i WHEN 1 THEN 100 WHEN 201 THEN 30 ELSE 3 END, 'care', 'ward' FROM generate_series(1, 220) AS i;
-- 120 people aged 31, 80 aged 35, of one decade; 20 aged 52.
CREATE TABLE visit AS
	SELECT person, CASE WHEN person <= 120 THEN 31 WHEN person <= 200 THEN 35 ELSE 52 END AS age, n AS visit
	FROM generate_series(1, 220) AS person, generate_series(1, 3) AS n;
ANALYZE visit, choice;
SELECT kanon.create_interval_dgh('ages', 0, '{10, 50}');
SELECT kanon.grant_access(current_user, 'care', 'ward');
SET kanon.purpose = 'care';
SET kanon.recipient = 'ward';
\set profile '{"table": "choice", "key": {"person": "person"}, "k": "k", "purpose": "purpose", '
\set profile :profile '"recipient": "recipient"}'

-- A source that is read twice, and one that is volatile, so that its rows are kept.
SELECT kanon.create_anonymization_view('stable', 'SELECT * FROM visit', id => '{person}',
	quasi_ids => '{"age": "ages"}', k => 3, profile => :'profile', other => '{visit}');
SELECT kanon.create_anonymization_view('volatile', 'SELECT * FROM visit WHERE random() >= 0', id => '{person}',
	quasi_ids => '{"age": "ages"}', k => 3, profile => :'profile', other => '{visit}');
-- 100 people are aged 31, so that their age is published; 30 people are not among the 20 aged 52.
SELECT age, count(*) FROM stable GROUP BY age ORDER BY age::text;
SELECT age, count(*) FROM volatile GROUP BY age ORDER BY age::text;
SELECT count(*) FROM (TABLE stable EXCEPT ALL TABLE volatile) AS different;

-- One more than there are of that age.
UPDATE choice SET k = 121 WHERE person = 1;
SELECT age, count(*) FROM stable GROUP BY age ORDER BY age::text;
SELECT age, count(*) FROM volatile GROUP BY age ORDER BY age::text;
