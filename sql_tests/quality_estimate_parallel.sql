-- Estimates of counts by several processes, each of which adds up some rows, are the same as by one.
CREATE TABLE certainty AS SELECT i AS id, (i % 5) / 4.0::float8 AS share FROM generate_series(1, 10000) AS i;
INSERT INTO certainty SELECT 0, NULL FROM generate_series(1, 50);
ANALYZE certainty;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT kanon.estimate_count(share) FROM certainty;
-- All sums are exact in a double, so the order of the rows does not matter.
SELECT kanon.estimate_count(share) AS several FROM certainty \gset
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT kanon.estimate_count(share) FROM certainty;
SELECT kanon.estimate_count(share) AS one FROM certainty \gset
SELECT :'several' = :'one' AS same;
SELECT (:'one'::kanon.estimate).low, (:'one'::kanon.estimate).high;
-- The functions of the aggregate are of no use alone.
SELECT kanon.estimate_combine('{0,0,0,0,0,0}', '{0,0,0,0,0,0}');
