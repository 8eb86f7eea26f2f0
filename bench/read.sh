# shellcheck shell=bash
# After read.sql: the memory that reading takes, and the instructions of its hot loops.

# peak QUERY [WORK_MEM]: the most memory, in MB, that a session of its own has had when it has written out all columns of
# all rows.
peak() {
	psql --tuples-only --no-align <<-END
		SET max_parallel_workers_per_gather = 0;
		SET work_mem = '${2:-4MB}';
		SELECT pg_backend_pid() AS pid \gset
		\setenv PID :pid
		COPY ($1) TO '/dev/null';
		\! awk '/VmHWM/ { print int(\$2 / 1024) }' /proc/\$PID/status
	END
}

# Shared buffers count as a session's own once it has touched them; a scan of the same table has touched as many.
measure_memory() {
	local few five
	few=$(($(peak 'SELECT * FROM view_few') - $(peak 'SELECT * FROM few')))
	five=$(($(peak 'SELECT * FROM view_five') - $(peak 'SELECT * FROM five')))
	put memory "full read of $ROWS rows beyond a scan, work_mem 4MB" "$few" MB ''
	put memory "full read of $((5 * ROWS)) rows, the same" "$five" MB "<= $((few * 13 / 10 + 1))"
	put memory 'hard case, all of the session, work_mem 256MB' "$(peak 'SELECT * FROM view_hard' 256MB)" MB '<= 300'
}

# Counted by callgrind in a server of one process, so that the other server stops for a while.
count_instructions() {
	local rows=20000 function count
	if ! command -v valgrind >/dev/null; then return; fi
	psql --output=/dev/null <<-END
		CREATE TABLE counted AS SELECT * FROM many WHERE id <= $rows;
		ALTER TABLE counted ADD PRIMARY KEY (id);
		VACUUM ANALYZE counted;
		SELECT look('view_counted', 'SELECT id, age, education, marital, occupation, workclass, race, salary FROM counted',
			'{age,education,marital,occupation,workclass,race}', 5);
	END
	STOPPED=$(server_ticks)
	as_user "$BIN/pg_ctl" --pgdata=data --wait --mode=fast stop >/dev/null
	as_user valgrind --tool=callgrind --callgrind-out-file=callgrind.out "$BIN/postgres" --single -D data -j postgres \
		>/dev/null 2>"$RUN/valgrind.log" <<-'END'
			SET kanon.plan = anonymize_first;

			SELECT count(age), count(education), count(salary) FROM view_counted;

		END
	as_user callgrind_annotate --inclusive=yes --threshold=99.9 callgrind.out >"$RUN/annotated"
	as_user "$BIN/pg_ctl" --pgdata=data --log=server.log --wait start >/dev/null
	for function in anonymize_first_next recode dictionary_code histogram_add notes_add notes_next anonymizer_publish; do
		count=$(awk -v f=":$function " 'index($0 " ", f) { gsub(",", "", $1); print $1; exit }' "$RUN/annotated")
		[ -z "$count" ] || put instructions "$function, per row" "$((count / rows))" '' ''
	done
}

measure_memory
count_instructions
