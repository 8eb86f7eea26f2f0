--
-- The oracle: A-views straight from their definition, random queries, and every plan of kanon compared with it. CALL
-- oracle.run(seed, queries, first scenario) does it; oracle.report has the counts.
--
\ir oracle_values.sql
\ir oracle_recode.sql
\ir oracle_mondrian.sql
\ir oracle_generate.sql
\ir oracle_queries.sql
\ir oracle_run.sql
