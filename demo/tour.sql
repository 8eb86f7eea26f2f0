-- A tour of the hospital: hierarchies, generalized rows, and an anonymization view.
\pset footer off
\set ECHO queries

\echo
\echo 'A hierarchy defines how a value becomes less precise, level by level.'
\echo 'Diseases are a tree of labels. The hierarchies of birth dates and zip codes are computed.'
\echo
SELECT * FROM kanon.dgh_path('disease', 'gastritis');
SELECT * FROM kanon.dgh_path('birth', '1968-07-29');
SELECT * FROM kanon.dgh_path('zip', '13068');

\echo 'This is one patient in the table of the hospital. Birth date, zip code and sex together identify her.'
\echo
SELECT * FROM patient WHERE name = 'Carla Ricci';

\echo 'This is the same row, generalized: the year of birth, three digits of the zip code, the kind of disease.'
\echo
SELECT kanon.generalize('birth', birth::text, 2) AS birth,
       kanon.generalize('zip', zip, 2) AS zip,
       sex,
       kanon.generalize('disease', disease, 1) AS disease
FROM patient WHERE name = 'Carla Ricci';

\echo 'By decade of birth, each patient is one of several.'
\echo
SELECT kanon.generalize('birth', birth::text, 3) AS birth,
       kanon.generalize('zip', zip, 2) AS zip,
       count(*) AS patients
FROM patient GROUP BY 1, 2 ORDER BY 1, 2;

\echo 'An anonymization view generalizes rows just enough that at least two people share each combination.'
\echo
SET ROLE kanon_demo_analyst;
SELECT * FROM patients ORDER BY birth, zip, disease, sex;

\echo 'The analyst writes ordinary SQL. A condition finds all rows that may satisfy it. Names cannot be found.'
\echo
SELECT zip, disease FROM patients WHERE birth = '1968-07-29' ORDER BY disease, zip;
SELECT count(*) FROM patients WHERE name = 'Carla Ricci';
SELECT * FROM patients p WHERE disease = 'stomach disease' AND zip = '13068' ORDER BY p;

\echo 'The analyst cannot read the table itself.'
\echo
SELECT has_table_privilege('patients', 'SELECT') AS view, has_table_privilege('patient', 'SELECT') AS "table";
RESET ROLE;
