-- A tour of the hospital: what a hierarchy is, and what it makes of a row.
\pset footer off
\set ECHO queries

\echo
\echo 'A hierarchy says how a value can be told less precisely, level by level.'
\echo 'Diseases are a tree of labels; birth dates and zip codes need none, theirs are computed.'
\echo
SELECT * FROM kanon.dgh_path('disease', 'gastritis');
SELECT * FROM kanon.dgh_path('birth', '1968-07-29');
SELECT * FROM kanon.dgh_path('zip', '13068');

\echo 'This is one patient, as the hospital knows her. Birth date, zip code and sex together would give her away.'
\echo
SELECT * FROM patient WHERE name = 'Carla Ricci';

\echo 'And this is the same row, generalized: the year of birth, three digits of the zip code, the kind of disease.'
\echo
SELECT kanon.generalize('birth', birth::text, 2) AS birth,
       kanon.generalize('zip', zip, 2) AS zip,
       sex,
       kanon.generalize('disease', disease, 1) AS disease
FROM patient WHERE name = 'Carla Ricci';

\echo 'Told by decade, each patient is one of several.'
\echo
SELECT kanon.generalize('birth', birth::text, 3) AS birth,
       kanon.generalize('zip', zip, 2) AS zip,
       count(*) AS patients
FROM patient GROUP BY 1, 2 ORDER BY 1, 2;

\echo 'An anonymization view does that for every row, as far as it must and no further: nobody stands alone.'
\echo
SET ROLE kanon_demo_analyst;
SELECT * FROM patients ORDER BY birth, zip, disease;

\echo 'The analyst writes ordinary SQL. A condition finds all rows that may satisfy it, and no name is to be found.'
\echo
SELECT zip, disease FROM patients WHERE birth = '1968-07-29' ORDER BY disease, zip;
SELECT count(*) FROM patients WHERE name = 'Carla Ricci';
SELECT * FROM patients p WHERE disease = 'stomach disease' AND zip = '13068' ORDER BY p;

\echo 'The table itself is closed to the analyst.'
\echo
SELECT has_table_privilege('patients', 'SELECT') AS view, has_table_privilege('patient', 'SELECT') AS "table";
RESET ROLE;
