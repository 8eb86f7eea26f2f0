# shellcheck shell=bash
# The quality of the releases by grouping, and their memory; the part release has their time.
#
# Utility: normalized NCP on Adult with its hierarchies, eight quasi-identifiers, where there is the Adult data. Memory:
# the highest resident size of the backend, less that of a backend that sorts nothing.

BIG=1000000 MT=10000
if [ -n "$QUICK" ]; then
	BIG=100000 MT=1000
fi
psql <<-'SQL'
	ALTER DATABASE mondrian SET work_mem = '1GB';
	ALTER DATABASE mondrian SET max_parallel_workers_per_gather = 0;
	CREATE FUNCTION bench_peak() RETURNS bigint LANGUAGE sql AS
		$$SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s*(\d+)')::bigint$$;
SQL

if [ -r "$ADULT/adult.csv" ]; then
	say "utility on Adult: 30,162 rows, eight quasi-identifiers, a hierarchy each"
	load_adult
	psql <<-'SQL'
		SELECT jsonb_object_agg(name, name) AS qi FROM kanon.dgh \gset
		CREATE FUNCTION bench_adult(qi jsonb, call text, k int) RETURNS numeric LANGUAGE sql AS $$
			SELECT round(100 * ncp_normalized::numeric, 2)
			FROM kanon.release_quality('adult', 'id', qi, format('SELECT * FROM kanon.' || call, qi, k))
		$$;
		SELECT v.name AS "normalized NCP (percent)", bench_adult(:'qi', call, 5) AS "k = 5",
			bench_adult(:'qi', call, 10) AS "k = 10", bench_adult(:'qi', call, 50) AS "k = 50"
		FROM (VALUES
			('mondrian, median', $$mondrian('adult', 'id', %L, %s)$$),
			('mondrian, gain', $$mondrian('adult', 'id', %L, %s, split => 'gain')$$),
			('topdown', $$topdown('adult', 'id', %L, %s)$$),
			('local recoding', $$local_recoding('adult', 'id', %L, %s)$$),
			('local recoding, blocks of 32768', $$local_recoding('adult', 'id', %L, %s, block_size => 32768)$$)) AS v (name, call);
	SQL
else
	say "utility on Adult: skipped, there is no $ADULT/adult.csv"
fi

say "memory: $BIG rows, four columns of floats, k = 50; microdata of $MT rows for KJA"
echo "bytes per row, above a backend that has only counted the rows:"
psql --set=rows="$BIG" --set=mt="$MT" <<-'SQL'
	SELECT setseed(0.321) \g /dev/null
	CREATE TABLE big AS SELECT i AS id, random() AS a, random() AS b, random() AS c, random() AS d
		FROM generate_series(1, :rows) AS i;
	CREATE TABLE mt AS SELECT * FROM big WHERE id <= :mt;
	VACUUM ANALYZE big, mt;
SQL
QI='{"a": null, "b": null, "c": null, "d": null}'

# grouping NAME ROWS: the query of a row of the table.
grouping() {
	local source="SELECT * FROM big WHERE id <= $2"
	case $1 in
		sort) echo "SELECT count(*) FROM (SELECT * FROM big WHERE id <= $2 ORDER BY a, b, c, d OFFSET 0) AS s" ;;
		mondrian) echo "SELECT count(*) FROM kanon.mondrian('$source', 'id', '$QI', 50)" ;;
		topdown) echo "SELECT count(*) FROM kanon.topdown('$source', 'id', '$QI', 50)" ;;
		local) echo "SELECT count(*) FROM kanon.local_recoding('$source', 'id', '$QI', 50, block_size => 2048)" ;;
		kja_*)
			echo "SELECT count(*) FROM kanon.kja('mt', '$source', 'id', '$QI', 50, '$(cut -d _ -f 2 <<<"$1")', '${1##*_}')"
			;;
	esac
}

base=$(psql -At -c "SELECT count(*) FROM big" -c "SELECT bench_peak()" | tail -n 1)
for name in sort mondrian topdown local kja_mondrian_direct kja_mondrian_refinement; do
	peak=$(psql -At -c "$(grouping "$name" "$BIG")" -c "SELECT bench_peak()" | tail -n 1)
	printf '%-26s %6d\n' "$name" $(((peak - base) * 1024 / BIG))
done
