-- Privileges: comparing is for all roles, defining for roles that may write the tables, reading for roles that may read
-- them.
CREATE ROLE kanon_priv_analyst;
CREATE ROLE kanon_priv_officer;
SELECT kanon.create_dgh('d');
INSERT INTO kanon.dgh_edge VALUES ('d', 'a', 'p'), ('d', 'b', 'p'), ('d', 'c', 'q');
CREATE TABLE published AS SELECT kanon.generalize('d', v, 1) AS x FROM unnest('{a,b,c}'::text[]) v;
GRANT SELECT ON published TO kanon_priv_analyst;

-- An analyst compares, groups and generalizes ...
SET ROLE kanon_priv_analyst;
SELECT x, count(*) FROM published WHERE x = 'a' GROUP BY x;
SELECT count(*) FROM published WHERE x >= 'c' OR x ~~^ 'b';
SELECT sum(kanon.coverage(x, 'b'::text)) FROM published;
SELECT kanon.generalize('d', 'a', 1), kanon.dgh_distance('d', 'a', 'c');
SELECT dgh, nodes FROM kanon.dgh_cache();
-- ... but neither lists hierarchies nor makes any.
SELECT * FROM kanon.dgh;
SELECT * FROM kanon.dgh_edge;
SELECT kanon.export_dgh('d');
SELECT kanon.create_dgh('mine');
SELECT kanon.create_interval_dgh('mine', 0, '{1}');
SELECT kanon.import_dgh('mine', '{a;b}');
SELECT kanon.import_dgh_file('mine', '/etc/hostname');
SELECT kanon.drop_dgh('d');
INSERT INTO kanon.dgh_edge VALUES ('d', 'x', 'p');
SELECT nextval('kanon.dgh_generation');
CREATE TEMP TABLE own (dgh text, child text, parent text);
CREATE TRIGGER t AFTER INSERT ON own REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION
    kanon.dgh_edge_changed();
RESET ROLE;

-- An officer gets the tables.
GRANT SELECT, INSERT, UPDATE, DELETE ON kanon.dgh, kanon.dgh_edge TO kanon_priv_officer;
SET ROLE kanon_priv_officer;
SELECT kanon.create_dgh('e'), kanon.import_dgh('f', '{a;b;*}'), kanon.create_prefix_dgh('g', 3);
INSERT INTO kanon.dgh_edge VALUES ('d', 'x', 'p'), ('e', 'y', 'z');
UPDATE kanon.dgh_edge SET parent = 'q' WHERE child = 'x';
SELECT kanon.generalize('d', 'x', 1), kanon.generalize('e', 'y', 1);
UPDATE kanon.dgh SET name = 'h' WHERE name = 'e';
SELECT kanon.drop_dgh('f');
SELECT kanon.export_dgh('d');
SELECT kanon.import_dgh_file('file', '/etc/hostname');
SELECT name FROM kanon.dgh ORDER BY 1;
RESET ROLE;
GRANT pg_read_server_files TO kanon_priv_officer;
SET ROLE kanon_priv_officer;
SELECT kanon.import_dgh_file('file', '/nowhere/at/all');
RESET ROLE;

-- Edges alone are not enough: the hierarchy's state changes with them.
REVOKE UPDATE ON kanon.dgh FROM kanon_priv_officer;
SET ROLE kanon_priv_officer;
INSERT INTO kanon.dgh_edge VALUES ('d', 'z', 'p');
RESET ROLE;
SELECT count(*) FROM kanon.dgh_edge WHERE child = 'z';

DROP OWNED BY kanon_priv_analyst, kanon_priv_officer;
DROP ROLE kanon_priv_analyst, kanon_priv_officer;
