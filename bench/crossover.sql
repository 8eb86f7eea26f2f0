-- Figures 14 and 15: the two plans over selectivity, and the planner's choice between them, for tables of growing size.
-- A condition is on another column, or on quasi-identifiers.  At 100,000 rows also: many combinations, no index to find
-- cells by, Mondrian.
CREATE TABLE asked (name text, size int, rows int, condition text);
CREATE FUNCTION size_up(kind text, n int, indexed bool, more text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name text := format('%s%s%s_%s', kind, CASE WHEN indexed THEN '' ELSE '_unindexed' END, CASE WHEN more = '' THEN '' ELSE '_mondrian' END, n);
BEGIN
    EXECUTE format('CREATE TABLE sized_%1$s AS SELECT id, age, education, marital, occupation, workclass, race, salary, id %% (%2$s / 10) AS other FROM %3$s WHERE id <= %2$s', name, n, kind);
    EXECUTE format('ALTER TABLE sized_%s ADD PRIMARY KEY (id)', name);
    EXECUTE format('CREATE INDEX ON sized_%s (other)', name);
    IF indexed THEN
        EXECUTE format('CREATE INDEX ON sized_%s (age, education, occupation, marital, workclass, race)', name);
    END IF;
    PERFORM look('view_sized_' || name, 'SELECT * FROM sized_' || name, '{age,education,marital,occupation,workclass,race}', 5, more);
    INSERT INTO asked SELECT name, n, s, format('other < %s', s / 10) FROM unnest('{10,30,100,300,1000,3000,10000,100000}'::int[]) AS s
        WHERE s <= n / 3 AND (name = 'few_' || n OR s IN (10, 100, 10000));
    EXECUTE format('INSERT INTO asked SELECT %2$L, %1$s, NULL, format(''age = %%s AND education = %%L AND occupation = %%L'', age, education, occupation) FROM sized_%2$s WHERE id = %1$s / 2', n, name);
END
$$;
SELECT size_up('few', s, true, '') FROM unnest('{100,1000,10000,100000,1000000}'::int[]) AS s WHERE s <= :rows;
SELECT size_up('many', 100000, true, ''), size_up('many', 100000, false, ''), size_up('many', 100000, true, 'algorithm => ''mondrian''');
VACUUM ANALYZE;
INSERT INTO query SELECT format('%s %s %s', plan, name, rows), format('SELECT * FROM view_sized_%s WHERE %s', name, condition), jsonb_build_object('kanon.plan', plan)
    FROM asked, unnest('{select_first,anonymize_first,auto}'::text[]) AS plan ORDER BY size, name, rows;
CALL measure(:rounds);
CREATE TABLE crossed AS SELECT *, auto / least(anonymize, selected) AS ratio
FROM (SELECT *, ms(format('anonymize_first %s %s', name, rows)) AS anonymize, ms(format('select_first %s %s', name, rows)) AS selected,
    ms(format('auto %s %s', name, rows)) AS auto FROM asked) AS a;
SELECT put('crossover', format('%s of %s: anonymize first / select first', coalesce(rows || ' rows', 'one combination'), translate(name, '_', ' ')), anonymize / selected, 'x', CASE WHEN rows = 10 AND size = 1000000 THEN '>= 50' ELSE '' END),
    put('crossover', format('%s of %s: planner''s choice / the better plan', coalesce(rows || ' rows', 'one combination'), translate(name, '_', ' ')), ratio, 'x', '<= 1.2')
FROM crossed ORDER BY size, name, rows;
SELECT put('crossover', format('planner''s choice / the better plan, worst of %s', count(*)), max(ratio), 'x') FROM crossed;
