-- Random input for tools/fuzz and robust_fuzz.
CREATE EXTENSION IF NOT EXISTS kanon;
CREATE TABLE person (id int PRIMARY KEY, zip text, age int, disease text);
INSERT INTO person SELECT i, 'z' || i % 3, 20 + i % 4, (ARRAY['flu', 'ulcer'])[1 + i % 2] FROM generate_series(1, 12) i;
SELECT kanon.create_dgh('d');
INSERT INTO kanon.dgh_edge VALUES ('d', 'flu', 'lung'), ('d', 'ulcer', 'stomach');
SELECT kanon.import_dgh('n', '{1;low;*,2;low;*,10.50;high;*,[20\,30);high;*}'), kanon.create_prefix_dgh('zip', 5),
    kanon.create_interval_dgh('i', -3, '{5, 10, 100}'), kanon.create_interval_dgh('f', 0.5, '{0.25, 2.5}'),
    kanon.create_date_dgh('t', '{day,month,quarter,year,decade,century}');
SELECT kanon.create_anonymization_view('v', 'SELECT * FROM person', id => '{id}', k => 2,
    other => '{*}');
SELECT kanon.create_anonymization_view('m', 'SELECT * FROM person', id => '{id}', quasi_ids => '{"age": "i"}',
    sensitive => '{"disease": null}', k => 2, materialized => true, other => '{*}');
CREATE TABLE choice (id int, k int, level int, purpose text, recipient text, yes bool, until date);
INSERT INTO choice SELECT i, i % 4, i % 3, 'care', 'ward', i % 2 = 0, CURRENT_DATE + i - 6
    FROM generate_series(1, 12) i;
SELECT kanon.grant_access(CURRENT_USER::text, 'care', 'ward');

-- The inputs that mutants start from.
CREATE TABLE fuzz_seed (topic text, input text);
INSERT INTO fuzz_seed VALUES
    ('statement', 'CREATE DGH e; INSERT INTO DGH e a, b; DROP DGH e'),
    ('statement', 'INSERT INTO DGH d (asthma, ''lung''), (88***, *)'),
    ('statement', 'DROP ANONYMIZATION_VIEW public."v"'),
    ('statement', 'CREATE ANONYMIZATION_VIEW w ON SELECT * FROM person WITH ANONYMIZATION_ID id ANONYMIZATION_QUASI_ID '
        'zip, age ANONYMIZATION_SENSITIVE_ATTR disease DGH_NAME d K 2'),
    ('statement', 'CREATE ANONYMIZATION_VIEW w ON WITH p AS (SELECT * FROM person) SELECT id, disease FROM p WITH '
        'ANONYMIZATION_QUASI_ID disease DGH_NAME d K 2 L 2 T 0.5 MATCH witness ALGORITHM datafly;'),
    ('statement', 'CREATE ANONYMIZATION_VIEW w ON SELECT zip, count(*) AS n FROM person GROUP BY zip WITH K 0 '
        'BLOCK_SIZE 5'),
    ('value', '[20,30)'), ('value', '(,5]'), ('value', '[2000-01-01,2001-01-01)'), ('value', '*'), ('value', 'flu'),
    ('value', '88***'), ('value', '1e5'), ('value', '[-1.5,2.25]'),
    ('value', 'infinity'), ('value', '[NaN,1)'), ('value', '1999-12-31 23:59:59'),
    ('leveled', E'1;0-4;0-9;*\n2;0-4;0-9;*\n7;5-9;0-9;*'), ('leveled', E'a;b\nc;b'),
    ('leveled', E'"x;y";z;*\r\n"""";z;*'), ('leveled', 'a'), ('leveled', E'a;;*\nb;;*'),
    ('p3p', '<POLICY xmlns="http://www.w3.org/2002/01/P3Pv1" name="p"><STATEMENT><PURPOSE><admin/><contact '
        'required="opt-in"/></PURPOSE><RECIPIENT><ours/></RECIPIENT><RETENTION><stated-purpose/></RETENTION>'
        '<DATA-GROUP><DATA ref="#user.name"/></DATA-GROUP></STATEMENT></POLICY>'),
    ('p3p', '<POLICIES xmlns="http://www.w3.org/2002/01/P3Pv1"><POLICY name="q"><STATEMENT><PURPOSE><current/>'
        '</PURPOSE><RECIPIENT><public/></RECIPIENT><RETENTION><indefinitely/></RETENTION></STATEMENT></POLICY>'
        '</POLICIES>');
-- Two values, each with the hierarchy that it is looked up in, if any.
INSERT INTO fuzz_seed SELECT 'compare', concat_ws(E'\t', a, dgh_a, b, dgh_b) FROM (VALUES
    ('5', '', '[1,10)', ''), ('5', 'i', '5.0', 'f'), ('[2,7)', 'i', 'NaN', ''), ('1e999', '', '[0,1e1000)', ''),
    ('flu', 'd', 'lung', 'd'), ('low', 'n', '[20,30)', 'n'), ('10.5', 'n', '1', 'd'), ('123**', 'zip', '12345', ''),
    ('0044-03-15 BC', 't', '(,0001-01-01)', ''), ('5874897-12-31', 't', 'infinity', 't'),
    ('[-9223372036854775808,9223372036854775807]', 'i', '-infinity', 'i'), ('', 'd', '', ''),
    ('漢字', 'zip', 'éééé*', 'zip'),
    (format('[-1%s,1%1$s)', repeat('0', 308)), '', '-1e308', ''),
    (format('[0,1%s)', repeat('0', 400)), '', '[1,NaN]', ''), ('2000-01-01T10:00Z', '', '1999-12-31 23:59:60', 't'),
    (repeat('9', 1001), 'zip', repeat('1', 200), 'i')) AS v (a, dgh_a, b, dgh_b);
-- The binary form: a hierarchy's name, a zero byte, the text.
INSERT INTO fuzz_seed SELECT 'binary', encode(convert_to(name, 'UTF8') || '\x00' || convert_to(value, 'UTF8'), 'hex')
    FROM (VALUES ('d', 'flu'), ('d', '*'), ('zip', '123**'), ('zip', '漢字é12'), ('i', '[2,7)'), ('t', '2000-02-29'),
    ('', '[1.5,2)'), ('', ''), ('gone', 'x')) AS v (name, value);

CREATE FUNCTION fuzz_mutant(asked text, changes int) RETURNS text LANGUAGE plpgsql AS $f$
DECLARE
    words text[] := ARRAY[' ', ',', ';', '(', ')', '[', ']', '''', '"', '$$', '--', '/*', '*/', '*', '.', '-', '\',
        E'\n', E'\r', E'\t', E'\u00a0', 'é', '漢', '𝄞', '&', '&amp;', '<', '>', '</', '/>', '<!--', '<![CDATA[', '%',
        ':=',
        ' CREATE ', ' DROP ', ' INSERT ', ' DGH ', ' ANONYMIZATION_VIEW ', ' ON ', ' WITH ', ' K ', ' SELECT ', '0',
        '1', '-2', '2147483648', '9223372036854775808', '1e400', '-infinity', 'NaN', '294277-01-01', '4714-11-24 BC',
        '00000000000000000001',
        '<STATEMENT>', '<PURPOSE>', '<RETENTION>', 'xmlns=""', repeat('x', 70), repeat('(', 60), repeat('<a>', 60),
        repeat(';', 100), repeat('9', 200)];
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
            WHEN 3 THEN code := overlay(code PLACING repeat(substr(code, at, span), 1 + floor(random() * 4)::int)
                FROM at FOR span);
            WHEN 4 THEN code := overlay(code PLACING chr(1 + floor(random() * 300)::int) FROM at FOR 1);
            ELSE code := left(code, at) || substr(other, 1 + floor(random() * length(other))::int);
        END CASE;
    END LOOP;
    RETURN code;
END
$f$;

CREATE FUNCTION fuzz_pick(choices text[]) RETURNS text
    LANGUAGE sql RETURN choices[1 + floor(random() * cardinality(choices))];

-- A mutant of the binary form, in hexadecimal digits.
CREATE FUNCTION fuzz_bytes(changes int) RETURNS text LANGUAGE plpgsql AS $f$
DECLARE
    bytes bytea := decode(fuzz_pick(ARRAY(SELECT input FROM fuzz_seed WHERE topic = 'binary')), 'hex');
    pieces text[] := ARRAY['', '00', 'ff', 'c3', 'e6bca2', 'eda080', 'f4908080', '2a', '5b', '2c', '29', '0a', '80',
        repeat('39', 1001), repeat('c3a9', 300)];
BEGIN
    FOR i IN 1 .. changes LOOP
        bytes := overlay(bytes PLACING decode(fuzz_pick(pieces), 'hex')
            FROM 1 + floor(random() * (length(bytes) + 1))::int FOR floor(random() * 3)::int);
    END LOOP;
    RETURN encode(bytes, 'hex');
END
$f$;

-- The jsonb arguments of create_anonymization_view.
CREATE FUNCTION fuzz_json(depth int) RETURNS jsonb LANGUAGE plpgsql AS $f$
DECLARE
    names text[] := ARRAY['id', 'zip', 'age', 'disease', 'level', 'yes', 'until', 'k', 'purpose', 'recipient', 'd',
        'zip', 'i', 't', 'gone', 'choice', 'public.choice', '"choice"', 'a.b.c.d', '', ' ', '*', 'ctid', 'tableoid',
        'I"d', repeat('x', 70), '漢', '1', 'care', 'pg_class', 'v'];
    parts text[] := ARRAY['table', 'key', 'k', 'sa_level', 'purpose', 'recipient', 'disclose', 'retain'];
    result jsonb := '{}';
BEGIN
    CASE floor(random() * CASE WHEN depth > 0 THEN 12 ELSE 8 END)
        WHEN 0 THEN RETURN 'null';
        WHEN 1 THEN RETURN fuzz_pick(ARRAY['true', '0', '-1', '1e400', '2147483648', '0.5', '[]', '{}',
            '"\u0001"'])::jsonb;
        WHEN 2, 3, 4, 5, 6, 7 THEN RETURN to_jsonb(fuzz_pick(names));
        WHEN 8 THEN RETURN jsonb_build_array(fuzz_json(depth - 1), fuzz_json(depth - 1));
        ELSE
            FOR i IN 0 .. floor(random() * 3)::int LOOP
                result := result || jsonb_build_object(fuzz_pick(names || parts), fuzz_json(depth - 1));
            END LOOP;
            RETURN result;
    END CASE;
END
$f$;
CREATE FUNCTION fuzz_arguments() RETURNS text LANGUAGE plpgsql AS $f$
DECLARE
    arguments jsonb := '{"quasi_ids": {"zip": null, "age": "i"}, "sensitive": {"disease": "d"}, "profile": {"table": '
        '"choice", "key": {"id": "id"}, "k": "k", "sa_level": "level", "purpose": "purpose", "recipient": "recipient", '
        '"disclose": {"disease": "yes"}, "retain": {"disease": "until"}}}';
    paths text[] := '{quasi_ids,sensitive,profile,"quasi_ids,zip","quasi_ids,age","quasi_ids,id","sensitive,disease",'
        '"sensitive,zip","profile,table","profile,key","profile,key,id","profile,k","profile,sa_level","profile,'
        'purpose","profile,recipient","profile,disclose","profile,disclose,disease","profile,disclose,zip","profile,'
        'retain","profile,retain,disease","profile,retain,age","profile,more"}';
    path text[];
BEGIN
    FOR i IN 1 .. floor(random() * 4)::int LOOP
        path := ('{' || fuzz_pick(paths) || '}')::text[];
        CONTINUE WHEN jsonb_typeof(arguments #> path[: cardinality(path) - 1]) IS DISTINCT FROM 'object';
        arguments := CASE floor(random() * 4) WHEN 0 THEN arguments #- path
            ELSE jsonb_set(arguments, path, fuzz_json(2)) END;
    END LOOP;
    RETURN arguments;
END
$f$;

-- Hierarchies change, and stored values of several generations are compared.
CREATE TABLE fuzz_stored (x kanon.generalized);
INSERT INTO fuzz_stored VALUES ('lung'), ('*'), ('5'), ('12345');
CREATE FUNCTION fuzz_changes(steps int) RETURNS text LANGUAGE plpgsql AS $f$
DECLARE
    labels text[] := ARRAY['flu', 'ulcer', 'lung', 'stomach', 'a', 'b', '5', '*', '', '漢'];
    code text := '';
BEGIN
    FOR i IN 0 .. steps LOOP
        code := concat(code, CASE floor(random() * 10)
            WHEN 0 THEN format('DELETE FROM kanon.dgh_edge WHERE dgh = ''d'' AND child = %L;', fuzz_pick(labels))
            WHEN 1 THEN format('UPDATE kanon.dgh_edge SET parent = %L WHERE dgh = ''d'' AND child = %L;',
                fuzz_pick(labels), fuzz_pick(labels))
            WHEN 2 THEN format('UPDATE kanon.dgh SET length = %s WHERE name = ''zip'';', floor(random() * 7))
            WHEN 3 THEN 'SELECT kanon.drop_dgh(''d'');'
            WHEN 4 THEN 'SELECT kanon.create_dgh(''d'');'
            WHEN 5 THEN format('INSERT INTO fuzz_stored SELECT kanon.generalize(''zip'', ''12345'', %s);',
                floor(random() * 6))
            WHEN 6 THEN format('INSERT INTO fuzz_stored SELECT value FROM kanon.dgh_path(''d'', %L);',
                fuzz_pick(labels))
            ELSE format('INSERT INTO kanon.dgh_edge VALUES (''d'', %L, %L);', fuzz_pick(labels),
                fuzz_pick(labels)) END);
    END LOOP;
    RETURN code;
END
$f$;

-- Any function of the extension that SQL can call, with arguments that it may or may not expect.
CREATE FUNCTION fuzz_argument(type text) RETURNS text LANGUAGE plpgsql AS $f$
DECLARE
    words text[] := ARRAY['person', 'id', 'person', 'id', 'disease', 'SELECT * FROM person', 'd', 'zip', 'i', 'gone',
        'v', 'age', 'SELECT 1', 'SELECT 1; SELECT 2', 'SELECT * FROM v',
        'SELECT id, age, zip, disease FROM person WHERE id < 3', '', '*', '[1,5)', 'care', 'ward', 'datafly', 'cover',
        'public', '1', 'a;b', repeat('x', 70), '漢', 'postgres', 'DELETE FROM person', '{', 'fuzz_stored', 'choice',
        'pg_class', 'm', 'zip = ''z1''', 'true', 'count(*)'];
    choices text[];
BEGIN
    IF random() < 0.06 THEN
        RETURN format('NULL::%s', type);
    END IF;
    choices := CASE
        WHEN type = 'text[]' THEN ARRAY['{}', '{id}', '{age,zip}', '{age,age}', '{NULL}', '{{age},{zip}}', '{disease}',
            '{""}', '{a;b,c;b}', '{gone}', '[5:6]={age,zip}']
        WHEN type IN ('integer', 'bigint', 'smallint') THEN ARRAY['2', '3', '5', '0', '-1', '1', '2', '3', '5', '12',
            '32767', '-32768']
        WHEN type IN ('double precision', 'real') THEN ARRAY['0', '-1', '0.5', '1', '2', 'NaN', 'infinity', '-infinity',
            '1e308', '1e-308']
        WHEN type = 'numeric' THEN ARRAY['0', '-1', '0.5', '1', '3', 'NaN', 'infinity', '1e400', '1e-400']
        WHEN type = 'numeric[]' THEN ARRAY['{}', '{0}', '{-1}', '{NULL}', '{5,10}', '{NaN}', '{infinity}',
            '{{1,2},{3,4}}', '{1e400}', '{0,0}', '[3:4]={1,2}']
        WHEN type = 'double precision[]' THEN ARRAY['{}', '{0}', '{-1}', '{NULL}', '{5,10}', '{NaN}', '{infinity}',
            '{{1,2},{3,4}}', '{1e300}', '{0,0}']
        WHEN type IN ('integer[]', 'bigint[]') THEN ARRAY['{}', '{0}', '{-1}', '{NULL}', '{5,10}', '{{1,2},{3,4}}']
        WHEN type = 'boolean' THEN ARRAY['true', 'false']
        WHEN type = 'regclass' THEN ARRAY['v', 'm', 'person', 'pg_class', 'kanon.aview', '999999', '0', 'fuzz_stored']
        WHEN type = 'regrole' THEN ARRAY['postgres', '999999', '0']
        WHEN type = 'oid' THEN ARRAY['0', '1259', '999999']
        WHEN type IN ('jsonb', 'json') THEN ARRAY['{}', '[]', 'null', '3', '"x"', '{"age": "i"}',
            '{"age": null, "zip": null}', '{"gone": null}', '{"age": 3}', '{"age": "gone"}', '{"zip": "zip"}',
            '{"disease": "d"}', '{"id": null}', '{"age": [1, 5]}', '{"age": ["1", null]}']
        WHEN type = 'kanon.generalized' THEN ARRAY['[1,5)', 'flu', '*', '', '5', '2000-01-01', '1.5']
        WHEN type = 'kanon.generalized[]' THEN ARRAY['{}', '{NULL}', '{"[1,5)"}', '{flu,5}', '{{*,5},{1,2}}',
            '{"[1,5)",*}']
        WHEN type = 'xml' THEN ARRAY['<a/>', '', '<POLICY/>']
        WHEN type = 'date' THEN ARRAY['2000-01-01', 'infinity', '4713-01-01 BC', '5874897-12-31']
        ELSE words END;
    RETURN format('%L::%s', fuzz_pick(choices), type);
END
$f$;
CREATE FUNCTION fuzz_call() RETURNS text LANGUAGE sql AS $f$
    SELECT format('SELECT count(x::text) FROM kanon.%I(%s) AS x', proname,
        (SELECT string_agg(fuzz_argument(format_type(type, NULL)), ', ' ORDER BY n)
        FROM unnest(proargtypes) WITH ORDINALITY AS a (type, n) WHERE n <= p.given))
    FROM (SELECT *, pronargs - floor(random() * (pronargdefaults + 1)) AS given FROM pg_proc
        WHERE pronamespace = 'kanon'::regnamespace AND prokind = 'f'
            AND prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype, 'internal'::regtype,
            'language_handler'::regtype)
            AND NOT proargtypes::oid[] && '{internal,cstring,pg_ddl_command}'::regtype[]::oid[]
                AND proname NOT IN ('scan', 'import_dgh_file')
        ORDER BY proname ~ '^(may_be|avlike|identity)' AND random() < 0.95, random() LIMIT 1) AS p
$f$;

CREATE FUNCTION fuzz_input(topic text, changes int) RETURNS text LANGUAGE sql
    RETURN CASE topic WHEN 'binary' THEN fuzz_bytes(changes) WHEN 'arguments' THEN fuzz_arguments()
        WHEN 'changes' THEN fuzz_changes(changes) WHEN 'call' THEN fuzz_call() ELSE fuzz_mutant(topic, changes) END;

CREATE FUNCTION fuzz_value(word text, dgh text) RETURNS kanon.generalized LANGUAGE sql
    RETURN CASE WHEN EXISTS (SELECT FROM kanon.dgh AS d WHERE d.name = dgh) THEN kanon.generalized(word, dgh)
        ELSE word::kanon.generalized END;

-- Compare two values, from either side.
CREATE FUNCTION fuzz_contradiction(a kanon.generalized, b kanon.generalized) RETURNS text LANGUAGE sql
    RETURN CASE
        WHEN NOT a = a OR NOT a <= a OR NOT a >= a THEN 'a value is not itself'
        WHEN (a = b) <> (b = a) OR (a <> b) <> (b <> a) OR (a < b) <> (b > a)
            OR (a <= b) <> (b >= a) THEN 'it depends on the order'
        WHEN a = b AND NOT (a <= b AND a >= b) THEN 'equal, but neither below nor above'
        WHEN (a < b AND NOT a <= b) OR (a > b AND NOT a >= b) THEN 'below, but not below or equal'
        WHEN NOT a <> b AND NOT a = b THEN 'neither equal nor different'
        WHEN sign(kanon.identity_cmp(a, b)) <> -sign(kanon.identity_cmp(b, a)) THEN 'no order'
        WHEN kanon.identity_eq(a, b) AND (NOT a = b
            OR kanon.identity_hash(a) <> kanon.identity_hash(b)) THEN 'identical, but not equal'
    END;

-- And a value of any other type that a word can be.  Not to be that type is the word's error, not to be comparable
-- would be ours.
CREATE FUNCTION fuzz_typed(value kanon.generalized, word text) RETURNS text LANGUAGE plpgsql AS $f$
DECLARE
    type text;
    wrong boolean;
BEGIN
    FOREACH type IN ARRAY '{text,name,smallint,integer,bigint,numeric,real,float8,boolean,date,timestamp,'
        'timestamptz}'::text[] LOOP
        BEGIN
            EXECUTE format('SELECT $1::%s', type) USING word;
        EXCEPTION WHEN data_exception OR invalid_parameter_value THEN
            CONTINUE;
        END;
        EXECUTE format('SELECT (value = x) <> (x = value) OR (value <> x) <> (x <> value) OR (value < x) <> (x > '
            'value) OR (value <= x) <> (x >= value) OR (value = x AND NOT value <= x)
            FROM (SELECT $1 AS value, $2::%s AS x OFFSET 0) AS pair', type) INTO wrong USING value, word;
        IF wrong THEN
            RETURN 'as ' || type || ' it contradicts itself';
        END IF;
    END LOOP;
    RETURN NULL;
END
$f$;

-- COPY reads any bytes that a client could send.
CREATE TABLE fuzz_received (x kanon.generalized);
CREATE FUNCTION fuzz_receive(bytes bytea) RETURNS void LANGUAGE plpgsql AS $f$
DECLARE
    file bytea := 'PGCOPY\012\377\015\012\000'::bytea || '\x00000000000000000001'::bytea || int4send(length(bytes))
        || bytes || '\xffff'::bytea;
    octal text := (SELECT string_agg(concat('\', b / 64, b / 8 % 8, b % 8), '' ORDER BY i)
        FROM (SELECT i, get_byte(file, i) FROM generate_series(0, length(file) - 1) AS i) AS byte (i, b));
BEGIN
    EXECUTE format('COPY fuzz_received FROM PROGRAM %L (FORMAT binary)', format('printf ''%s''', octal));
END
$f$;

-- Feed an input to its reader, and return the fault of the answer, or NULL.
CREATE FUNCTION fuzz_feed(topic text, input text) RETURNS text LANGUAGE plpgsql SET jit = off AS $f$
DECLARE
    value kanon.generalized;
    lines text[];
    word text;
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
        WHEN 'compare' THEN
            lines := string_to_array(input, E'\t');
            word := coalesce(lines[3], '5');
            value := fuzz_value(lines[1], lines[2]);
            RETURN coalesce(fuzz_contradiction(value, fuzz_value(word, lines[4])),
                fuzz_typed(value, word), CASE WHEN kanon.coverage(value, word) NOT BETWEEN 0 AND 1 THEN 'a share of '
                    || kanon.coverage(value, word) END);
        WHEN 'binary' THEN
            PERFORM fuzz_receive(decode(input, 'hex'));
            SELECT x INTO value FROM fuzz_received;
            RETURN fuzz_contradiction(value, value::text::kanon.generalized);
        WHEN 'arguments' THEN
            PERFORM set_config('kanon.purpose', 'care', true), set_config('kanon.recipient', 'ward', true);
            PERFORM kanon.create_anonymization_view('w', 'SELECT * FROM person', id => '{id}', k => 2, materialized
                => length(input) % 3 = 0, quasi_ids => input::jsonb -> 'quasi_ids',
                sensitive => input::jsonb -> 'sensitive', profile => input::jsonb -> 'profile',
                other => '{*}');
            SELECT string_agg(w::text, '') INTO word FROM w;
        WHEN 'call' THEN EXECUTE input;
        WHEN 'changes' THEN
            FOREACH word IN ARRAY string_to_array(input, ';') LOOP
                BEGIN
                    EXECUTE word;
                EXCEPTION WHEN integrity_constraint_violation OR data_exception OR undefined_object
                    OR duplicate_object THEN
                END;
                -- Two stored values of one generation are compared as they were then, with a word each is as it is now.
                word := (SELECT min(coalesce(fuzz_contradiction(a.x, b.x::text::kanon.generalized),
                    CASE WHEN (a.x = b.x) <> (b.x = a.x)
                    OR (a.x < b.x) <> (b.x > a.x) THEN 'it depends on the order' END)) FROM fuzz_stored a,
                    fuzz_stored b);
                EXIT WHEN word IS NOT NULL;
            END LOOP;
            RETURN word;
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
    INSERT INTO fuzz_outcome VALUES (topic, input, state, coalesce(wrong, message), wrong IS NOT NULL
        OR state LIKE 'XX%' OR (topic = 'compare' AND state = '22003'));
END
$f$;
-- Try input of a topic for so many seconds, or so many inputs; NULL is no limit.
CREATE PROCEDURE fuzz_run(topic text, seconds int, seed int, most int DEFAULT NULL) LANGUAGE plpgsql AS $f$
DECLARE
    stop timestamptz := clock_timestamp() + seconds * interval '1 second';
    n int := 0;
BEGIN
    PERFORM setseed((seed % 1000) / 1000.0);
    WHILE (stop IS NULL OR clock_timestamp() < stop) AND n IS DISTINCT FROM most LOOP
        PERFORM fuzz_try(topic, fuzz_input(topic, n % 7));
        n := n + 1;
        IF n % 500 = 0 THEN
            COMMIT;
        END IF;
    END LOOP;
END
$f$;
