-- Sources of the functions about outliers: queries with comments, codes that a hierarchy does not know.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE TABLE people AS SELECT i AS id, i % 5 AS age, i AS pay FROM generate_series(1, 20) AS i;
SELECT count(*) FROM kanon.plain_k(E'-- everybody\n  -- of the village\nSELECT * FROM people', 'id', '{"age": null}',
    'pay', 2);
SELECT count(*) FROM kanon.plain_k(E'/* a /* nested */ one */ ( /**/ SELECT/* here */ * FROM people -- at the end\n)',
    'id', '{"age": null}', 'pay', 2);
SELECT count(*) FROM kanon.plain_k('SELECT-id AS id, age, pay FROM people', 'id', '{"age": null}', 'pay', 2);
-- Comments hide nothing.
SELECT count(*) FROM kanon.plain_k(E'-- \nDROP TABLE people', 'id', '{"age": null}', 'pay', 2);
SELECT count(*) FROM kanon.plain_k('/**/SELECT 1; DROP TABLE people', 'id', '{"age": null}', 'pay', 2);
SELECT count(*) FROM kanon.plain_k('/* SELECT * FROM people', 'id', '{"age": null}', 'pay', 2);
SELECT count(*) FROM kanon.plain_k('', 'id', '{"age": null}', 'pay', 2);

-- Codes of five characters, and some of six, which the hierarchy does not know: they stand between 10002 and 10008.
SELECT kanon.create_prefix_dgh('code', 5);
CREATE TABLE coded AS
    SELECT row_number() OVER (ORDER BY code, n) AS id, code, 1 AS s
    FROM (VALUES ('10001', 6), ('10002', 6), ('10008', 1), ('20001', 1)) AS known (code, times),
        generate_series(1, times) AS n
    UNION ALL SELECT 100 + n, '10002' || n, 1 FROM generate_series(1, 9) AS n;
-- The group of 10001 and 10002 is published as 1000*, which has 10008 below it, too: two steps of twelve wide, not one.
SELECT round((kanon.information_loss('coded', 'id', '{"code": "code"}',
    'SELECT id, 1 AS grp FROM coded WHERE code IN (''10001'', ''10002'')') * count(*)
              - count(*) FILTER (WHERE code NOT IN ('10001', '10002')))::numeric, 6) AS loss, 12 * 2 / 12 AS expected
                  FROM coded;
-- One end of it is 10008, and only one row of 23 is there.
SELECT * FROM kanon.is_plain('coded', 'id', '{"code": "code"}', 's',
    'SELECT id, 1 AS grp FROM coded WHERE code IN (''10001'', ''10002'')', 1, 0.8, 0.05);
-- So plain_k does not publish that group, and its groups are plain.
CREATE TABLE made AS SELECT * FROM kanon.plain_k('coded', 'id', '{"code": "code"}', 's', 1, 0.8, 0.05);
SELECT DISTINCT box::text FROM made WHERE grp IS NOT NULL ORDER BY box;
SELECT bool_and(plain) AS all_plain FROM kanon.is_plain('coded', 'id', '{"code": "code"}', 's', 'made', 1, 0.8, 0.05);
