-- Figures 11 to 13: blocks, of one k and of many (a tenth of the people asks for 50, the others for 2 to 4).
CREATE TABLE asked_k AS SELECT id, CASE WHEN id % 10 = 0 THEN 50 ELSE 2 + id % 3 END AS k, 'research'::text AS purpose, 'university'::text AS recipient FROM few WHERE id <= :rows / 5;
ALTER TABLE asked_k ADD PRIMARY KEY (id);
ANALYZE asked_k;
SELECT kanon.grant_access(current_user, 'research', 'university');
SET kanon.purpose = 'research';
SET kanon.recipient = 'university';
CREATE TABLE block AS SELECT n, n::text AS size, 'block_size => ' || n AS argument FROM unnest('{1000,10000,50000}'::int[]) AS n UNION ALL VALUES (0, 'whole', '');
SELECT look(format('%s_%s', kind, n), 'SELECT f.id, age, education, marital, occupation, workclass, race, salary, a.k AS asked FROM few f JOIN asked_k a USING (id)',
    '{age,education,marital,occupation,workclass,race}', 50, concat_ws(', ', nullif(argument, ''), nullif(profile, '')), '{asked}')
FROM block, (VALUES ('single', ''), ('multi', $$profile => '{"table": "asked_k", "key": {"id": "id"}, "k": "k", "purpose": "purpose", "recipient": "recipient"}'$$)) AS p (kind, profile);
INSERT INTO query SELECT format('%s %s', kind, n), format('SELECT * FROM %s_%s', kind, n) FROM block, unnest('{single,multi}'::text[]) AS kind;
INSERT INTO query VALUES ('blocks group', 'SELECT age, education, marital, occupation, workclass, race, count(*) FROM few JOIN asked_k USING (id) GROUP BY 1, 2, 3, 4, 5, 6');
CALL measure(least(:rounds, 3));
-- The paper's k-deviation, per row: how many more share its group than it asked for.  Suppressed rows share nothing.
CREATE FUNCTION deviation(view text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    result float8;
BEGIN
    EXECUTE format('SELECT sum(n::float8 * n - asked) / sum(n) FROM (SELECT count(*) AS n, sum(asked) AS asked FROM %I
        WHERE concat(age, education, marital, occupation, workclass, race) <> ''******'' GROUP BY age, education, marital, occupation, workclass, race) AS g', view) INTO result;
    RETURN result;
END
$$;
SELECT put('blocks', format('%s-k, block %s: full read / GROUP BY', kind, size), ms(format('%s %s', kind, n)) / ms('blocks group'), 'x'),
    put('blocks', format('%s-k, block %s: k-deviation per row', kind, size), deviation(format('%s_%s', kind, n)), ''),
    put('blocks', format('%s-k, block %s: normalized NCP', kind, size), loss(format('%s_%s', kind, n), '{age,education,marital,occupation,workclass,race}'), '')
FROM unnest('{single,multi}'::text[]) AS kind, block;
RESET kanon.purpose;
RESET kanon.recipient;
