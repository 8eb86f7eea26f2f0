--
-- Progress of long work.
--

CREATE FUNCTION kanon.progress_info(OUT pid integer, OUT work text, OUT phase text, OUT done bigint, OUT total bigint)
    RETURNS SETOF record
    LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 5 AS 'MODULE_PATHNAME', 'kanon_progress';

CREATE VIEW kanon.progress AS SELECT * FROM kanon.progress_info();
GRANT SELECT ON kanon.progress TO PUBLIC;

