-- Views where each person has chosen: measured for the current purpose, and only by a role that may act for it.
\set dir `echo "$PG_ABS_SRCDIR"`
\set people :dir '/data/people.sql'
\i :people
\set SHOW_CONTEXT never
GRANT SELECT, INSERT, DELETE ON kanon.access_grant TO :"owner";
SET ROLE :"owner";
CREATE TABLE guest (who text PRIMARY KEY, age integer, town text, ill text);
INSERT INTO guest VALUES ('a', 21, 'Rome', 'flu'), ('b', 22, 'Rome', 'hiv'), ('c', 23, 'Rome', 'flu'),
	('d', 31, 'Rome', 'flu'), ('e', 32, 'Rome', 'hiv'),
	('open', 45, 'Rome', 'flu'), ('named', 55, 'Rome', 'hiv'), ('silent', 65, 'Rome', 'hiv');
CREATE TABLE wish (who text, purpose text, recipient text, k integer, PRIMARY KEY (who, purpose, recipient));
INSERT INTO wish VALUES ('a', 'study', 'lab', 3), ('b', 'study', 'lab', 2), ('c', 'study', 'lab', 2),
	('d', 'study', 'lab', 2), ('e', 'study', 'lab', 2),
	('open', 'study', 'lab', 1), ('named', 'study', 'lab', 0);
SELECT kanon.create_interval_dgh('tens', 0, '{10}');
SELECT kanon.create_anonymization_view('guests', 'SELECT * FROM guest', id => '{who}',
	quasi_ids => '{"age": "tens", "town": null}', sensitive => '{"ill": null}',
	profile => '{"table": "wish", "key": {"who": "who"}, "purpose": "purpose", "recipient": "recipient", "k": "k"}');
SET kanon.purpose = 'study';
SET kanon.recipient = 'lab';
-- Seven rows are shown: a group of three whose largest k is 3, one of two, two people in no group. No result mentions
-- the silent one.
SELECT rows, people, fate, box FROM kanon.tally('guests') WHERE "column" IS NULL ORDER BY box;
-- k_deviation: (3 - 3) + (3 - 2) + (3 - 2) and twice 2 - 2.  ncp: five rows lose a decade of the 34 years between 21
-- and 55, in one of two columns.
SELECT rows, published, suppressed, groups, min_group, avg_group, round(ncp::numeric, 6) AS ncp,
	round(5 * 10 / 34.0 / 14, 6) AS by_hand, dm, k_deviation FROM kanon.quality('guests');
SELECT "precision", recall FROM kanon.quality('guests', 'age = 45');
SELECT "precision", recall FROM kanon.quality('guests', $$who = 'named'$$);
-- The owner, too, needs a grant for functions that read the view itself.
SELECT count(*) FROM kanon.audit('guests');
SELECT kanon.grant_access(current_user::text, 'study', 'lab', 'guests');
SELECT topic, measure, value, severity FROM kanon.audit('guests') WHERE topic IN ('guarantee', 'uniques');
SELECT (regexp_match(kanon.report('guests'), '<div class="verdict (\w+)">([^<]*)<'))[2];
SELECT xml_is_well_formed_document(replace(kanon.report('guests'), '<!DOCTYPE html>', ''));
-- Another purpose has no choices: no row is published.
SET kanon.purpose = 'care';
SELECT rows, published FROM kanon.quality('guests');
SET kanon.purpose = 'study';

-- Classes are counted only for a role that may act for the purpose; a view on top changes nothing.
CREATE VIEW upper_guests AS SELECT age, town, ill FROM guests;
GRANT SELECT ON guests, upper_guests TO :"analyst";
SELECT k FROM kanon.k_anonymity('upper_guests', '{town}');
SET ROLE :"analyst";
SELECT count(*) FROM guests;
SELECT kanon.k_anonymity('guests', '{age,town}');
SELECT kanon.k_anonymity('upper_guests', '{age,town}');
SELECT kanon.violations('upper_guests', '{age,town}', 3);
SELECT kanon.linkage('upper_guests', 'upper_guests', '{age,town}');
RESET ROLE;
SELECT kanon.grant_access(:'analyst', 'study', 'lab', 'guests');
SET ROLE :"analyst";
SELECT k FROM kanon.k_anonymity('guests', '{age,town}');
SELECT k FROM kanon.k_anonymity('upper_guests', '{age,town}');
RESET ROLE;
DELETE FROM kanon.access_grant;
\set end :dir '/data/people_end.sql'
\i :end
