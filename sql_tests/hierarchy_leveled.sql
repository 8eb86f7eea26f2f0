-- Leveled hierarchies, as other tools exchange them: import, export, and the errors of a line.
\pset format unaligned
\pset footer off

CREATE FUNCTION error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ': ' || SQLERRM;
END
$$;
-- Does a hierarchy give back the lines that it was imported from?
CREATE FUNCTION comes_back(lines text[]) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    result bool;
BEGIN
    PERFORM kanon.import_dgh('comes back', lines);
    result := lines = ARRAY(SELECT kanon.export_dgh('comes back'));
    PERFORM kanon.drop_dgh('comes back');
    RETURN result;
END
$$;

-- The order of lines is the order of leaves; neither that of labels nor of numbers.
SELECT kanon.import_dgh('salary', '{>50K;any;*,<=50K;any;*,0;none;*,?;none;*}');
SELECT kanon.export_dgh('salary');
SELECT l, kanon.generalize('salary', '>50K', l) FROM generate_series(0, 2) l;
-- A blank end, a byte of the other system's line ends, a leaf that comes twice.
SELECT kanon.import_dgh('blank', ARRAY[E'a;x\r', E'b;y\r', E'a;x\r', '', ' ', NULL]);
SELECT kanon.export_dgh('blank');

-- Siblings need not stand together.
SELECT comes_back('{a;p;*,b;q;*,c;p;*,d;q;*}');

-- Several roots get one, and their lines a field more; leaves of different depth end with the root.
SELECT kanon.import_dgh('uneven', '{a;x;y;root,b;b;y;root,c;root;root;root,d;d;d;d}');
SELECT kanon.export_dgh('uneven');
-- A leaf that stays as it is on all levels stands below the root.
SELECT kanon.import_dgh('alone', '{d;d;d}'), kanon.import_dgh('two', '{d;d,a;x,b;y}'),
    kanon.import_dgh('inner', '{d;d,a;d}');
SELECT kanon.export_dgh('alone') UNION ALL SELECT kanon.export_dgh('two') UNION ALL SELECT kanon.export_dgh('inner');
SELECT kanon.import_dgh('flat', '{red,green,blue}'), kanon.import_dgh('none', '{}');
SELECT kanon.export_dgh('flat');
SELECT count(*) FROM kanon.export_dgh('none') AS "lines of none";
-- An exported hierarchy is imported and exported unchanged.
SELECT name, comes_back(ARRAY(SELECT kanon.export_dgh(name))) FROM unnest('{salary,blank,uneven,flat}'::text[]) name;

-- Quotes, separators, line ends, blanks, other letters.
SELECT kanon.import_dgh('quoted', ARRAY['"a;b";"say ""hi""";*', 'it''s;plain "quotes" inside;*', '" ";"line' || E'\n'
    || 'end";*', 'ß→é;日本;*', ' blanks ; kept ;*', E'"end\r";x;*', '"";y;*']);
SELECT kanon.import_dgh('quoted', ARRAY['"a;b";"say ""hi""";*', 'it''s;plain "quotes" inside;*', '" ";"line' || E'\n'
    || 'end";*', 'ß→é;日本;*', ' blanks ; kept ;*', E'"end\r";x;*']);
SELECT kanon.export_dgh('quoted');
SELECT comes_back(ARRAY(SELECT kanon.export_dgh('quoted')));
SELECT kanon.generalize('quoted', 'a;b', 1), kanon.generalize('quoted', 'it''s', 1), kanon.generalize('quoted', ' ', 1),
    kanon.generalize('quoted', 'ß→é', 1), kanon.generalize('quoted', ' blanks ', 1),
    kanon.generalize('quoted', E'end\r', 1);

-- Trees of random labels come back, with any characters in them.
DO $$
DECLARE
    alphabet text[] := ARRAY['a', 'b', ';', '"', '*', ' ', '''', '\', 'é', '日', E'\t', ',', '1', '-'];
    lines text[];
    line text;
    label text;
    failed int := 0;
BEGIN
    PERFORM setseed(0.25);
    FOR tree IN 1 .. 200 LOOP
        lines := '{}';
        FOR leaf IN 1 .. 1 + (random() * 8)::int LOOP
            label := '';
            FOR i IN 1 .. 1 + (random() * 4)::int LOOP
                label := label || alphabet[1 + floor(random() * array_length(alphabet, 1))];
            END LOOP;
            -- Unique, and in quotes only where it has to be.
            label := label || leaf;
            line := CASE WHEN label ~ '^"|;' THEN '"' || replace(label, '"', '""') || '"' ELSE label END;
            lines := lines || (line || ';group ' || (leaf % 3) || ';*');
        END LOOP;
        IF NOT comes_back(lines) THEN
            failed := failed + 1;
            RAISE NOTICE '% does not come back', lines;
        END IF;
    END LOOP;
    RAISE NOTICE 'of 200 trees, % do not come back', failed;
END
$$;

-- Bad lines are named.
SELECT kanon.import_dgh('taken', '{a;*}');
SELECT lines, error_of(format('SELECT kanon.import_dgh(%L, %L)', name, lines)) FROM (VALUES
    ('n', '{a;x;*,b;*}'), ('n', '{a;x,b;x;*}'), ('n', '{a;x,"",b;x}'), ('n', '{a;x,NULL,"  ",b;x}'),
    ('n', '{a;x,b;x,a;y}'), ('n', '{a;x;*,b;y;*,c;x;z}'),
    ('n', '{a;b,b;a}'), ('n', '{a;b;c,b;c;a}'), ('n', '{a;b;a}'), ('n', '{a;;*}'), ('n', '{;x}'), ('n', '{a;}'),
    ('n', '{*;x}'), ('n', '{a;*;x}'),
    ('n', E'{"\\"a;x"}'), ('n', E'{"\\"a\\"b;x"}'), ('n', '{a;x;a}'), ('taken', '{a;*}'), ('', '{a;*}')) v (name,
    lines);
SELECT name FROM kanon.dgh WHERE name IN ('n', '');
SELECT kanon.import_dgh(NULL, '{a}') IS NULL AS "no name", kanon.import_dgh('n', NULL) IS NULL AS "no lines";

-- Files: UTF-8, perhaps with a byte order mark and other line ends; nothing else.
\set work `echo "$PWD"`
\set good :work '/leveled_good.csv'
\set latin :work '/leveled_latin.csv'
\set zero :work '/leveled_zero.csv'
\set empty :work '/leveled_empty.csv'
\set bad :work '/leveled_bad.csv'
\! printf '\357\273\277"A;\303\266";x;*\r\nB;x;*\nC;"y ""z""";*\n\n' > leveled_good.csv
\! printf 'A;x;*\nB\344r;x;*\n' > leveled_latin.csv
\! printf 'A;x;*\nB\000;x;*\n' > leveled_zero.csv
\! : > leveled_empty.csv
\! printf 'A;x;*\n\nB;x;*\n' > leveled_bad.csv
SELECT kanon.import_dgh_file('file', :'good');
SELECT kanon.export_dgh('file');
SELECT error_of(format('SELECT kanon.import_dgh_file(%L, %L)', 'n', :'latin'));
SELECT error_of(format('SELECT kanon.import_dgh_file(%L, %L)', 'n', :'zero'));
SELECT error_of(format('SELECT kanon.import_dgh_file(%L, %L)', 'n', :'bad'));
SELECT regexp_replace(error_of(format('SELECT kanon.import_dgh_file(%L, %L)', 'n', :'work')), '".*"', '"..."');
SELECT kanon.import_dgh_file('empty', :'empty');
SELECT name, kind FROM kanon.dgh WHERE name IN ('n', 'file', 'empty') ORDER BY 1;

-- Edges that come later stand after the imported ones, by value.
INSERT INTO kanon.dgh_edge VALUES ('salary', '10', 'any'), ('salary', '9', 'any'), ('salary', 'x', 'any');
SELECT kanon.export_dgh('salary');
