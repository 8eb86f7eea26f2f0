-- A condition that fails for some values tells by failing that it has met one: such conditions see published values, in
-- every plan.
SELECT current_database() || '_analyst' AS analyst \gset
CREATE ROLE :"analyst";
CREATE TYPE address AS (street text, number int);
CREATE TABLE patient (name text PRIMARY KEY, zip text, disease text, ward text, home address, notes jsonb);
INSERT INTO patient SELECT 'p' || i, '1305' || i % 2, 'flu', 'W1', ROW('Main', i)::address, '{"a": "open"}'
    FROM generate_series(1, 20) i;
INSERT INTO patient VALUES ('Bob', '13050', 'ulcer', 'SecretWard', ROW('Hidden', 1)::address, '{"a": "secret"}');
CREATE TABLE choices (who text PRIMARY KEY, k int, lvl int, ok bool);
INSERT INTO choices SELECT name, 2, 0, name <> 'Bob' FROM patient;
UPDATE choices SET lvl = 1 WHERE who = 'Bob';
SELECT kanon.create_anonymization_view('patients', 'SELECT * FROM patient', id => '{name}',
    quasi_ids => '{"zip": null}', sensitive => '{"disease": null}',
    profile => '{"table": "choices", "key": {"name": "who"}, "k": "k", "sa_level": "lvl", "disclose": {"ward": "ok", '
        '"home": "ok", "notes": "ok"}}', other => '{ward, home, notes}');
SELECT kanon.policy('patients');

GRANT SELECT ON patients TO :"analyst";
SELECT kanon.grant_access('public', 'p', 'r');
ANALYZE patient;
CREATE FUNCTION probe(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer text := '';
    many bigint;
BEGIN
    FOR i IN 1 .. 4 LOOP
        PERFORM set_config('kanon.plan', (ARRAY['auto', 'select_first', 'anonymize_first', 'function'])[i], true);
        BEGIN
            EXECUTE CASE WHEN i = 1 THEN 'EXPLAIN ' ELSE '' END || 'SELECT count(*) FROM patients WHERE '
                || condition INTO many;
            answer := answer || CASE WHEN i = 1 THEN 'a plan' ELSE ', ' || many || ' rows' END;
        EXCEPTION WHEN invalid_text_representation THEN
            IF i > 1 THEN
                RAISE;
            END IF;
            answer := answer || 'a plan';
        WHEN OTHERS THEN
            answer := answer || ', ' || SQLERRM;
        END;
    END LOOP;
    RETURN answer;
END
$$;
GRANT EXECUTE ON FUNCTION probe(text) TO :"analyst";
SET ROLE :"analyst";
SET kanon.purpose = p;
SET kanon.recipient = r;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
\pset format unaligned
\pset tuples_only
SELECT ward, count(*) FROM patients GROUP BY ward ORDER BY ward;
-- Right and wrong guesses of Bob's hidden values look alike; guesses of shown values do not.
SELECT g, probe(format('ward LIKE %L', g)) FROM unnest(ARRAY[E'Secr\\', E'Secx\\', E'%ecre\\', E'W\\']) g;
SELECT g, probe(format('disease LIKE %L', g)) FROM unnest(ARRAY[E'ulc\\', E'ulx\\', E'fl\\']) g;
SELECT g, probe(format('name LIKE %L', g)) FROM unnest(ARRAY[E'Bo\\', E'Bx\\']) g;
SELECT g, probe(format('home = ROW(%L::text, ''x''::text)', g)) FROM unnest('{Hidden,Hiddex,Main}'::text[]) g;
SELECT g, probe(format($$notes @?
    '$.a ? (@ == "%s") ? ("2020-01-01".datetime() < "2020-01-01 00:00:00 +00".datetime())'$$, g))
    FROM unnest('{secret,secrex,open}'::text[]) g;
-- A condition that cannot fail may go to the source.
SELECT probe('ward = ''SecretWard'''), probe('ward = ''W1''');
RESET ROLE;
DROP OWNED BY :"analyst";
DROP ROLE :"analyst";
