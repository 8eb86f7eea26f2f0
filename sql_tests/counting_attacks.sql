-- What an attacker gains where people and values are counted wrongly: a row whose identifier is missing, several rows
-- of
-- one person, values that only look different, values that cover others, and values that their owner hides.
SET kanon.measure_views = off;
\set ECHO all
SELECT kanon.create_dgh('ills');
INSERT INTO kanon.dgh_edge VALUES ('ills', 'hiv', 'infection'), ('ills', 'flu', 'infection'), ('ills', 'ulcer',
    'stomach');
SELECT kanon.create_interval_dgh('ages', 0, '{10}');
SELECT kanon.grant_access('public', 'care', 'ward');
SET kanon.purpose = care;
SET kanon.recipient = ward;

-- The groups of a view: their rows, and the sensitive values in them.
CREATE FUNCTION groups(view regclass, sensitive text) RETURNS TABLE (age text, rows bigint, shown text) LANGUAGE
    plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT age::text, count(*),
        string_agg(coalesce(%I::text, ''NULL''), '' '' ORDER BY %1$I::text COLLATE "C")
        FROM %s GROUP BY age ORDER BY age::text COLLATE "C"', sensitive, view);
END
$$;

-- A missing identifier may be anybody: the two people below 30 and a row of nobody are no group of three.
CREATE TABLE visit (person int, age int, ill text);
INSERT INTO visit VALUES (1, 21, 'hiv'), (2, 22, 'flu'), (NULL, 23, 'ulcer'), (3, 31, 'hiv'), (4, 32, 'flu'), (5, 33,
    'flu'),
    (NULL, 34, 'ulcer');
SELECT kanon.create_anonymization_view('three', 'SELECT * FROM visit', id => '{person}', quasi_ids => '{"age": "ages"}',
    sensitive => '{"ill": null}', k => 3);
SELECT * FROM groups('three', 'ill');
-- Its value is nobody's value, too: ulcer is not the third value of three people.
SELECT kanon.alter_anonymization_view('three', l => 3);
SELECT * FROM groups('three', 'ill');

-- Of several identifiers, none may be missing.
CREATE TABLE named (given text, family text, age int, ill text);
INSERT INTO named VALUES ('a', 'x', 21, 'hiv'), ('b', NULL, 21, 'flu'), (NULL, 'y', 21, 'ulcer');
SELECT kanon.create_anonymization_view('two_names', 'SELECT * FROM named', id => '{given,family}',
    quasi_ids => '{"age": "ages"}', sensitive => '{"ill": null}', k => 2);
SELECT * FROM groups('two_names', 'ill');

-- Three rows of one person are not three people's values: below 30, person 1 has all but one of them.
CREATE TABLE history (person int, age int, ill text);
INSERT INTO history VALUES (1, 21, 'hiv'), (1, 21, 'flu'), (1, 21, 'ulcer'), (2, 22, 'ulcer'), (3, 23, 'ulcer'),
    (4, 31, 'hiv'), (4, 31, 'flu'), (5, 32, 'flu'), (6, 33, 'ulcer');
SELECT kanon.create_anonymization_view('three_ills', 'SELECT * FROM history', id => '{person}',
    quasi_ids => '{"age": "ages"}', sensitive => '{"ill": null}', k => 3, l => 3);
SELECT * FROM groups('three_ills', 'ill');

-- A value that covers another is no other value: * beside hiv may be hiv.
CREATE TABLE wish (person int PRIMARY KEY, level int, shown bool);
CREATE TABLE patient (person int PRIMARY KEY, age int, ill text);
INSERT INTO patient VALUES (1, 21, 'hiv'), (2, 22, 'hiv'), (3, 23, 'hiv'), (4, 24, 'flu'), (5, 31, 'hiv'), (6, 32,
    'ulcer'),
    (7, 33, 'ulcer'), (8, 41, 'hiv'), (9, 42, 'flu'), (10, 43, NULL);
INSERT INTO wish SELECT person, CASE WHEN person IN (4, 7, 10) THEN 2 ELSE 0 END, person <> 9 FROM patient;
SELECT kanon.create_anonymization_view('levels', 'SELECT * FROM patient', id => '{person}', quasi_ids => '{"age":
    "ages"}',
    sensitive => '{"ill": "ills"}', k => 2, l => 2,
    profile => '{"table": "wish", "key": {"person": "person"}, "sa_level": "level"}');
SELECT * FROM groups('levels', 'ill');
-- NULL is a leaf like any other: from level 1 on, it is published as the root.  Without l:
SELECT kanon.create_anonymization_view('shown', 'SELECT * FROM patient', id => '{person}', quasi_ids => '{"age":
    "ages"}',
    sensitive => '{"ill": "ills"}', k => 2,
    profile => '{"table": "wish", "key": {"person": "person"}, "sa_level": "level"}');
SELECT * FROM groups('shown', 'ill');
-- A value that its owner hides is none: hiv would stand alone in the forties.
SELECT kanon.create_anonymization_view('hiding', 'SELECT * FROM patient', id => '{person}', quasi_ids => '{"age":
    "ages"}',
    sensitive => '{"ill": null}', k => 2, l => 2,
    profile => '{"table": "wish", "key": {"person": "person"}, "disclose": {"ill": "shown"}}');
SELECT * FROM groups('hiding', 'ill');
-- Stored groups cannot know what will be hidden.
SELECT kanon.create_anonymization_view('stored', 'SELECT * FROM patient', id => '{person}', quasi_ids => '{"age":
    "ages"}',
    sensitive => '{"ill": null}', k => 2, l => 2, materialized => true,
    profile => '{"table": "wish", "key": {"person": "person"}, "disclose": {"ill": "shown"}}');
SELECT kanon.create_anonymization_view('stored', 'SELECT * FROM patient', id => '{person}', quasi_ids => '{"age":
    "ages"}',
    sensitive => '{"ill": null}', l => 2, materialized => true,
    profile => '{"table": "wish", "key": {"person": "person"}, "k": "level", "purpose": "shown"}');

-- Values that the column calls equal are one value, and people whom it calls equal are one person.
CREATE TABLE scale (person numeric, age int, dose numeric, wait interval, taken timestamp, gram float8);
INSERT INTO scale VALUES (1, 21, 100, '1 mon', '2026-01-01 08:00', 0), (2, 22, 100.0, '30 days', '2026-01-01 08:00',
    '-0'),
    (3, 31, 100, '1 mon', '2026-01-01 08:00', 0), (4, 32, 200, '2 mon', '2026-01-01 09:00', 1), (5, 41, 1, '1 day',
    now(), 3),
    (5.0, 42, 2, '2 days', now(), 4);
SELECT c.name, kanon.create_anonymization_view(c.name, format('SELECT person, age, %I FROM scale', c.name), id =>
    '{person}',
    quasi_ids => '{"age": "ages"}', sensitive => jsonb_build_object(c.name, null), k => 2, l => 2)
    FROM unnest('{dose,wait,taken,gram}'::text[]) AS c (name);
SELECT * FROM groups('dose', 'dose');
SELECT * FROM groups('wait', 'wait');
SELECT age, count(*), count(DISTINCT taken) FROM taken GROUP BY age ORDER BY age::text;
SELECT * FROM groups('gram', 'gram');

-- Stored groups: a change that leaves equal values only, or takes the other value away, dissolves the group.
CREATE TABLE stay (person int PRIMARY KEY, age int, dose numeric);
INSERT INTO stay VALUES (1, 21, 100), (2, 22, 200), (3, 31, 100), (4, 32, 300), (5, 41, 100), (6, 42, 400), (7, 43,
    100.0);
SELECT kanon.create_anonymization_view('stays', 'SELECT * FROM stay', id => '{person}', quasi_ids => '{"age": "ages"}',
    sensitive => '{"dose": null}', k => 2, l => 2, materialized => true);
SELECT * FROM groups('stays', 'dose');
UPDATE stay SET dose = 100.00 WHERE person = 2;
SELECT * FROM groups('stays', 'dose');
DELETE FROM stay WHERE person = 6;
SELECT * FROM groups('stays', 'dose');
INSERT INTO stay VALUES (8, 44, 100.0), (9, 45, 500);
SELECT * FROM groups('stays', 'dose');

-- They publish NULL from level 1 on as the root, too.
SELECT kanon.create_anonymization_view('stored', 'SELECT * FROM patient', id => '{person}',
    quasi_ids => '{"age": "ages"}', sensitive => '{"ill": "ills"}', k => 2, materialized => true,
    profile => '{"table": "wish", "key": {"person": "person"}, "sa_level": "level"}');
SELECT * FROM groups('stored', 'ill');

-- The auditor counts in the same way: people, and their values.
SELECT box, rows, people, diverse FROM kanon.tally('shown') WHERE "column" IS NULL ORDER BY box::text;
SELECT kanon.create_anonymization_view('plain', 'SELECT * FROM history', id => '{person}',
    quasi_ids => '{"age": "ages"}', sensitive => '{"ill": null}', k => 2);
SELECT box, rows, people, diverse FROM kanon.tally('plain') WHERE "column" IS NULL ORDER BY box::text;
SELECT value FROM kanon.audit('plain') WHERE topic = 'diversity' AND measure LIKE 'different%';
SELECT kanon.create_anonymization_view('two', 'SELECT * FROM visit', id => '{person}', quasi_ids => '{"age": "ages"}',
    sensitive => '{"ill": null}', k => 2);
SELECT box, rows, people, diverse FROM kanon.tally('two') WHERE "column" IS NULL ORDER BY box::text;
-- Beside a sensitive column that is generalized, k_anonymity drops values that cover others.
SELECT l_distinct FROM kanon.k_anonymity('shown', '{age}', 'ill');
-- Rows of nobody are a person at most.
SELECT min_group FROM kanon.quality('two_names');
SELECT kanon.create_anonymization_view('nobody', 'SELECT * FROM named', id => '{given,family}',
    quasi_ids => '{"age": null}', k => 1);
SELECT groups, min_group FROM kanon.quality('nobody');

-- A column beside the quasi-identifiers that leaves a group of 1 is critical, and so is the verdict; neither is green
-- beside a person who is alone.
CREATE TABLE staff (person int PRIMARY KEY, age int, shade text);
INSERT INTO staff SELECT i, 20 + i % 5, (ARRAY['red', 'blue', 'green'])[1 + (i / 5) % 3] FROM generate_series(1, 30) i;
UPDATE staff SET shade = 'blue' WHERE person % 5 = 0 AND shade = 'green';
UPDATE staff SET shade = 'green' WHERE person = 5;
SELECT kanon.create_anonymization_view('staff_view', 'SELECT * FROM staff', id => '{person}', quasi_ids => '{"age":
    null}',
    k => 5, other => '{shade}');
SELECT subject, measure, value, severity FROM kanon.audit('staff_view', 1) WHERE topic = 'undeclared' ORDER BY measure;
SELECT (regexp_match(kanon.report('staff_view', 1), '<div class="verdict (\w+)">([^<]*)<'))[1:2];
SELECT kanon.report_verdict('{}', 7, 1, NULL), kanon.report_verdict('{}', 7, 5, 5);

-- Releases: the type's equality decides, not the text.
SELECT l, (SELECT string_agg(DISTINCT members, ' | ') FROM (SELECT string_agg(id, ' ' ORDER BY id) AS members
    FROM kanon.mondrian('SELECT person, age, dose FROM scale WHERE person < 5', 'person', '{"age": null}', k => 2,
        sensitive => 'dose', l => l) GROUP BY grp) g) FROM unnest('{1,2}'::int[]) l;
SELECT kanon.mondrian('SELECT person, age, gram FROM scale WHERE age < 30', 'person', '{"age": null}', k => 2,
    sensitive => 'gram',
    l => 2);
SELECT kanon.topdown('SELECT person, age, wait FROM scale WHERE age < 30', 'person', '{"age": null}', k => 2,
    sensitive => 'wait',
    l => 2);
SELECT * FROM kanon.anatomy('SELECT person, dose FROM scale WHERE age < 30', 'person', 'dose', l => 2);
SELECT kanon.mondrian('scale', 'person', '{"age": null}', k => 2);
SELECT kanon.create_dgh('doses');
INSERT INTO kanon.dgh_edge VALUES ('doses', '100', 'some'), ('doses', '100.0', 'much'), ('doses', '200', 'much'),
    ('doses', '1', 'some'), ('doses', '2', 'some');
SELECT * FROM kanon.n_dependency('SELECT person::int, dose FROM scale WHERE age < 40', 'person', 'dose', 'doses', l =>
    2);
SELECT * FROM kanon.plain_k('SELECT person, age, dose FROM scale WHERE age < 40', 'person', '{"age": null}',
    '{"dose": "doses"}', k => 2, p => 0.5, d => 1);
-- Of values that are generalized already, those that cover others are no values.
CREATE TABLE handed_on AS SELECT row_number() OVER (ORDER BY age::text, ill::text) AS id, age::text, ill FROM shown;
SELECT kanon.mondrian('SELECT id, age, ill FROM handed_on WHERE age = ''[20,30)''', 'id', '{"age": null}', k => 2,
    sensitive => 'ill', l => 2);
SELECT * FROM kanon.anatomy('SELECT id, ill FROM handed_on WHERE age = ''[30,40)''', 'id', 'ill', l => 2);
