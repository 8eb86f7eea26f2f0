-- The hierarchies that go with the Adult data are imported and exported again the same, from files and from lines.
-- KANON_DATA names the directory that has adult/adult_hierarchy_*.csv; without these files the test is skipped.
\set data `echo "$KANON_DATA"`
\set directory :data '/adult'
CREATE TEMP TABLE file AS SELECT name, :'directory' || '/' || name AS path
    FROM pg_ls_dir(:'directory', true, false) name WHERE name LIKE 'adult\_hierarchy\_%.csv';
SELECT count(*) = 0 AS skipped FROM file \gset
\if :skipped
    \echo skipped: there are no files adult/adult_hierarchy_*.csv in KANON_DATA
    \quit
\endif
SELECT name, kanon.import_dgh_file(name, path) AS leaves FROM file ORDER BY name;
SELECT count(kanon.import_dgh(name || ', lines', string_to_array(pg_read_file(path), E'\n'))) FROM file;
SELECT name, ARRAY(SELECT kanon.export_dgh(name)) = lines AS "from the file",
    ARRAY(SELECT kanon.export_dgh(name || ', lines')) = lines AS "from the lines"
FROM (SELECT name, string_to_array(regexp_replace(replace(pg_read_file(path), E'\r', ''), E'\n+$', ''), E'\n') AS lines
    FROM file) f ORDER BY name;
-- Every line is the path of its leaf.
SELECT count(*) AS lines, count(*) FILTER (WHERE q.path <> field) AS "not a path" FROM file,
    kanon.export_dgh(name) line,
    LATERAL (SELECT string_to_array(line, ';') AS field) f,
        LATERAL (SELECT array_agg(p.value::text ORDER BY level) AS path FROM kanon.dgh_path(name, field[1]) p) q;
