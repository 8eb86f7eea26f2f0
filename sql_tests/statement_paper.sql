-- The statements of the paper, section 4 and Fig. 5, through DO LANGUAGE kanon.
CREATE TABLE patient (name text, birth int, zip text, disease text, profile_id int);
INSERT INTO patient VALUES
	('Ann',   1970, '88512', 'ulcer',     1),
	('Bob',   1972, '88513', 'gastritis', 2),
	('Cleo',  1970, '88512', 'ulcer',     3),
	('Dan',   1974, '88599', 'flu',       4),
	('Eve',   1981, '47906', 'flu',       5),
	('Fay',   1983, '47907', 'asthma',    6);
CREATE TABLE choices (id int PRIMARY KEY, k int, sa_level int);

DO LANGUAGE kanon $$
CREATE DGH d;
INSERT INTO DGH d ulcer, stomach-disease;
INSERT INTO DGH d gastritis, stomach-disease;
INSERT INTO DGH d flu, lung-disease;
INSERT INTO DGH d asthma, lung-disease;
CREATE DGH years;
INSERT INTO DGH years (1970, 1970-74), (1972, 1970-74), (1974, 1970-74), (1981, 1980-84), (1983, 1980-84),
	(1970-74, 19**), (1980-84, 19**);
CREATE DGH zip;
INSERT INTO DGH zip
	(88512, 8851*), (88513, 8851*), (88599, 8859*), (8851*, 88***), (8859*, 88***),
	(47906, 4790*), (47907, 4790*), (4790*, 47***);
$$;
SELECT * FROM kanon.dgh_edge ORDER BY dgh, parent, child;

-- A logical A-view. K takes the place of the paper's profile.
DO LANGUAGE kanon $$
CREATE ANONYMIZATION_VIEW v
ON SELECT name, birth, zip, disease FROM patient
WITH ANONYMIZATION_ID name
ANONYMIZATION_QUASI_ID birth DGH_NAME years, zip DGH_NAME zip
ANONYMIZATION_SENSITIVE_ATTR disease DGH_NAME d
K 2
$$;
SELECT * FROM v ORDER BY birth, zip, disease;
SELECT * FROM kanon.generalization_sequence('v');
SELECT disease FROM v WHERE zip = '88512' ORDER BY disease;

-- The function does the same.
SELECT kanon.create_anonymization_view('w', 'SELECT name, birth, zip, disease FROM patient', id => '{name}',
	quasi_ids => '{"birth": "years", "zip": "zip"}', sensitive => '{"disease": "d"}', k => 2);
SELECT count(*) FROM (TABLE v EXCEPT ALL TABLE w) AS only_in_v;
SELECT count(*) FROM (TABLE w EXCEPT ALL TABLE v) AS only_in_w;
SELECT count(*) AS differ FROM kanon.aview_column v, kanon.aview_column w
	WHERE v.aview = (SELECT id FROM kanon.aview WHERE view = 'v'::regclass)
	AND w.aview = (SELECT id FROM kanon.aview WHERE view = 'w'::regclass)
	AND v.attnum = w.attnum AND (v.role, v.dgh) IS DISTINCT FROM (w.role, w.dgh);

-- Fig. 5 in full: policy_fig8 tests its rows, matview_profiles the stored ones.
DO LANGUAGE kanon $$
CREATE ANONYMIZATION_VIEW v2
ON SELECT name, birth, zip, disease, profile_id FROM patient
WITH ANONYMIZATION_ID name
ANONYMIZATION_QUASI_ID birth DGH_NAME years, zip DGH_NAME zip
ANONYMIZATION_SENSITIVE_ATTR disease DGH_NAME d
profile_id REFERENCES choices(k, sa_level)
$$;
\echo :SQLSTATE
DO LANGUAGE kanon $$
CREATE ANONYMIZATION_VIEW v3 ON SELECT * FROM patient WITH profile_id REFERENCES public.choices (k)
	ANONYMIZATION_OTHER *
$$;
\echo :SQLSTATE
-- A materialized view needs a key; without one nothing is made.
DO LANGUAGE kanon $$ CREATE DGH unused; INSERT INTO DGH unused ulcer, stomach-disease;
  CREATE MATERIALIZED ANONYMIZATION_VIEW v4 ON SELECT *
  	FROM patient WITH ANONYMIZATION_ID name ANONYMIZATION_QUASI_ID birth DGH_NAME years, zip DGH_NAME zip
  ANONYMIZATION_SENSITIVE_ATTR disease DGH_NAME d profile_id REFERENCES choices(k, sa_level); $$;
\echo :SQLSTATE
SELECT name FROM kanon.dgh ORDER BY name;
ALTER TABLE patient ADD PRIMARY KEY (name);
DO LANGUAGE kanon $$ CREATE DGH unused; INSERT INTO DGH unused ulcer, stomach-disease;
  CREATE MATERIALIZED ANONYMIZATION_VIEW v4 ON SELECT *
  	FROM patient WITH ANONYMIZATION_ID name ANONYMIZATION_QUASI_ID birth DGH_NAME years, zip DGH_NAME zip
  ANONYMIZATION_SENSITIVE_ATTR disease DGH_NAME d profile_id REFERENCES choices(k, sa_level); $$;
\echo :SQLSTATE
SELECT to_regclass('v2'), to_regclass('v3'), to_regclass('v4');

DO LANGUAGE kanon $$
DROP ANONYMIZATION_VIEW v; DROP ANONYMIZATION_VIEW public.w; DROP ANONYMIZATION_VIEW v2; DROP ANONYMIZATION_VIEW v3;
	DROP ANONYMIZATION_VIEW v4;
DROP DGH years; DROP DGH zip; DROP DGH d; DROP DGH unused;
$$;
SELECT count(*) FROM kanon.aview;
SELECT count(*) FROM kanon.dgh_edge;
