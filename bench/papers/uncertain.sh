# shellcheck shell=bash
# The uncertain model: how well counts and classes are estimated from a release (the experiments of Aggarwal's paper), and
# how the time grows with the rows. Where there is the Adult data, its quantitative columns take part.
#
# STEPS are estimates and timing, or growth: seconds and processor seconds of both models with one process and with two
# workers more, for so many rows each (SIZES: 10000 100000 300000 1000000, a long run).

rows=10000 queries=100 tests=400 levels=10,25,50,100 sizes=(10000 100000 1000000) runs=3 STEPS=${STEPS:-estimates timing}
if [ "$STEPS" = growth ]; then sizes=(10000 100000 300000 1000000); fi
if [ -n "$QUICK" ]; then
	rows=1500 queries=10 tests=50 levels=10,50 sizes=(2000 8000) runs=1
fi
if [ -n "${SIZES:-}" ]; then read -r -a sizes <<<"$SIZES"; fi
for size in "${sizes[@]}"; do [[ $size =~ ^[1-9][0-9]{0,8}$ ]] || die "SIZES are numbers of rows, not $size"; done
uci=$ADULT/adult_uci.csv
psql <<-END
	ALTER DATABASE uncertain SET jit = off;
	ALTER DATABASE uncertain SET client_min_messages = warning;
END

# Estimates from releases, and their errors.
estimates() {
	psql -c 'CREATE TABLE raw (line text)'
	if [ -r "$uci" ]; then
		psql -c "COPY raw FROM STDIN (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')" <"$uci"
	else
		say "Adult: skipped, there is no $uci"
	fi
	say "making data and queries"
	psql --set=rows="$rows" --set=queries="$queries" --set=adult="$([ -r "$uci" ] && echo true || echo false)" <bench/papers/uncertain.sql >/dev/null
	psql -c 'SELECT name AS data, count(*) AS queries, count(DISTINCT class) AS classes FROM query GROUP BY name ORDER BY name'
	for method in uniform gaussian local naive condensation; do
		say "estimating counts: $method"
		psql -c "SELECT try_queries(d, '$method', k) FROM dataset d, unnest('{$levels}'::int[]) k" >/dev/null
	done
	for method in uniform gaussian local condensation 'nearest neighbour'; do
		say "classifying: $method"
		psql -c "SELECT try_classes(d, '$method', k, $tests) FROM dataset d, unnest('{$levels}'::int[]) k WHERE name <> 'U10K'" >/dev/null
	done

	psql --pset=footer=off <<END
\echo
\echo 'Query estimation error in percent, k = 10, by the true count ($rows rows, at most $queries queries per class)'
SELECT data, (ARRAY['51-100', '101-200', '201-300', '301-400'])[class] AS count_of_10000, uniform, gaussian, local_gaussian, naive, condensation
FROM errors WHERE k = 10 ORDER BY data DESC, class;
\echo 'Query estimation error in percent by k, true counts 101 to 200 of 10,000'
SELECT data, k, uniform, gaussian, local_gaussian, naive, condensation FROM errors WHERE class = 2 ORDER BY data DESC, k;
\echo 'The same for k = 10 with its sign: below 0 the counts are estimated too low'
SELECT data, uniform, gaussian, local_gaussian, naive, condensation FROM biases WHERE class = 2 AND k = 10 ORDER BY data DESC;
\echo 'Classification accuracy in percent by k ($tests rows tested, q = 10); nearest neighbour: on the rows as they are'
SELECT data, k, uniform, gaussian, local_gaussian, condensation, nearest_neighbour FROM accuracies ORDER BY data DESC, k;
END
}

# seconds MODEL COLUMNS ROWS WORKERS: how long one release takes.
seconds() {
	psql -At <<-END
		SET max_parallel_workers_per_gather = $4;
		CREATE TEMP TABLE t AS SELECT clock_timestamp() AS start;
		SELECT count(*) AS released FROM kanon.uncertain('SELECT * FROM big WHERE id <= $3', 'id', '{$2}', 10, '$1') \gset
		SELECT extract(epoch FROM clock_timestamp() - start) FROM t;
	END
}

# The growth of the time with the rows, and the gain of a second process.
timing() {
	say "timing"
	psql -c "CREATE TABLE big AS SELECT *, floor(100 * a) AS age, floor(50 * b * b) AS income
		FROM (SELECT id, random() AS a, random() AS b, random() AS c, random() AS d, random() AS e FROM generate_series(1, ${sizes[-1]}) id OFFSET 0) r"
	psql -c 'CREATE TABLE timing (model text, columns text, n int, workers int, seconds float8)'
	for size in "${sizes[@]}"; do
		for ((run = 0; run < (size > 500000 ? 1 : runs); run++)); do
			for what in gaussian:a,b,c,d,e uniform:a,b,c,d,e gaussian:age,income; do
				for workers in 1 0; do
					# The largest once only, with a worker.
					[ "$workers" = 1 ] || [ "$size" -lt 500000 ] || continue
					model=${what%:*} columns=${what#*:}
					psql -c "INSERT INTO timing VALUES ('$model', '$columns', $size, $workers, $(seconds "$model" "$columns" "$size" "$workers"))"
				done
			done
		done
	done
	psql --pset=footer=off <<'END'
\echo
\echo 'Time to release rows, k = 10, in one run: five uniform columns, or age and income, where most rows have their like; per row'
\echo 'against the smallest, the exponent of the growth from the size before (2 would be quadratic), and one process against two.'
\echo 'Medians; the largest size once, with two processes.'
WITH median AS (SELECT model, columns, n, workers, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS s FROM timing GROUP BY model, columns, n, workers),
     two AS (SELECT model, columns, n, s, first_value(s / n) OVER w AS per_row, lag(s) OVER w AS s0, lag(n) OVER w AS n0
             FROM median WHERE workers = 1 WINDOW w AS (PARTITION BY model, columns ORDER BY n))
SELECT t.model, t.columns, t.n AS rows, round((t.s / t.n / per_row)::numeric, 2) AS time_per_row, round((ln(t.s / s0) / ln(t.n::float8 / n0))::numeric, 2) AS exponent,
       round((one.s / t.s)::numeric, 2) AS one_against_two_processes
FROM two t LEFT JOIN median one ON (one.model, one.columns, one.n, one.workers) = (t.model, t.columns, t.n, 0) ORDER BY t.model, t.columns, t.n;
END
}

# Seconds of processor of all sessions and workers of the server that have ended, in hundredths.
processor() {
	sleep 0.5 # until the server knows of the last one
	awk '{ print $16 + $17 }' "/proc/$(head -n 1 "$RUN/work/data/postmaster.pid")/stat"
}

# The time of one release after the other, and on how many processors it was at work.
growth() {
	local most=0 size model workers before wall used
	for size in "${sizes[@]}"; do if [ "$size" -gt "$most" ]; then most=$size; fi; done
	psql -c "CREATE TABLE big AS SELECT id, random() AS a, random() AS b, random() AS c, random() AS d, random() AS e FROM generate_series(1, $most) id"
	printf '%-10s%10s%10s%12s%12s%12s\n' model rows workers seconds processor ratio
	for size in "${sizes[@]}"; do
		for model in gaussian uniform; do
			for workers in 0 2; do
				before=$(processor)
				wall=$(seconds "$model" a,b,c,d,e "$size" "$workers")
				used=$(($(processor) - before))
				awk -v m="$model" -v n="$size" -v w="$workers" -v s="$wall" -v u="$used" \
					'BEGIN { printf "%-10s%10d%10d%12.2f%12.2f%12.2f\n", m, n, w, s, u / 100, u / 100 / s }'
			done
		done
	done
}

for step in $STEPS; do
	case $step in
		estimates | timing | growth) "$step" ;;
		*) die "STEPS are estimates, timing and growth, not $step" ;;
	esac
done
