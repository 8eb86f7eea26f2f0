-- A policy in words, why something is hidden, and P3P.
CREATE TABLE patient (name text PRIMARY KEY, birth date, zip text, disease text, ward int);
INSERT INTO patient VALUES
    ('Ann', '1980-01-05', '13053', 'flu', 1), ('Bob', '1980-01-09', '13053', 'ulcer', 1),
    ('Cid', '1980-02-01', '13068', 'flu', 2),
    ('Dan', '1981-02-01', '13068', 'ulcer', 2), ('Eve', '1950-07-07', '99999', 'flu', 3),
    ('Fay', '1980-03-03', '13053', 'ulcer', 3),
    ('Gus', '1980-04-04', '13053', 'flu', 3), ('Hal', '1980-05-05', '13053', 'flu', 3);
CREATE TABLE choices (
    who text, purpose text, recipient text, k int, lvl int, show_birth bool, keep_ward timestamptz, keep_disease date,
    PRIMARY KEY (who, purpose, recipient));
INSERT INTO choices SELECT name, 'care', 'ward', 2, 0, true, '2999-01-01', '2999-01-01' FROM patient
    WHERE name <> 'Hal';
UPDATE choices SET show_birth = false WHERE who = 'Bob';
UPDATE choices SET keep_ward = '2001-01-01', keep_disease = '2001-01-01' WHERE who = 'Cid';
UPDATE choices SET k = 1 WHERE who = 'Dan';
UPDATE choices SET k = 5 WHERE who = 'Eve';
UPDATE choices SET k = 0, lvl = 1 WHERE who = 'Fay';
UPDATE choices SET k = NULL WHERE who = 'Gus';
SELECT kanon.create_date_dgh('birth', '{month,year}');
SELECT kanon.create_prefix_dgh('zip', 5);
SELECT kanon.create_dgh('disease');
INSERT INTO kanon.dgh_edge VALUES ('disease', 'flu', 'viral'), ('disease', 'ulcer', 'stomach');
SELECT kanon.create_anonymization_view('patients', 'SELECT * FROM patient', id => '{name}',
    quasi_ids => '{"birth": "birth", "zip": "zip"}',
    sensitive => '{"disease": "disease"}',
    profile => '{"table": "choices", "key": {"name": "who"}, "k": "k", "sa_level": "lvl",
    "purpose": "purpose", "recipient": "recipient", "disclose": {"birth": "show_birth"}, "retain": {"ward": "keep_ward",
        "disease": "keep_disease"}}', other => '{ward}');
SELECT kanon.create_anonymization_view('plain', 'SELECT * FROM patient', id => '{name}',
    quasi_ids => '{"birth": "birth"}', k => 3, l => 2, t => 0.5,
    sensitive => '{"disease": null}', match => 'witness', other => '{zip, ward}');
\pset format unaligned
\pset tuples_only
SELECT kanon.policy('patients');
SELECT kanon.grant_access('public', 'care', 'ward', 'patients');
SELECT kanon.policy('patients');
SELECT kanon.policy('plain');
SELECT kanon.policy('patient');

SET kanon.purpose = care;
SET kanon.recipient = ward;
SELECT * FROM patients ORDER BY birth, zip, name, disease, ward;
SELECT w.* FROM unnest('{Ann,Bob,Cid,Dan,Eve,Fay,Gus,Hal,Ida}'::text[]) WITH ORDINALITY n (name, nr),
    kanon.why_hidden('patients', name) w ORDER BY nr, w.row;
SELECT kanon.why_hidden('patients', 'Ann', 'Bob');
SELECT kanon.why_hidden('patients', NULL);
SELECT kanon.why_hidden('patient', 'Ann');
-- It is for the view's owner.
SELECT current_database() || '_officer' AS officer \gset
CREATE ROLE :"officer";
GRANT SELECT ON patients TO :"officer";
SET ROLE :"officer";
SELECT count(*) FROM patients;
SELECT kanon.why_hidden('patients', 'Ann');
SELECT kanon.purge_expired('patients');
SELECT kanon.grant_access('public', 'study', 'lab');
SELECT kanon.revoke_access('public', 'care', 'ward', 'patients');
SELECT * FROM kanon.access;
SELECT kanon.policy('plain');
RESET ROLE;

-- Retention that deletes: counted first, done when asked, and only where no purpose needs it any more.
SELECT * FROM kanon.purge_expired('patients');
SELECT * FROM patient WHERE name = 'Cid';
INSERT INTO choices VALUES ('Cid', 'study', 'lab', 2, 0, true, '2999-01-01', '1999-01-01');
SELECT * FROM kanon.purge_expired('patients');
SELECT * FROM kanon.purge_expired('patients', dry_run => false);
SELECT * FROM patient ORDER BY name;
SELECT * FROM kanon.purge_expired('patients', dry_run => false);
SELECT * FROM kanon.purge_expired('plain');

-- P3P 1.0.
SELECT * FROM kanon.import_p3p($$<POLICIES xmlns="http://www.w3.org/2002/01/P3Pv1"><POLICY name="hospital"
    discuri="http://hospital.example/p">
    <STATEMENT>
        <CONSEQUENCE>We treat you.</CONSEQUENCE>
        <PURPOSE><current/><individual-analysis required="opt-in"/><telemarketing
            required="perhaps"/><astrology/></PURPOSE>
        <RECIPIENT><ours/><public/></RECIPIENT>
        <RETENTION><stated-purpose/></RETENTION>
        <DATA-GROUP><DATA ref="#user.name"/><DATA ref="#user.bdate" optional="yes"/><DATA/></DATA-GROUP>
    </STATEMENT>
    <STATEMENT><PURPOSE><contact required="opt-out"/></PURPOSE><RECIPIENT><delivery/></RECIPIENT><DATA-GROUP><DATA
        ref="#user.home-info.postal"/></DATA-GROUP></STATEMENT>
    </POLICY></POLICIES>$$);
TABLE kanon.p3p_statement ORDER BY 1, 2, 3, 5, 7;
SELECT * FROM kanon.import_p3p('<POLICY name="hospital">
    <STATEMENT><PURPOSE><admin/></PURPOSE><RECIPIENT><same/></RECIPIENT><RETENTION><indefinitely/></RETENTION>
    <DATA-GROUP><DATA ref="#dynamic.clickstream"/></DATA-GROUP></STATEMENT></POLICY>');
TABLE kanon.p3p_statement;
SELECT * FROM kanon.import_p3p('<POLICY name="empty"/>');
SELECT * FROM kanon.import_p3p('<POLICY');
SELECT * FROM kanon.import_p3p('<a>&b;</a>');
TABLE kanon.p3p_statement;
SELECT kanon.drop_anonymization_view('patients');
DROP OWNED BY :"officer";
DROP ROLE :"officer";
