# shellcheck shell=bash
# n-dependency against plain anatomy, after Figures 5 and 6 of the paper, and the memory that grouping a million rows
# takes; the part release has its time. Tables show shares, errors and MB.

CENSUS=100000 QUERIES=1000 GROUPED=1000000
if [ -n "$QUICK" ]; then
	CENSUS=10000 QUERIES=100 GROUPED=100000
fi

# private_peak QUERY: the most memory, in MB, that a session has had when it has run the query. Shared buffers that it has
# touched and files do not count; they are never given back, so that what there is at the end was there at the peak.
private_peak() {
	psql --tuples-only --no-align <<-END
		SET max_parallel_workers_per_gather = 0;
		SELECT pg_backend_pid() AS pid \gset
		\setenv PID :pid
		SELECT count(*) AS rows FROM ($1) AS q \gset
		\! awk '/VmHWM/ { peak = \$2 } /RssShmem|RssFile/ { shared += \$2 } END { print int((peak - shared) / 1024) }' /proc/\$PID/status
	END
}

say "a census of $CENSUS rows, workloads of $QUERIES queries"
psql --set=census="$CENSUS" --set=queries="$QUERIES" <bench/papers/ndependency.sql

say "$GROUPED rows"
psql --set=rows="$GROUPED" <<-'SQL'
	CREATE TABLE million AS
		SELECT id, 'sick' || floor(50 * power(random(), 1.2))::integer AS sick FROM generate_series(1, :rows) AS id;
	SELECT kanon.import_dgh('sickness', array_agg(format('sick%s;class%s;*', i, i / 5) ORDER BY i))
		FROM generate_series(0, 49) AS i \g /dev/null
	VACUUM ANALYZE million;
SQL

echo "memory of a session, in MB:"
echo "  a scan of the table    $(private_peak "SELECT * FROM million OFFSET 0")"
echo "  one sort of the rows   $(private_peak "SELECT * FROM million ORDER BY sick OFFSET 0")"
echo "  anatomy                $(private_peak "SELECT * FROM kanon.anatomy('million', 'id', 'sick', 4)")"
echo "  n_dependency           $(private_peak "SELECT * FROM kanon.n_dependency('million', 'id', 'sick', 'sickness', 4)")"
