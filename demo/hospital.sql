-- A small hospital: its patients, their diseases, and hierarchies that make each value less precise.

CREATE EXTENSION IF NOT EXISTS kanon;

CREATE TABLE patient (
	name    text PRIMARY KEY,
	birth   date NOT NULL,
	zip     text NOT NULL,
	sex     text NOT NULL,
	disease text NOT NULL
);

INSERT INTO patient VALUES
	('Alice Moreau',   '1961-03-14', '13053', 'f', 'gastric ulcer'),
	('Bruno Keller',   '1964-11-02', '13068', 'm', 'gastritis'),
	('Carla Ricci',    '1968-07-29', '13068', 'f', 'gastritis'),
	('Daniel Novak',   '1969-01-08', '13053', 'm', 'stomach cancer'),
	('Elif Demir',     '1972-05-21', '14850', 'f', 'influenza'),
	('Frank Olsen',    '1974-09-17', '14853', 'm', 'bronchitis'),
	('Grace Adeyemi',  '1975-02-03', '14850', 'f', 'pneumonia'),
	('Hugo Lindqvist', '1979-12-24', '14853', 'm', 'influenza'),
	('Ines Costa',     '1981-06-11', '13053', 'f', 'angina'),
	('Jonas Weber',    '1983-10-30', '13053', 'm', 'heart attack'),
	('Katya Petrova',  '1986-04-19', '13068', 'f', 'bronchitis'),
	('Liam Byrne',     '1988-08-05', '13068', 'm', 'gastric ulcer');

-- A tree of labels has one row per edge. Fill it by INSERT or COPY.
SELECT kanon.create_dgh('disease');
INSERT INTO kanon.dgh_edge (dgh, child, parent) VALUES
	('disease', 'gastric ulcer',  'stomach disease'),
	('disease', 'gastritis',      'stomach disease'),
	('disease', 'stomach cancer', 'stomach disease'),
	('disease', 'influenza',      'lung disease'),
	('disease', 'bronchitis',     'lung disease'),
	('disease', 'pneumonia',      'lung disease'),
	('disease', 'angina',         'heart disease'),
	('disease', 'heart attack',   'heart disease');

-- Computed hierarchies need no rows.
SELECT kanon.create_date_dgh('birth', '{day,month,year,decade}');
SELECT kanon.create_prefix_dgh('zip', 5);

-- The anonymization view: names are hidden; birth date, zip code and sex are generalized until two people share them.
SELECT kanon.create_anonymization_view('patients',
	'SELECT name, birth, zip, sex, disease FROM patient',
	id => '{name}',
	quasi_ids => '{"birth": "birth", "zip": "zip", "sex": null}',
	sensitive => '{"disease": "disease"}',
	k => 2);

-- An analyst may read the view and nothing else.
DO $$ BEGIN CREATE ROLE kanon_demo_analyst; EXCEPTION WHEN duplicate_object THEN END $$;
GRANT SELECT ON patients TO kanon_demo_analyst;
