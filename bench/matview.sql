-- Called by bench/matview with :largest: people, hierarchies, and how to make tables and views of them.
SET client_min_messages = warning;
CREATE EXTENSION kanon;
SELECT kanon.create_interval_dgh('ages', 0, '{5, 10, 20, 40}'), kanon.create_prefix_dgh('zips', 5),
    kanon.import_dgh('educations', (SELECT array_agg(format('education %s;some %s;%s;*', i, i / 4, i / 8)) FROM generate_series(0, 15) AS i)),
    kanon.import_dgh('occupations', (SELECT array_agg(format('occupation %s;some %s;*', i, i / 4)) FROM generate_series(0, 13) AS i)) \g /dev/null
CREATE SEQUENCE ids;
SELECT setseed(0.5) \g /dev/null
CREATE TABLE people AS
    SELECT nextval('ids')::int AS id, least(99, greatest(0, (50 + 20 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()))::int)) AS age,
        lpad((greatest(1, (20000 ^ random())::int) * 7919 % 100000)::text, 5, '0') AS zip, CASE WHEN random() < 0.5 THEN 'm' ELSE 'f' END AS sex,
        'education ' || least(15, greatest(0, (8 + 3 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()))::int)) AS education,
        'occupation ' || (random() * 13)::int AS occupation, 'disease ' || (random() * 7)::int AS disease, (random() * 1000)::int AS other
    FROM generate_series(1, :largest);
CREATE FUNCTION make_table(name text, size int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('DROP TABLE IF EXISTS %I CASCADE', name);
    EXECUTE format('CREATE TABLE %I (id int PRIMARY KEY, age int, zip text, sex text, education text, occupation text, disease text, other int)', name);
    EXECUTE format('INSERT INTO %I SELECT * FROM people LIMIT %s', name, size);
END
$$;
CREATE FUNCTION make_view(name text, materialized bool) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM kanon.create_anonymization_view((CASE WHEN materialized THEN 'stored_' ELSE 'view_' END) || name, format('SELECT * FROM %I', name),
        id => '{id}', quasi_ids => '{"age": "ages", "zip": "zips", "sex": null, "education": "educations", "occupation": "occupations"}',
        sensitive => '{"disease": null}', k => 10, materialized => materialized);
END
$$;
SELECT make_table('loaded', :largest), make_view('loaded', false) \g /dev/null
VACUUM ANALYZE loaded;
