-- The examples of the n-dependency paper: Tables 1 to 5, then 6 and 7.
\set VERBOSITY terse

CREATE TABLE microdata (name text, age integer, gender text, zip text, disease text);
INSERT INTO microdata VALUES
    ('Bob', 23, 'M', '11000', 'pneumonia'),
    ('Tom', 27, 'M', '13000', 'dyspepsia'),
    ('Andy', 35, 'M', '59000', 'gastritis'),
    ('David', 59, 'M', '12000', 'bronchitis'),
    ('Alice', 61, 'F', '54000', 'chronic viral hepatitis'),
    ('Helen', 65, 'F', '25000', 'mitral stenosis'),
    ('Jane', 65, 'F', '25000', 'multiple valve diseases'),
    ('Lisa', 70, 'F', '30000', 'acute hepatitis A');

-- One generalization up the values pair off into four classes of two rows each; two up, two of the
-- classes have become one, and three are left.
SELECT kanon.create_dgh('icd');
INSERT INTO kanon.dgh_edge VALUES
    ('icd', 'pneumonia', 'respiratory'), ('icd', 'bronchitis', 'respiratory'),
    ('icd', 'dyspepsia', 'digestive'), ('icd', 'gastritis', 'digestive'),
    ('icd', 'chronic viral hepatitis', 'viral hepatitis'), ('icd', 'acute hepatitis A', 'viral hepatitis'),
    ('icd', 'mitral stenosis', 'rheumatic heart'), ('icd', 'multiple valve diseases', 'rheumatic heart'),
    ('icd', 'respiratory', 'J'), ('icd', 'digestive', 'K'),
    ('icd', 'viral hepatitis', 'chronic or viral'), ('icd', 'rheumatic heart', 'chronic or viral'),
    ('icd', 'J', 'disease'), ('icd', 'K', 'disease'), ('icd', 'chronic or viral', 'disease');

-- The paper's own groups.  Tables 2 and 3 are 4-diverse, and half of that after one generalization;
-- Tables 4 and 5 keep all four.
CREATE TABLE table2 (id text, grp integer);
INSERT INTO table2 VALUES ('Bob', 1), ('Tom', 1), ('Andy', 1), ('David', 1), ('Alice', 2), ('Helen', 2), ('Jane', 2),
    ('Lisa', 2);
CREATE TABLE table4 (id text, grp integer);
INSERT INTO table4 VALUES ('Bob', 1), ('Tom', 1), ('Alice', 1), ('Helen', 1), ('Andy', 2), ('David', 2), ('Jane', 2),
    ('Lisa', 2);
SELECT * FROM kanon.diversity_error('microdata', 'name', 'disease', 'icd', 'table2', 1) ORDER BY grp;
SELECT * FROM kanon.diversity_error('microdata', 'name', 'disease', 'icd', 'table4', 1) ORDER BY grp;
SELECT * FROM kanon.diversity_error('microdata', 'name', 'disease', 'icd', 'table4', 2) ORDER BY grp;

-- Ours: the largest n is 2, and both groups have it.
SELECT l, kanon.find_max_n('microdata', 'disease', 'icd', l) FROM generate_series(2, 9) AS l;
SELECT * FROM kanon.n_dependency('microdata', 'name', 'disease', 'icd', 4, seed => 1) ORDER BY grp, id;
SELECT * FROM kanon.diversity_error('microdata', 'name', 'disease', 'icd',
    $$SELECT id, grp FROM kanon.n_dependency('microdata', 'name', 'disease', 'icd', 4)$$, 1) ORDER BY grp;

-- Every seed gives two 2-dependent groups; anatomy does so for some only.
SELECT count(*) FILTER (WHERE nd.kept = 2) AS seeds_n_dependency,
    count(*) FILTER (WHERE an.kept = 2) < 200 AS anatomy_less
FROM generate_series(1, 200) AS seed,
    LATERAL (SELECT count(*) FILTER (WHERE error = 0 AND div0 = 4) AS kept
        FROM kanon.diversity_error('microdata', 'name', 'disease', 'icd',
        format($$SELECT id, grp FROM kanon.n_dependency('microdata', 'name', 'disease', 'icd', 4, seed => %s)$$, seed),
        1)) AS nd,
    LATERAL (SELECT count(*) FILTER (WHERE error = 0 AND div0 = 4) AS kept
        FROM kanon.diversity_error('microdata', 'name', 'disease', 'icd',
        format($$SELECT id, grp FROM kanon.anatomy('microdata', 'name', 'disease', 4, %s)$$, seed), 1)) AS an;

-- Table 8 against Table 9: the chance to name Bob's disease, and its class, from the group that he is in.
SELECT which, count(*) AS members, round(1.0 / count(DISTINCT disease), 2) AS disease,
    round(1.0 / count(DISTINCT class), 2) AS class
FROM (SELECT 'table 2' AS which, * FROM table2 UNION ALL SELECT 'table 4', * FROM table4) AS g
JOIN (SELECT *, kanon.generalize('icd', disease, 1)::text AS class FROM microdata) AS m ON m.name = g.id
WHERE grp = 1 GROUP BY which ORDER BY which;

-- Tables 6 and 7: twenty rows, as anatomy grouped them and as 2-dependency did.
SELECT kanon.create_dgh('disease');
INSERT INTO kanon.dgh_edge VALUES
    ('disease', 'Mul. Valve Dis.', 'Circulatory Disease'), ('disease', 'Chr. Rh. Heart Dis.', 'Circulatory Disease'),
    ('disease', 'Gastritis', 'Digestive Disease'), ('disease', 'Dyspepsia', 'Digestive Disease'),
    ('disease', 'Viral Hepatitis', 'Infectious Parasitic'), ('disease', 'Chr. Viral Hepat.', 'Infectious Parasitic'),
    ('disease', 'Bronchitis', 'Respiratory Disease'), ('disease', 'Pneumonia', 'Respiratory Disease'),
    ('disease', 'Flu', 'Respiratory Disease');
CREATE TABLE table6 (id serial, grp integer, disease text);
INSERT INTO table6 (grp, disease) VALUES
    (1, 'Mul. Valve Dis.'), (1, 'Gastritis'), (1, 'Viral Hepatitis'), (1, 'Dyspepsia'),
    (2, 'Mul. Valve Dis.'), (2, 'Gastritis'), (2, 'Bronchitis'), (2, 'Pneumonia'),
    (3, 'Viral Hepatitis'), (3, 'Chr. Viral Hepat.'), (3, 'Mul. Valve Dis.'), (3, 'Dyspepsia'),
    (4, 'Flu'), (4, 'Gastritis'), (4, 'Bronchitis'), (4, 'Pneumonia'),
    (5, 'Viral Hepatitis'), (5, 'Chr. Rh. Heart Dis.'), (5, 'Chr. Viral Hepat.'), (5, 'Mul. Valve Dis.');
CREATE TABLE table7 (id serial, grp integer, disease text);
INSERT INTO table7 (grp, disease) VALUES
    (1, 'Dyspepsia'), (1, 'Bronchitis'), (1, 'Viral Hepatitis'), (1, 'Chr. Rh. Heart Dis.'),
    (2, 'Dyspepsia'), (2, 'Bronchitis'), (2, 'Viral Hepatitis'), (2, 'Mul. Valve Dis.'),
    (3, 'Gastritis'), (3, 'Pneumonia'), (3, 'Viral Hepatitis'), (3, 'Mul. Valve Dis.'),
    (4, 'Gastritis'), (4, 'Pneumonia'), (4, 'Chr. Viral Hepat.'), (4, 'Mul. Valve Dis.'),
    (5, 'Gastritis'), (5, 'Flu'), (5, 'Chr. Viral Hepat.'), (5, 'Mul. Valve Dis.');
SELECT * FROM kanon.diversity_error('table6', 'id', 'disease', 'disease', 'table6', 1) ORDER BY grp;
SELECT * FROM kanon.diversity_error('table7', 'id', 'disease', 'disease', 'table7', 1) ORDER BY grp;

-- Ours from the rows of Table 6: all five groups are 2-dependent, and 2 is the most.
SELECT kanon.find_max_n('table6', 'disease', 'disease', 4);
SELECT grp, string_agg(general::text, ', ' ORDER BY general::text) AS classes
FROM kanon.n_dependency('table6', 'id', 'disease', 'disease', 4) GROUP BY grp ORDER BY grp;
SELECT * FROM kanon.diversity_error('table6', 'id', 'disease', 'disease',
    $$SELECT id, grp FROM kanon.n_dependency('table6', 'id', 'disease', 'disease', 4)$$, 1) ORDER BY grp;

-- The order of the rows in the table does not matter, the seed does.
CREATE TABLE reversed AS SELECT * FROM table6 ORDER BY id DESC;
SELECT count(*) AS different FROM kanon.anatomy('table6', 'id', 'disease', 4, 7) AS a
    JOIN kanon.anatomy('reversed', 'id', 'disease', 4, 7) AS b USING (id)
        WHERE (a.grp, a.sensitive) <> (b.grp, b.sensitive);
SELECT count(*) AS different FROM kanon.n_dependency('table6', 'id', 'disease', 'disease', 4, seed => 7) AS a
    JOIN kanon.n_dependency('reversed', 'id', 'disease', 'disease', 4, seed => 7) AS b USING (id)
        WHERE (a.grp, a.sensitive) <> (b.grp, b.sensitive);
SELECT count(*) > 0 AS different FROM kanon.anatomy('table6', 'id', 'disease', 4, 7) AS a
    JOIN kanon.anatomy('table6', 'id', 'disease', 4, 1) AS b USING (id) WHERE a.grp <> b.grp;
