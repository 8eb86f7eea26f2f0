-- Groups tell no more than the list of their sensitive values.
SET client_min_messages = warning;

-- An attacker knows the members of each group, the values of each group, and the algorithm, but not the seed. If two
-- ways to assign the values to the people of a group are not equally likely to lead to these groups, the attacker
-- learns something. Try all seeds of a range with the truth, and with two members swapped.
CREATE TABLE truth (id integer, sick text);
INSERT INTO truth VALUES (1, 'a'), (2, 'a'), (3, 'b'), (4, 'b'), (5, 'c'), (6, 'd'), (7, 'e');
CREATE VIEW swapped AS SELECT CASE id WHEN 1 THEN 3 WHEN 3 THEN 1 ELSE id END AS id, sick FROM truth;

CREATE FUNCTION likelihood(world text) RETURNS TABLE (groups text, seeds bigint) LANGUAGE sql AS $$
    SELECT groups, count(*) FROM generate_series(1, 4000) AS seed,
        LATERAL (SELECT string_agg(id || ':' || grp, ' ' ORDER BY id) AS groups,
            max(grp) FILTER (WHERE id = '1') = max(grp) FILTER (WHERE id = '3') AS together
                 FROM kanon.anatomy(world, 'id', 'sick', 3, seed)) AS g
    WHERE together GROUP BY groups
$$;
-- Where the swapped two share a group, each grouping is as likely in one world as in the other: the sum is
-- chi-square distributed with about as many degrees of freedom as there are groupings.
SELECT count(*) > 5 AS many_groupings,
    sum(power(coalesce(t.seeds, 0) - coalesce(s.seeds, 0), 2) / (coalesce(t.seeds, 0) + coalesce(s.seeds, 0)))
    < count(*) + 4 * sqrt(2 * count(*)) AS equally_likely
FROM likelihood('truth') AS t FULL JOIN likelihood('swapped') AS s USING (groups);

-- The same for n-dependency, where classes and not values are kept apart.
SELECT kanon.create_dgh('class');
INSERT INTO kanon.dgh_edge VALUES ('class', 'a', 'x'), ('class', 'b', 'y'), ('class', 'c', 'x'), ('class', 'd', 'y'),
    ('class', 'e', 'z');
CREATE OR REPLACE FUNCTION likelihood(world text) RETURNS TABLE (groups text, seeds bigint) LANGUAGE sql AS $$
    SELECT groups, count(*) FROM generate_series(1, 4000) AS seed,
        LATERAL (SELECT string_agg(id || ':' || grp, ' ' ORDER BY id) AS groups,
            max(grp) FILTER (WHERE id = '1') = max(grp) FILTER (WHERE id = '3') AS together
                 FROM kanon.n_dependency(world, 'id', 'sick', 'class', 2, 2, seed)) AS g
    WHERE together GROUP BY groups
$$;
SELECT count(*) > 5 AS many_groupings,
    sum(power(coalesce(t.seeds, 0) - coalesce(s.seeds, 0), 2) / (coalesce(t.seeds, 0) + coalesce(s.seeds, 0)))
    < count(*) + 4 * sqrt(2 * count(*)) AS equally_likely
FROM likelihood('truth') AS t FULL JOIN likelihood('swapped') AS s USING (groups);

-- An attacker who knows the seed can rule worlds out: most assignments would have led to other groups. That is why a
-- release is made without one, as publish_anatomy does, and as the functions do unless told otherwise.
CREATE TABLE pairs AS SELECT g AS id, chr(97 + g % 2) AS sick FROM generate_series(1, 8) AS g;
CREATE TABLE published AS SELECT * FROM kanon.anatomy('pairs', 'id', 'sick', 2, 1);
CREATE TABLE world (id text, sick text);
DO $$
DECLARE
    possible integer := 0;
    groups text := (SELECT string_agg(id || ':' || grp, ' ' ORDER BY id) FROM published);
BEGIN
    FOR mask IN 0 .. 15 LOOP
        DELETE FROM world;
        -- Groups whose bit is set have their two values exchanged.
        INSERT INTO world SELECT id, CASE WHEN mask >> (grp - 1) & 1 = 1 THEN translate(sensitive, 'ab', 'ba')
            ELSE sensitive END FROM published;
        possible := possible + ((SELECT string_agg(id || ':' || grp, ' ' ORDER BY id)
            FROM kanon.anatomy('world', 'id', 'sick', 2, 1)) = groups)::integer;
    END LOOP;
    RAISE WARNING 'known seed: fewer than 16 worlds remain: %', possible < 16;
END
$$;

-- Without a seed, two calls differ: seed null, seed 0, and none given.
CREATE VIEW thousand AS SELECT g AS id, 'v' || g AS s FROM generate_series(1, 1000) AS g;
SELECT kanon.create_dgh('flat');
INSERT INTO kanon.dgh_edge SELECT 'flat', s, 'class' || id % 100 FROM thousand;
CREATE FUNCTION differ(call text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM %s AS a JOIN %s AS b USING (id) WHERE a.grp <> b.grp', call, call) INTO n;
    RETURN n > 0;
END
$$;
SELECT call, differ('kanon.' || call) FROM unnest(ARRAY[
    $$anatomy('thousand', 'id', 's', 4, NULL)$$, $$anatomy('thousand', 'id', 's', 4, 0)$$,
    $$anatomy('thousand', 'id', 's', 4)$$, $$anatomy('thousand', 'id', 's', 4, 5)$$,
    $$n_dependency('thousand', 'id', 's', 'flat', 4, seed => NULL)$$,
    $$n_dependency('thousand', 'id', 's', 'flat', 4)$$,
    $$n_dependency('thousand', 'id', 's', 'flat', 4, seed => -5)$$]) AS call;

-- The published tables: guess each person's value from the place of the row among the rows of its group. "pin" stands
-- for quasi-identifiers that single people out; chance is one in four.
CREATE TABLE people AS SELECT g AS id, 1000000 + g AS pin, 'sick' || g % 20 AS sick FROM generate_series(1, 4000) AS g;
SELECT kanon.publish_anatomy('secret', 'people', 'id', '{pin}', 'sick', NULL, 4, NULL);
WITH q AS (SELECT pin, grp, row_number() OVER (PARTITION BY grp ORDER BY ctid) AS place FROM secret_qit),
    s AS (SELECT value, grp, row_number() OVER (PARTITION BY grp ORDER BY ctid) AS place FROM secret_st),
    guess AS (SELECT (p.sick = s.value)::integer AS hit FROM q JOIN s USING (grp, place) JOIN people AS p USING (pin))
SELECT count(*) AS guesses, abs(avg(hit) - 0.25) < 0.04 AS no_better_than_chance FROM guess;
-- The order of the rows is not that of the source, nor of the groups.
SELECT abs(corr(place, pin)) < 0.1 AS not_by_source, abs(corr(place, grp)) < 0.1 AS not_by_group
FROM (SELECT pin, grp, row_number() OVER (ORDER BY ctid) AS place FROM secret_qit) AS q;
SELECT abs(corr(place, grp)) < 0.1 AS not_by_group
    FROM (SELECT grp, row_number() OVER (ORDER BY ctid) AS place FROM secret_st) AS s;
-- Nor are the groups.
SELECT abs(corr(pin, grp)) < 0.1 AS not_by_source FROM secret_qit;
