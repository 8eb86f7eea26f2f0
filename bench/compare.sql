-- The cost of comparing generalized values, beside integers, and the cost of a hierarchy of many leaves.
SELECT kanon.create_dgh('tree');
INSERT INTO kanon.dgh_edge
    SELECT 'tree', 'leaf' || i, 'twig' || i / 10 FROM generate_series(0, 999) i
    UNION ALL SELECT 'tree', 'twig' || i, 'branch' || i / 10 FROM generate_series(0, 99) i;
SELECT kanon.create_interval_dgh('interval', 0, '{10,100}');
SELECT kanon.create_date_dgh('date', '{month,year}');
SELECT kanon.create_prefix_dgh('prefix', 5);

CREATE UNLOGGED TABLE ints AS SELECT i % 1000 AS x FROM generate_series(1, :rows) i;
CREATE UNLOGGED TABLE nodes AS SELECT kanon.generalize('tree', 'leaf' || x, 1) AS x FROM ints;
CREATE UNLOGGED TABLE intervals AS SELECT kanon.generalize('interval', x::text, 1) AS x FROM ints;
CREATE UNLOGGED TABLE decimals AS SELECT kanon.generalize('interval', (x + 0.5)::text, 0) AS x FROM ints;
CREATE UNLOGGED TABLE dates AS SELECT kanon.generalize('date', (date '2000-01-01' + x)::text, 1) AS x FROM ints;
CREATE UNLOGGED TABLE prefixes AS SELECT kanon.generalize('prefix', lpad((x * 77)::text, 5, '0'), 2) AS x FROM ints;
VACUUM ANALYZE ints; VACUUM ANALYZE nodes; VACUUM ANALYZE intervals; VACUUM ANALYZE decimals;
VACUUM ANALYZE dates; VACUUM ANALYZE prefixes;
INSERT INTO query VALUES
    ('int4 = int4', 'SELECT count(*) FROM ints WHERE x = 555'),
    ('tree node = unknown', 'SELECT count(*) FROM nodes WHERE x = ''leaf555'''),
    ('tree node = text', 'SELECT count(*) FROM nodes WHERE x = text ''leaf555'''),
    ('tree node = node', 'SELECT count(*) FROM nodes WHERE x = (SELECT kanon.generalized(''leaf555'', ''tree''))'),
    ('interval = unknown', 'SELECT count(*) FROM intervals WHERE x = ''555'''),
    ('interval = integer', 'SELECT count(*) FROM intervals WHERE x = 555'),
    ('interval = numeric', 'SELECT count(*) FROM intervals WHERE x = 555.5'),
    ('interval = a word', 'SELECT count(*) FROM intervals WHERE x = ''elsewhere'''),
    ('date interval = date', 'SELECT count(*) FROM dates WHERE x = date ''2001-05-05'''),
    ('prefix = unknown', 'SELECT count(*) FROM prefixes WHERE x = ''38500'''),
    ('prefix = text', 'SELECT count(*) FROM prefixes WHERE x = text ''38500'''),
    ('decimal = numeric', 'SELECT count(*) FROM decimals WHERE x = 555.5'),
    ('text = text', 'SELECT count(*) FROM (SELECT x::text FROM ints OFFSET 0) t WHERE x = ''555'''),
    ('tree node < unknown', 'SELECT count(*) FROM nodes WHERE x < ''leaf555'''),
    ('interval < integer', 'SELECT count(*) FROM intervals WHERE x < 555'),
    ('prefix < unknown', 'SELECT count(*) FROM prefixes WHERE x < ''38500''');
CREATE TABLE compared AS SELECT name, n FROM query;
CALL measure(:rounds);
SELECT put('compare', format('scan with %s / with int4 = int4', name), ms(name) / ms('int4 = int4'), 'x', CASE WHEN name ~ '<' OR name = 'text = text' THEN '' ELSE '<= 2' END)
FROM compared WHERE name <> 'int4 = int4' ORDER BY n;

-- A hierarchy of many leaves, ten children to a node, as COPY gets it.
CREATE UNLOGGED TABLE edges AS
    SELECT 'large' AS dgh, 'leaf number ' || i AS child, 'level 1, node ' || i / 10 AS parent FROM generate_series(0, :rows / 5 - 1) i
    UNION ALL
    SELECT 'large', format('level %s, node %s', l, i), format('level %s, node %s', l + 1, i / 10)
    FROM generate_series(1, 7) l, generate_series(0, ceil(:rows / 5 / 10 ^ l)::int - 1) i;
\set file `pwd` '/edges'
COPY edges TO :'file';
CREATE TABLE plain (dgh text COLLATE "C" NOT NULL, child text COLLATE "C" NOT NULL, parent text COLLATE "C" NOT NULL, PRIMARY KEY (dgh, child));
SELECT kanon.create_dgh('large');
INSERT INTO query (name, query, before) VALUES
    ('plain copy', format('COPY plain FROM %L', :'file'), 'TRUNCATE plain'),
    ('edge copy', format('COPY kanon.dgh_edge FROM %L', :'file'), 'DELETE FROM kanon.dgh_edge WHERE dgh = ''large'''),
    ('first answer', 'SELECT kanon.generalize(''large'', ''leaf number 1'', 8)', 'SELECT 1'),
    ('all leaves', 'SELECT count(kanon.generalize(''large'', child, 3)) FROM plain', NULL);
CALL measure(1);
SELECT put('compare', format('hierarchy of %s leaves: %s / COPY into a plain table', :rows / 5, what), ms(name) / ms('plain copy'), 'x')
FROM (VALUES ('COPY', 'edge copy'), ('first answer', 'first answer'), ('generalize all', 'all leaves')) AS v (what, name);
SELECT put('compare', format('hierarchy of %s leaves: memory per node', :rows / 5), (SELECT bytes::float8 / nodes FROM kanon.dgh_cache() WHERE dgh = 'large'), 'bytes');
