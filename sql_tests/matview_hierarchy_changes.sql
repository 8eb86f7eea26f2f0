-- A hierarchy that gets another level under a materialized view: its groups stay as they are, and new rows wait.
CREATE TABLE patient (id integer PRIMARY KEY, city text, disease text);
SELECT kanon.import_dgh('cities', '{Bern;*,Basel;*,Zug;*}');
INSERT INTO patient VALUES (1, 'Bern', 'flu'), (2, 'Basel', 'hiv'), (3, 'Bern', 'flu');
SELECT kanon.create_anonymization_view('kept', 'SELECT * FROM patient', id => '{id}', quasi_ids => '{"city": "cities"}',
	sensitive => '{"disease": null}', k => 2, materialized => true);
SELECT * FROM kept ORDER BY disease;
SELECT * FROM kanon.generalization_sequence('kept');

-- A leaf more below the root changes no step.
INSERT INTO kanon.dgh_edge VALUES ('cities', 'Thun', '*');
INSERT INTO patient VALUES (4, 'Thun', 'ulcer');
SELECT * FROM kept ORDER BY disease;

-- A level more does.
DELETE FROM kanon.dgh_edge WHERE dgh = 'cities' AND child = 'Bern';
INSERT INTO kanon.dgh_edge VALUES ('cities', 'Bern', 'west'), ('cities', 'west', '*');
SELECT * FROM kanon.generalization_sequence('kept');
INSERT INTO patient VALUES (5, 'Bern', 'flu'), (6, 'Zug', 'flu');
SELECT * FROM kept ORDER BY disease;
SELECT "group", size, quasi_ids FROM kanon.groups('kept') ORDER BY "group";
-- A row that goes leaves its group; one of which the sensitive value changes stays.
DELETE FROM patient WHERE id = 3;
UPDATE patient SET disease = 'cancer' WHERE id = 2;
SELECT * FROM kept ORDER BY disease;
SELECT "group", size, quasi_ids FROM kanon.groups('kept') ORDER BY "group";

-- A refresh forms no groups, unless earlier answers may be compared with later ones.
SELECT kanon.refresh('kept');
SELECT "group", size, quasi_ids FROM kanon.groups('kept') ORDER BY "group";
SELECT kanon.refresh('kept', earlier_answers_may_be_compared => true);
SELECT "group", size, quasi_ids FROM kanon.groups('kept') ORDER BY "group";
SELECT * FROM kept ORDER BY city::text, disease;
INSERT INTO patient VALUES (7, 'Bern', 'ulcer');
SELECT * FROM kept ORDER BY city::text, disease;
