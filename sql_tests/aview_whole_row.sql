-- A-views whose rows are used as a whole: by triggers, rules, and in expressions.
\set ECHO queries
SET client_min_messages = warning;
CREATE TABLE visit (id int PRIMARY KEY, zip text, note text);
INSERT INTO visit SELECT i, (i % 3)::text, 'n' FROM generate_series(1, 9) i;
SELECT kanon.create_anonymization_view('visits', 'SELECT * FROM visit', id => '{id}', quasi_ids => '{"zip": null}',
    k => 3, other => '{note}') AS made;
CREATE VIEW upper_view AS SELECT * FROM visits;
CREATE TABLE heard (what text, old text, new text);
CREATE FUNCTION hear() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO heard VALUES (tg_op, OLD::text, NEW::text);
    RETURN coalesce(NEW, OLD);
END $$;
CREATE TRIGGER hear INSTEAD OF UPDATE OR DELETE ON upper_view FOR EACH ROW EXECUTE FUNCTION hear();
CREATE TRIGGER hear INSTEAD OF UPDATE OR DELETE ON visits FOR EACH ROW EXECUTE FUNCTION hear();

-- INSTEAD OF triggers get published rows, whether the view is read alone or in a join.
UPDATE upper_view SET note = 'x' WHERE zip = '1';
DELETE FROM upper_view WHERE zip = '2';
UPDATE upper_view SET note = 'y' FROM visit AS v WHERE upper_view.zip = v.zip AND v.id = 3;
UPDATE visits SET note = 'z' WHERE zip = '1' RETURNING zip, note;
DELETE FROM visits USING upper_view AS u WHERE visits.zip = u.zip AND visits.zip = '0' AND u.note = 'none'
    RETURNING visits;
SELECT what, old, new, count(*) FROM heard GROUP BY what, old, new ORDER BY what, old, new;

-- Rules get them, too.
CREATE RULE tell AS ON UPDATE TO upper_view DO ALSO SELECT OLD, NEW;
UPDATE upper_view SET note = 'x' WHERE zip = '1';

-- Rows in expressions, alone and beside columns.
SELECT v, zip FROM visits AS v WHERE v.zip = '2' LIMIT 1;
SELECT count(v), count(DISTINCT v) FROM visits AS v;
SELECT max(v::text) FROM visits AS v;
SELECT (SELECT v FROM (SELECT 1) AS one) FROM visits AS v WHERE zip = '2' LIMIT 1;
SELECT count(*) FROM visits AS v WHERE v IS DISTINCT FROM NULL;
SELECT a FROM visits AS a LEFT JOIN visits AS b ON a.zip = b.zip AND b IS NULL WHERE a.zip = '1' LIMIT 1;

DROP TABLE visit, heard CASCADE;
DROP FUNCTION hear;
