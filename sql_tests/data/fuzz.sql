-- Random input for tools/fuzz.
CREATE EXTENSION kanon;
CREATE TABLE person (id int, zip text, age int, disease text);
INSERT INTO person SELECT i, 'z' || i % 3, 20 + i % 4, (ARRAY['flu', 'ulcer'])[1 + i % 2] FROM generate_series(1, 12) i;
SELECT kanon.create_dgh('d');
INSERT INTO kanon.dgh_edge VALUES ('d', 'flu', 'lung'), ('d', 'ulcer', 'stomach');
SELECT kanon.create_anonymization_view('v', 'SELECT * FROM person', id => '{id}', k => 2);

-- What mutants start from.
CREATE TABLE fuzz_seed (topic text, input text);
INSERT INTO fuzz_seed VALUES
    ('statement', 'CREATE DGH e; INSERT INTO DGH e a, b; DROP DGH e'), ('statement', 'INSERT INTO DGH d (asthma, ''lung''), (88***, *)'),
    ('statement', 'DROP ANONYMIZATION_VIEW public."v"'),
    ('statement', 'CREATE ANONYMIZATION_VIEW w ON SELECT * FROM person WITH ANONYMIZATION_ID id ANONYMIZATION_QUASI_ID zip, age ANONYMIZATION_SENSITIVE_ATTR disease DGH_NAME d K 2'),
    ('statement', 'CREATE ANONYMIZATION_VIEW w ON WITH p AS (SELECT * FROM person) SELECT id, disease FROM p WITH ANONYMIZATION_QUASI_ID disease DGH_NAME d K 2 L 2 T 0.5 MATCH witness ALGORITHM datafly;'),
    ('statement', 'CREATE ANONYMIZATION_VIEW w ON SELECT zip, count(*) AS n FROM person GROUP BY zip WITH K 0 BLOCK_SIZE 5'),
    ('value', '[20,30)'), ('value', '(,5]'), ('value', '[2000-01-01,2001-01-01)'), ('value', '*'), ('value', 'flu'), ('value', '88***'), ('value', '1e5'), ('value', '[-1.5,2.25]'),
    ('value', 'infinity'), ('value', '[NaN,1)'), ('value', '1999-12-31 23:59:59'),
    ('leveled', E'1;0-4;0-9;*\n2;0-4;0-9;*\n7;5-9;0-9;*'), ('leveled', E'a;b\nc;b'), ('leveled', E'"x;y";z;*\r\n"""";z;*'), ('leveled', 'a'), ('leveled', E'a;;*\nb;;*'),
    ('p3p', '<POLICY xmlns="http://www.w3.org/2002/01/P3Pv1" name="p"><STATEMENT><PURPOSE><admin/><contact required="opt-in"/></PURPOSE><RECIPIENT><ours/></RECIPIENT><RETENTION><stated-purpose/></RETENTION><DATA-GROUP><DATA ref="#user.name"/></DATA-GROUP></STATEMENT></POLICY>'),
    ('p3p', '<POLICIES xmlns="http://www.w3.org/2002/01/P3Pv1"><POLICY name="q"><STATEMENT><PURPOSE><current/></PURPOSE><RECIPIENT><public/></RECIPIENT><RETENTION><indefinitely/></RETENTION></STATEMENT></POLICY></POLICIES>');

CREATE FUNCTION fuzz_mutant(asked text, changes int) RETURNS text LANGUAGE plpgsql AS $f$
DECLARE
    words text[] := ARRAY[' ', ',', ';', '(', ')', '[', ']', '''', '"', '$$', '--', '/*', '*/', '*', '.', '-', '\', E'\n', E'\r', E'\t', E'\u00a0', 'é', '漢', '𝄞', '&', '&amp;', '<', '>', '</', '/>', '<!--', '<![CDATA[', '%', ':=',
        ' CREATE ', ' DROP ', ' INSERT ', ' DGH ', ' ANONYMIZATION_VIEW ', ' ON ', ' WITH ', ' K ', ' SELECT ', '0', '1', '-2', '2147483648', '9223372036854775808', '1e400', '-infinity', 'NaN', '294277-01-01', '4714-11-24 BC', '00000000000000000001',
        '<STATEMENT>', '<PURPOSE>', '<RETENTION>', 'xmlns=""', repeat('x', 70), repeat('(', 60), repeat('<a>', 60), repeat(';', 100), repeat('9', 200)];
    seeds text[] := ARRAY(SELECT input FROM fuzz_seed WHERE topic = asked);
    code text := seeds[1 + floor(random() * cardinality(seeds))];
    other text := seeds[1 + floor(random() * cardinality(seeds))];
    at int;
    span int;
BEGIN
    FOR i IN 1 .. changes LOOP
        at := 1 + floor(random() * (length(code) + 1));
        span := floor(random() * random() * 20);
        CASE floor(random() * 6)
            WHEN 0 THEN code := overlay(code PLACING '' FROM at FOR span);
            WHEN 1 THEN code := overlay(code PLACING words[1 + floor(random() * cardinality(words))] FROM at FOR 0);
            WHEN 2 THEN code := overlay(code PLACING words[1 + floor(random() * cardinality(words))] FROM at FOR span);
            WHEN 3 THEN code := overlay(code PLACING repeat(substr(code, at, span), 1 + floor(random() * 4)::int) FROM at FOR span);
            WHEN 4 THEN code := overlay(code PLACING chr(1 + floor(random() * 300)::int) FROM at FOR 1);
            ELSE code := left(code, at) || substr(other, 1 + floor(random() * length(other))::int);
        END CASE;
    END LOOP;
    RETURN code;
END
$f$;

-- Hands an input to what reads it; returns what is wrong with the answer.
CREATE FUNCTION fuzz_feed(topic text, input text) RETURNS text LANGUAGE plpgsql AS $f$
DECLARE
    value kanon.generalized;
    lines text[];
BEGIN
    CASE topic
        WHEN 'statement' THEN EXECUTE format('DO LANGUAGE kanon %L', input);
        WHEN 'value' THEN
            value := input::kanon.generalized;
            IF value::text::kanon.generalized::text IS DISTINCT FROM value::text THEN
                RETURN format('printed as %s, which is read as %s', value, value::text::kanon.generalized);
            END IF;
            PERFORM value = '5', value < '7', value = input, kanon.coverage(value, '1'), kanon.identity_hash(value);
        WHEN 'leveled' THEN
            PERFORM kanon.import_dgh('fuzzed', string_to_array(input, E'\n'));
            lines := ARRAY(SELECT kanon.export_dgh('fuzzed'));
            PERFORM kanon.import_dgh('again', lines);
            IF ARRAY(SELECT kanon.export_dgh('again')) IS DISTINCT FROM lines THEN
                RETURN 'what was exported is imported as something else';
            END IF;
        WHEN 'p3p' THEN PERFORM kanon.import_p3p(input::xml);
    END CASE;
    RETURN NULL;
END
$f$;

CREATE TABLE fuzz_outcome (topic text, input text, state text, message text, bad boolean);
CREATE FUNCTION fuzz_try(topic text, input text) RETURNS void LANGUAGE plpgsql AS $f$
DECLARE
    wrong text;
    state text := '00000';
    message text;
BEGIN
    BEGIN
        wrong := fuzz_feed(topic, input);
        RAISE EXCEPTION USING ERRCODE = 'K0000'; -- whatever it did is undone
    EXCEPTION WHEN OTHERS THEN
        IF SQLSTATE <> 'K0000' THEN
            state := SQLSTATE;
            message := SQLERRM;
        END IF;
    END;
    INSERT INTO fuzz_outcome VALUES (topic, input, state, coalesce(wrong, message), wrong IS NOT NULL OR state LIKE 'XX%');
END
$f$;
CREATE PROCEDURE fuzz_run(topic text, seconds int, seed int) LANGUAGE plpgsql AS $f$
DECLARE
    stop timestamptz := clock_timestamp() + seconds * interval '1 second';
    n int := 0;
BEGIN
    PERFORM setseed((seed % 1000) / 1000.0);
    WHILE clock_timestamp() < stop LOOP
        PERFORM fuzz_try(topic, fuzz_mutant(topic, n % 7));
        n := n + 1;
        IF n % 500 = 0 THEN
            COMMIT;
        END IF;
    END LOOP;
END
$f$;
