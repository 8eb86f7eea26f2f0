-- Figures 14 and 15: the two plans over selectivity, and the planner's choice between them, for tables of growing size.
-- A condition is on another column, or on quasi-identifiers.
CREATE TABLE asked (size int, rows int, condition text);
DO $$
DECLARE
    n int;
BEGIN
    FOR n IN SELECT * FROM unnest('{100,1000,10000,100000,1000000}'::int[]) AS s WHERE s <= current_setting('bench.rows')::int LOOP
        EXECUTE format('CREATE TABLE sized_%1$s AS SELECT * FROM few WHERE id <= %1$s', n);
        EXECUTE format('UPDATE sized_%1$s SET other = id %% (%1$s / 10)', n);
        EXECUTE format('ALTER TABLE sized_%1$s ADD PRIMARY KEY (id)', n);
        EXECUTE format('CREATE INDEX ON sized_%1$s (other)', n);
        EXECUTE format('CREATE INDEX ON sized_%1$s (age, education, occupation, marital, workclass, race)', n);
        PERFORM look(format('view_sized_%s', n), format('SELECT id, age, education, marital, occupation, workclass, race, salary, other FROM sized_%s', n),
            '{age,education,marital,occupation,workclass,race}', 5);
        INSERT INTO asked SELECT n, s, format('other < %s', s / 10) FROM unnest('{10,30,100,300,1000,3000,10000,100000}'::int[]) AS s WHERE s <= n / 3;
        EXECUTE format('INSERT INTO asked SELECT %1$s, NULL, format(''age = %%s AND education = %%L AND occupation = %%L'', age, education, occupation) FROM sized_%1$s WHERE id = %1$s / 2', n);
    END LOOP;
END
$$;
VACUUM ANALYZE;
INSERT INTO query SELECT format('%s %s %s', plan, size, rows), format('SELECT * FROM view_sized_%s WHERE %s', size, condition), jsonb_build_object('kanon.plan', plan)
    FROM asked, unnest('{select_first,anonymize_first,auto}'::text[]) AS plan ORDER BY size, rows;
CALL measure(:rounds);
SELECT put('crossover', format('%s of %s: anonymize first / select first', coalesce(rows || ' rows', 'one combination'), size), anonymize / selected, 'x', CASE WHEN rows = 10 AND size = 1000000 THEN '>= 50' ELSE '' END),
    put('crossover', format('%s of %s: planner''s choice / the better plan', coalesce(rows || ' rows', 'one combination'), size), auto / least(anonymize, selected), 'x', '<= 1.2')
FROM (SELECT size, rows, ms(format('anonymize_first %s %s', size, rows)) AS anonymize, ms(format('select_first %s %s', size, rows)) AS selected,
    ms(format('auto %s %s', size, rows)) AS auto FROM asked) AS a ORDER BY size, rows;
