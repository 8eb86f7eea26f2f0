-- Materialized A-views: bulk load, and queries with a condition on quasi-identifiers.  stored.sh measures single inserts.
CREATE FUNCTION make_table(name text, size int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('DROP TABLE IF EXISTS %I CASCADE', name);
    EXECUTE format('CREATE TABLE %I (id int PRIMARY KEY, age int, education text, marital text, occupation text, workclass text, race text, salary text, other int)', name);
    EXECUTE format('INSERT INTO %I SELECT id, age, education, marital, occupation, workclass, race, salary, other FROM many WHERE id <= %s', name, size);
END
$$;
CREATE FUNCTION make_stored(name text) RETURNS void LANGUAGE sql AS $$
    SELECT look('stored_' || name, 'SELECT * FROM ' || name, '{age,education,marital,occupation,workclass,race}', 10, 'materialized => true')
$$;
CREATE SEQUENCE ids START 10000000;
SELECT make_table('loaded', :rows / 5), make_table('bare', 0), make_table('empty', 0), make_stored('empty');
SELECT look('view_loaded', 'SELECT * FROM loaded', '{age,education,marital,occupation,workclass,race}', 10);
VACUUM ANALYZE loaded;
INSERT INTO query (name, query, before) VALUES
    ('stored create', 'SELECT make_stored(''loaded'')', 'DROP VIEW IF EXISTS stored_loaded'),
    ('stored load', 'INSERT INTO empty SELECT * FROM loaded', 'TRUNCATE empty'),
    ('bare load', 'INSERT INTO bare SELECT * FROM loaded', 'TRUNCATE bare');
INSERT INTO query (name, query, before) SELECT format('grown load %s', n), format('INSERT INTO empty SELECT * FROM loaded WHERE id <= %s', n), 'TRUNCATE empty' FROM unnest(ARRAY[:rows / 500, :rows / 50]) AS n;
CALL measure(least(:rounds, 3));
VACUUM ANALYZE;
CREATE TABLE condition AS
    SELECT c.* FROM loaded, LATERAL (VALUES (2, 'two', format('age = %s AND education = %L', age, education)), (3, 'three', format('age = %s AND education = %L AND occupation = %L', age, education, occupation)),
        (6, 'all', format('age = %s AND education = %L AND occupation = %L AND marital = %L AND workclass = %L AND race = %L', age, education, occupation, marital, workclass, race))) AS c (n, columns, c)
    WHERE id = 500;
INSERT INTO query SELECT format('%s %s', v, n), format('SELECT count(other) FROM %s_loaded WHERE %s', v, c) FROM condition, unnest('{view,stored}'::text[]) AS v;
INSERT INTO query VALUES ('logical', 'SELECT * FROM view_loaded'), ('stored', 'SELECT * FROM stored_loaded');
CALL measure(least(:rounds, 3));
SELECT put('stored', format('create the view of %s rows / full read of the logical one', :rows / 5), ms('stored create') / ms('logical'), 'x'),
    put('stored', format('load of %s rows / create the view over them', :rows / 5), ms('stored load') / ms('stored create'), 'x', '<= 5'),
    put('stored', format('load of %s rows / the same without a view', :rows / 5), ms('stored load') / ms('bare load'), 'x'),
    put('stored', 'full read, stored / logical', ms('stored') / ms('logical'), 'x');
SELECT put('stored', format('condition on %s quasi-identifiers: logical / stored', columns), ms('view ' || n) / ms('stored ' || n), 'x', CASE WHEN n = 6 AND :rows = 1000000 THEN '>= 20' ELSE '' END) FROM condition;
SELECT put('growth', format('load of %s rows into a materialized view, per row', n), 1e6 * ms(name) / n, 'ns')
FROM (VALUES (:rows / 500, format('grown load %s', :rows / 500)), (:rows / 50, format('grown load %s', :rows / 50)), (:rows / 5, 'stored load')) AS v (n, name);
