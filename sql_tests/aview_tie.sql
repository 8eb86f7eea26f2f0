-- A call of kanon.scan is the view's, or a query's own: then it needs SELECT on the A-view, whatever else the query
-- holds.
\set dir `echo "$PG_ABS_SRCDIR"`
\set people :dir '/data/people.sql'
\i :people
SELECT current_database() || '_stranger' AS stranger \gset
CREATE ROLE :"stranger";
GRANT CREATE ON SCHEMA public TO :"stranger";
SELECT id FROM kanon.aview WHERE view = 'people'::regclass \gset
SELECT format($$kanon.scan('%s') AS s (n text, a kanon.generalized, z kanon.generalized, d text, w integer)$$,
	:'id') AS scan \gset

-- The stranger may read a view on the A-view, and nothing else.
SET ROLE :"owner";
CREATE VIEW upper AS SELECT ward, zip FROM people WHERE ward = 77;
CREATE VIEW upmost AS SELECT * FROM upper;
CREATE TABLE loan (ward integer);
INSERT INTO loan VALUES (77), (1);
GRANT SELECT ON upper, upmost TO :"stranger";
GRANT ALL ON loan TO :"stranger";

-- Through the view, in every way that a query can be put together: by the node, and by the function.
CREATE FUNCTION read_in_all_ways() RETURNS TABLE (way text, rows bigint, plan text) LANGUAGE plpgsql AS $$
DECLARE
	line text;
	query text;
BEGIN
	FOR way, query IN VALUES
		('plain', 'SELECT * FROM upper'),
		('two levels', 'SELECT * FROM upmost'),
		('subquery', 'SELECT * FROM (SELECT * FROM upper OFFSET 0) x'),
		('cte', 'WITH x AS MATERIALIZED (SELECT * FROM upper) SELECT * FROM x'),
		('union all', 'SELECT * FROM upper UNION ALL SELECT * FROM upmost'),
		('union', 'SELECT * FROM upper UNION SELECT * FROM upmost'),
		('except', 'SELECT ward FROM upper EXCEPT SELECT 1'),
		('exists', 'SELECT * FROM loan l WHERE EXISTS (SELECT FROM upper u WHERE u.ward = l.ward)'),
		('in', 'SELECT * FROM loan l WHERE ward IN (SELECT ward FROM upmost)'),
		('not in', 'SELECT * FROM loan l WHERE ward NOT IN (SELECT ward FROM upmost)'),
		('scalar', 'SELECT (SELECT max(ward) FROM upper)'),
		('lateral', 'SELECT * FROM loan l, LATERAL (SELECT * FROM upper u WHERE u.ward = l.ward) x'),
		('outer join', 'SELECT * FROM loan l LEFT JOIN upper u ON u.ward = l.ward'),
		('itself', 'SELECT * FROM upper a JOIN upmost b USING (ward)'),
		('minmax', 'SELECT min(ward), max(ward) FROM upper')
	LOOP
		plan := 'function';
		FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
			IF line LIKE '%Anonymization View Scan%' THEN plan := 'node'; END IF;
		END LOOP;
		EXECUTE format('SELECT count(*) FROM (%s) x', query) INTO rows;
		RETURN NEXT;
	END LOOP;
END
$$;
GRANT EXECUTE ON FUNCTION read_in_all_ways TO :"stranger";
SET ROLE :"stranger";
SELECT * FROM read_in_all_ways();
SET kanon.plan = function;
SELECT * FROM read_in_all_ways();
RESET kanon.plan;
PREPARE prepared (integer) AS SELECT * FROM upper WHERE ward = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE prepared (77);
EXECUTE prepared (1);
RESET plan_cache_mode;

-- A security barrier changes nothing, on the A-view or above it.
SET ROLE :"owner";
ALTER VIEW people SET (security_barrier);
SET ROLE :"stranger";
SELECT * FROM read_in_all_ways();
EXECUTE prepared (77);
SET kanon.plan = function;
SELECT * FROM read_in_all_ways();
RESET kanon.plan;
SELECT * FROM upper FOR UPDATE;
SET ROLE :"owner";
SELECT ward, zip FROM people WHERE ward = 77 FOR UPDATE;
SELECT * FROM upper FOR UPDATE;
EXPLAIN (COSTS OFF) SELECT ward, zip FROM people WHERE ward = 77;
ALTER VIEW people RESET (security_barrier);
ALTER VIEW upper SET (security_barrier);
SET ROLE :"stranger";
SELECT * FROM read_in_all_ways();
SET ROLE :"owner";
ALTER VIEW upper RESET (security_barrier);
SELECT * FROM upper FOR UPDATE;
SELECT * FROM upmost FOR UPDATE;
SELECT * FROM loan JOIN upmost USING (ward) FOR UPDATE;
SELECT * FROM loan JOIN upmost USING (ward) FOR UPDATE OF loan;

-- A call of one's own beside the view, which lends it nothing.  Every statement is an error.
CREATE FUNCTION calls_of_ones_own(call text, source text) RETURNS TABLE (way text, error text) LANGUAGE plpgsql AS $$
DECLARE
	query text;
	own text := format('SELECT s.n, s.a, s.z, s.d, s.w FROM %s WHERE true OR EXISTS (%s)', call, source);
BEGIN
	FOR way, query IN VALUES
		('alone', format('SELECT * FROM %s', call)),
		('beside', format('SELECT * FROM upper, %s', call)),
		('before', format('SELECT * FROM %s, upper', call)),
		('joined', format('SELECT * FROM upper u JOIN %s ON s.w = u.ward', call)),
		('lateral', format('SELECT * FROM upper u, LATERAL (SELECT * FROM %s WHERE s.w = u.ward) x', call)),
		('lateral call', format('SELECT * FROM upper u, LATERAL %s', call)),
		('union all', format('SELECT ward FROM upper UNION ALL SELECT w FROM %s', call)),
		('union', format('SELECT ward FROM upper UNION SELECT w FROM %s', call)),
		('exists', format('SELECT * FROM upper WHERE EXISTS (SELECT FROM %s WHERE w = ward)', call)),
		('in', format('SELECT * FROM upper WHERE ward IN (SELECT w FROM %s)', call)),
		('cte', format('WITH x AS MATERIALIZED (SELECT * FROM %s) SELECT * FROM upper, x', call)),
		('view never read', format('SELECT s.* FROM %s LEFT JOIN upper u ON false', call)),
		('view dropped', format('SELECT s.* FROM %s LEFT JOIN (SELECT DISTINCT ward FROM upper) u ON u.ward = s.w',
			call)),
		('same text', own),
		('same text beside', format('SELECT * FROM upper, (%s) x', own)),
		('same text in a union', format('(%s) UNION SELECT NULL, NULL, zip, NULL, ward FROM upper', own)),
		('update', format('UPDATE loan SET ward = s.w FROM upper, %s', call)),
		('insert', format('INSERT INTO loan SELECT s.w FROM upper, %s', call)),
		('delete', format('DELETE FROM loan USING upper, %s WHERE s.w = loan.ward', call))
	LOOP
		BEGIN
			EXECUTE query;
			error := 'NONE';
		EXCEPTION WHEN insufficient_privilege THEN
			error := SQLERRM;
		END;
		RETURN NEXT;
	END LOOP;
END
$$;
SET ROLE :"stranger";
SELECT * FROM calls_of_ones_own(:'scan', 'SELECT FROM loan');
-- The source of the same text may read the tables of the A-view's owner through that owner's view.
SELECT * FROM calls_of_ones_own(:'scan', 'SELECT * FROM upmost') WHERE way LIKE 'same%';
SET kanon.plan = function;
SELECT * FROM calls_of_ones_own(:'scan', 'SELECT * FROM upmost');
RESET kanon.plan;
-- In a view of one's own, and in functions.
CREATE VIEW own AS SELECT s.n, s.a, s.z, s.d, s.w FROM :scan WHERE true OR EXISTS (SELECT FROM upmost);
SELECT count(*) FROM own;
CREATE VIEW bare AS SELECT s.* FROM :scan, upper;
SELECT count(*) FROM bare;
CREATE FUNCTION inlined() RETURNS SETOF bigint LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT count(*) FROM upper, :scan;
END;
SELECT * FROM inlined();
-- Nor for roles that the stranger gives it to.
RESET ROLE;
GRANT SELECT ON own TO :"analyst";
SET ROLE :"analyst";
SELECT count(*) FROM own;

-- A source that reads no relation: nothing in its text is the owner's.
SET ROLE :"owner";
SELECT kanon.create_anonymization_view('numbers', 'SELECT i AS id, i % 10 AS age FROM generate_series(1, 40) AS i',
	id => '{id}',
	quasi_ids => '{"age": null}', k => 4);
GRANT SELECT ON numbers TO :"analyst";
SET ROLE :"analyst";
SELECT count(*) FROM numbers WHERE age = 3;
SELECT pg_get_viewdef('numbers') AS text \gset
SET ROLE :"stranger";
:text
CREATE VIEW own_numbers AS :text
SELECT count(*) FROM own_numbers;

-- A rule on the A-view puts its entry and the query's own call into one query.
SET ROLE :"owner";
CREATE RULE told AS ON UPDATE TO people DO INSTEAD SELECT new.ward;
GRANT UPDATE ON people TO :"stranger";
SET ROLE :"stranger";
UPDATE people SET ward = s.w FROM :scan;
SET ROLE :"owner";
GRANT SELECT (ward) ON people TO :"stranger";
SET ROLE :"stranger";
UPDATE people SET ward = s.w FROM :scan WHERE people.ward = 77;
SET ROLE :"owner";
DROP RULE told ON people;
REVOKE ALL ON people FROM :"stranger";
REVOKE SELECT (ward) ON people FROM :"stranger";
-- So does one on a table of the owner's.
CREATE RULE told AS ON UPDATE TO loan DO INSTEAD SELECT new.ward FROM person LIMIT 1;
SET ROLE :"stranger";
UPDATE loan SET ward = s.w FROM :scan;
SET ROLE :"owner";
DROP RULE told ON loan;

-- The owner replaces the view: it has an entry, and no call or two. A call that the view does not make stays forbidden
-- to other roles.
SELECT pg_get_viewdef('people') AS definition \gset
CREATE FUNCTION replace_people(source text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE OR REPLACE VIEW people AS SELECT NULL::text AS name, NULL::kanon.generalized AS age,
		NULL::kanon.generalized AS zip,
		NULL::text AS disease, 77 AS ward FROM %s WHERE true OR EXISTS (SELECT name, age, zip, disease, ward
			FROM person)', source);
END
$$;
SELECT replace_people(format('lower(%L::text)', :'id'));
SET ROLE :"stranger";
SELECT * FROM upper;
SELECT count(*) FROM upper, :scan;
SELECT way FROM calls_of_ones_own(:'scan', 'SELECT FROM loan') WHERE error = 'NONE';
SET ROLE :"owner";
SELECT replace_people(format('(SELECT * FROM %s OFFSET 0) x', :'scan'));
SET ROLE :"stranger";
SELECT count(*) FROM upper;
SET ROLE :"owner";
SELECT replace_people(format('%s CROSS JOIN %s', :'scan', replace(:'scan', 'AS s', 'AS t')));
SET ROLE :"stranger";
SELECT count(*) FROM upper;
SELECT count(*) FROM upper, :scan;
SET ROLE :"owner";
CREATE OR REPLACE VIEW people AS :definition
SET ROLE :"stranger";
SELECT * FROM upper;

RESET ROLE;
SET client_min_messages = error;
DROP OWNED BY :"stranger";
DROP ROLE :"stranger";
\set end :dir '/data/people_end.sql'
\i :end
