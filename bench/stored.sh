# shellcheck shell=bash
# After stored.sql: single-row inserts. They are timed by the wall clock of a client, so in turns, and the median of three.

# microseconds TABLE: of one insert into a table by one connection, a transaction each.
microseconds() {
	cat >"$RUN/work/insert.sql" <<-END
		\set row random(1, $ROWS)
		INSERT INTO $1 SELECT nextval('ids'), age, education, marital, occupation, workclass, race, salary, other
			FROM many WHERE id = :row;
	END
	as_user "$BIN/pgbench" --no-vacuum --protocol=prepared --time="$SECONDS_EACH" --file=insert.sql 2>&1 |
		tee -a "$RUN/pgbench.log" | awk '/^tps/ { printf "%.1f", 1e6 / $3 }'
}

# middle NUMBER NUMBER NUMBER: the median.
middle() { printf '%s\n' "$@" | sort -g | sed -n 2p; }

measure_inserts() {
	local size plain kept
	local -a plains kepts
	for size in $((ROWS / 100)) $((ROWS / 10)) "$ROWS"; do
		psql --output=/dev/null <<-END
			SELECT make_table('plain', $size), make_table('kept', $size), make_stored('kept');
			CREATE INDEX ON plain (education, age);
			VACUUM ANALYZE plain;
			VACUUM ANALYZE kept;
		END
		plains=() kepts=()
		for _ in 1 2 3; do
			plains+=("$(microseconds plain)")
			kepts+=("$(microseconds kept)")
		done
		plain=$(middle "${plains[@]}")
		kept=$(middle "${kepts[@]}")
		put stored "single insert into a view of $size rows / into a table with one more index" "$kept / $plain" x '<= 3'
		put stored "single inserts into a view of $size rows, one client" "1e6 / $kept" 'per s' '>= 1000'
	done
}

measure_inserts
