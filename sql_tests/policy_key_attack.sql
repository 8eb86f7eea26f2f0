-- The paper's own statement names the column by which a row finds its owner's choices: a key for each person, which
-- must not be published. An analyst with two such views would join them by it, person by person.
\set VERBOSITY terse
CREATE TABLE patient (name text PRIMARY KEY, birth integer, zip text, disease text, profile_id integer);
INSERT INTO patient SELECT 'p' || i, 1940 + i * 7 % 60, lpad((i * 13 % 90)::text, 3, '0'),
	(ARRAY['flu', 'hiv', 'ulcer', 'asthma'])[1 + i % 4], i FROM generate_series(1, 100) AS i;
-- People of another time: their rows are suppressed where birth is published.
INSERT INTO patient VALUES ('Ann', 1890, '013', 'plague', 501), ('Bob', 1891, '026', 'hiv', 502);
CREATE TABLE choices (profile_id integer PRIMARY KEY, k integer, sa integer);
INSERT INTO choices SELECT profile_id, 4, 0 FROM patient;
SELECT kanon.create_interval_dgh('years', 1900, '{10, 50}');
SELECT kanon.create_prefix_dgh('zips', 3);
SELECT kanon.create_dgh('diseases');
INSERT INTO kanon.dgh_edge (dgh, child, parent) VALUES ('diseases', 'flu', 'lung'), ('diseases', 'asthma', 'lung'),
	('diseases', 'hiv', 'other'), ('diseases', 'ulcer', 'other'), ('diseases', 'plague', 'other');
DO LANGUAGE kanon $$
CREATE ANONYMIZATION_VIEW by_age ON SELECT name, birth, disease, profile_id FROM patient
WITH ANONYMIZATION_ID name ANONYMIZATION_QUASI_ID birth DGH_NAME years
	ANONYMIZATION_SENSITIVE_ATTR disease DGH_NAME diseases L 2
	profile_id REFERENCES choices(k, sa);
CREATE ANONYMIZATION_VIEW by_place ON SELECT name, zip, disease, profile_id FROM patient
WITH ANONYMIZATION_ID name ANONYMIZATION_QUASI_ID zip DGH_NAME zips
	ANONYMIZATION_SENSITIVE_ATTR disease DGH_NAME diseases
	profile_id REFERENCES choices(k, sa)
$$;
CREATE ROLE policy_key_analyst;
GRANT SELECT ON by_age, by_place TO policy_key_analyst;
SELECT kanon.grant_access('policy_key_analyst', 'study', 'lab');
SET ROLE policy_key_analyst;
SET kanon.purpose = study;
SET kanon.recipient = lab;

-- The attack: by each column that both views have, the rows of one that match just one row of the other, and those
-- among them that the first view has suppressed.
CREATE FUNCTION pg_temp.attack(one regclass, two regclass, OUT tried bigint, OUT paired bigint,
	OUT undone bigint) LANGUAGE plpgsql AS $$
DECLARE
	name text;
	pairs bigint;
	shown bigint;
BEGIN
	tried := 0;
	paired := 0;
	undone := 0;
	FOR name IN SELECT a.attname FROM pg_attribute a JOIN pg_attribute b ON b.attname = a.attname
		AND b.attrelid = two WHERE a.attrelid = one AND a.attnum > 0 ORDER BY 1
	LOOP
		EXECUTE format('SELECT count(*), count(*) FILTER (WHERE a.hidden AND b.disease IS NOT NULL) FROM
			(SELECT %1$I::text AS key, disease IS NULL AS hidden, count(*) OVER (PARTITION BY %1$I::text) AS n
				FROM %2$s) a
			JOIN (SELECT %1$I::text AS key, disease, count(*) OVER (PARTITION BY %1$I::text) AS n FROM %3$s) b
			ON a.key = b.key AND a.n = 1 AND b.n = 1', name, one, two) INTO pairs, shown;
		tried := tried + 1;
		paired := paired + pairs;
		undone := undone + shown;
	END LOOP;
END
$$;
SELECT count(*), count(*) FILTER (WHERE birth = '*'::kanon.generalized AND disease IS NULL) AS suppressed FROM by_age;
SELECT * FROM pg_temp.attack('by_age', 'by_place');
SELECT * FROM pg_temp.attack('by_place', 'by_age');
SELECT profile_id FROM by_age;
-- Neither the row as a whole nor the function behind the view has it.
SELECT count(*) FROM by_age AS v WHERE v::text LIKE '%501%' OR to_jsonb(v) ? 'profile_id';
SELECT * FROM kanon.scan('by_age') AS s (name text, birth kanon.generalized, disease kanon.generalized, profile_id int);
RESET ROLE;
-- The star does not mean it; its name does.
DO LANGUAGE kanon $$
CREATE ANONYMIZATION_VIEW starred ON SELECT * FROM patient
WITH ANONYMIZATION_ID name ANONYMIZATION_QUASI_ID birth DGH_NAME years ANONYMIZATION_OTHER *
	profile_id REFERENCES choices(k, sa);
CREATE ANONYMIZATION_VIEW asked_for ON SELECT * FROM patient
WITH ANONYMIZATION_ID name ANONYMIZATION_QUASI_ID birth DGH_NAME years ANONYMIZATION_OTHER profile_id
	profile_id REFERENCES choices(k, sa)
$$;
SELECT attrelid::regclass, string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute
	WHERE attrelid::regclass::text IN ('starred', 'asked_for') AND attnum > 0 GROUP BY 1 ORDER BY 1;
DROP OWNED BY policy_key_analyst;
DROP ROLE policy_key_analyst;
