-- The cost of profiles: a view of the same rows without a profile, and with one of as many rows as the table has. It
-- includes the shuffling of the joined rows.
CREATE TABLE choices AS SELECT id AS who, 'care'::text AS purpose, 'ward'::text AS recipient, 2 + id % 5 AS k, id % 2 AS lvl, id % 10 > 0 AS ok, timestamptz '2999-01-01' AS till FROM few;
ALTER TABLE choices ADD PRIMARY KEY (who, purpose, recipient);
VACUUM ANALYZE choices;
SELECT look('chosen', 'SELECT id, age, education, marital, occupation, workclass, race, salary, other FROM few', '{age,education,marital,occupation,workclass,race}', 5,
    $$profile => '{"table": "choices", "key": {"id": "who"}, "k": "k", "sa_level": "lvl", "purpose": "purpose", "recipient": "recipient", "disclose": {"age": "ok"}, "retain": {"salary": "till"}}'$$);
SELECT kanon.grant_access('public', 'care', 'ward');
SET kanon.purpose = care;
SET kanon.recipient = ward;
INSERT INTO query VALUES
    ('scan', 'SELECT * FROM few'),
    ('join with choices', 'SELECT * FROM few LEFT JOIN choices ON who = id AND purpose = ''care'' AND recipient = ''ward'''),
    ('plain all', 'SELECT * FROM view_few'), ('chosen all', 'SELECT * FROM chosen'),
    ('plain count', 'SELECT education, count(*) FROM view_few GROUP BY education'), ('chosen count', 'SELECT education, count(*) FROM chosen GROUP BY education'),
    ('plain 10', 'SELECT * FROM view_few WHERE other = 777'), ('chosen 10', 'SELECT * FROM chosen WHERE other = 777');
CALL measure(least(:rounds, 3));
SELECT put('profile', 'full read with a profile / without', ms('chosen all') / ms('plain all'), 'x', '<= 2.5'),
    put('profile', 'aggregate with a profile / without', ms('chosen count') / ms('plain count'), 'x', '<= 2.5'),
    put('profile', '10 rows with a profile / without', ms('chosen 10') / ms('plain 10'), 'x'),
    put('profile', 'the join with the choices / scan', ms('join with choices') / ms('scan'), 'x'),
    put('profile', 'full read with a profile / full read without, and that join', ms('chosen all') / (ms('plain all') + ms('join with choices')), 'x');
RESET kanon.purpose;
RESET kanon.recipient;
