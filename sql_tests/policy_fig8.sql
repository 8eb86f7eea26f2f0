-- Fig. 8 of the paper: patients and their choices, for a nurse's treatment. Our reading: the query's answer is that of
-- the
-- whole anonymized table (the paper's Algorithm I; Algorithm II's under match => 'witness'), and a value that its owner
-- does
-- not disclose is found by no condition. The scan of Fig. 1 lost its trees: the figure's groups come out if the two zip
-- codes
-- that begin with 89 meet at the root only.
CREATE TABLE patient (name text PRIMARY KEY, birth int, zipcode text, disease text);
INSERT INTO patient VALUES
    ('P1', 1984, '88512', 'ulcer'), ('P2', 1988, '88540', 'indigestion'), ('P3', 1979, '88541', 'fever'),
    ('P4', 1975, '89321', 'fever'), ('P5', 1977, '89344', 'pneumonia');
CREATE TABLE choices (
    name text, name_op bool, birth_op bool, zipcode_op bool, k int, sa_level int, purpose text, recipient text,
    PRIMARY KEY (name, purpose, recipient));
INSERT INTO choices VALUES
    ('P1', false, false, true, 2, 1, 'Treatment', 'Nurse'), ('P2', true, true, true, 2, 0, 'Treatment', 'Nurse'),
    ('P3', false, false, true, 3, 1, 'Treatment', 'Nurse'), ('P4', true, true, true, 2, 1, 'Treatment', 'Nurse'),
    ('P5', true, true, true, 2, 0, 'Treatment', 'Nurse');
SELECT kanon.create_interval_dgh('birth', 1900, '{10}');
SELECT kanon.create_dgh('zipcode');
SELECT kanon.create_dgh('disease');
INSERT INTO kanon.dgh_edge VALUES
    ('zipcode', '88512', '88***'), ('zipcode', '88540', '88***'), ('zipcode', '88541', '88***'),
    ('zipcode', '89321', '8932*'), ('zipcode', '89344', '8934*'),
    ('disease', 'ulcer', 'stomach-disease'), ('disease', 'indigestion', 'stomach-disease'),
    ('disease', 'fever', 'viral-disease'),
    ('disease', 'pneumonia', 'respiratory-disease');
SELECT kanon.create_anonymization_view('patient_aview', 'SELECT * FROM patient', id => '{name}',
    quasi_ids => '{"birth": "birth", "zipcode": "zipcode"}', sensitive => '{"disease": "disease"}',
    profile => '{"table": "choices", "key": {"name": "name"}, "k": "k", "sa_level": "sa_level", "purpose": "purpose",
        "recipient": "recipient", "disclose": {"name": "name_op", "birth": "birth_op", "zipcode": "zipcode_op"}}');
SELECT * FROM kanon.generalization_sequence('patient_aview');

-- No role reads it without a purpose and a recipient, not even its owner.
SELECT * FROM patient_aview;
SET kanon.purpose = 'Treatment';
SET kanon.recipient = 'Nurse';
SELECT * FROM patient_aview;
SELECT kanon.grant_access(current_user, 'Treatment', 'Nurse');

-- Anonymization and limited disclosure: the whole table.
SELECT * FROM patient_aview ORDER BY zipcode, disease, birth;
-- The query: 88512 may be in every row.
SELECT * FROM patient_aview WHERE zipcode = '88512' ORDER BY zipcode, disease, birth;
-- The same by the other plan, and by none.
SET kanon.plan = select_first;
SELECT * FROM patient_aview WHERE zipcode = '88512' ORDER BY zipcode, disease, birth;
SET kanon.plan = function;
SELECT * FROM patient_aview WHERE zipcode = '88512' ORDER BY zipcode, disease, birth;
RESET kanon.plan;
-- Algorithm II: the groups with a member whose zip code it is.
SELECT kanon.alter_anonymization_view('patient_aview', match => 'witness');
SELECT * FROM patient_aview WHERE zipcode = '88512' ORDER BY zipcode, disease, birth;
SET kanon.plan = select_first;
SELECT * FROM patient_aview WHERE zipcode = '88512' ORDER BY zipcode, disease, birth;
RESET kanon.plan;
-- A value that its owner does not disclose is found by no condition: P1 alone was born in 1984, and does not let it be
-- seen.
SELECT * FROM patient_aview WHERE birth = '1984' ORDER BY zipcode, disease, birth;
SELECT * FROM patient_aview WHERE birth IS NULL ORDER BY zipcode, disease, birth;
EXPLAIN (COSTS OFF) SELECT * FROM patient_aview WHERE zipcode = '88512';

-- The paper's statement for it: purpose and recipient are the columns of that name, the key that of the profile
-- column's.
DO LANGUAGE kanon $$
    CREATE ANONYMIZATION_VIEW patient_stated ON SELECT name, birth, zipcode, disease FROM patient
    WITH ANONYMIZATION_ID name ANONYMIZATION_QUASI_ID birth DGH_NAME birth, zipcode DGH_NAME zipcode
    ANONYMIZATION_SENSITIVE_ATTR disease DGH_NAME disease
    name REFERENCES choices(k, sa_level);
$$;
SELECT * FROM patient_stated ORDER BY zipcode, disease, birth;
-- Choices of a view without quasi-identifiers: all its columns are shown, and none of the choices.
SELECT kanon.create_anonymization_view('diseases', 'SELECT name, disease FROM patient', id => '{name}',
    sensitive => '{"disease": "disease"}',
    profile => '{"table": "choices", "key": {"name": "name"}, "k": "k", "sa_level": "sa_level", "purpose": "purpose", '
        '"recipient": "recipient", "disclose": {"disease": "birth_op"}}');
SELECT * FROM diseases ORDER BY disease;
