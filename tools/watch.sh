# shellcheck shell=bash
# Tests with a server that is watched for errors of memory: shared by tools/sanitize and tools/valgrind. Sourced.
#
# WATCH is `sanitize`, `valgrind`, `coverage` or nothing. With the first two the server of the private installation is a
# script that starts the real one watched; so are the servers that tests start for themselves. Reports go to
# $RUN/work/reports, and a report fails the run. PG_CONFIG may name a PostgreSQL of one's own: of Debian's memory
# contexts only whole blocks are seen, of one with assertions and USE_VALGRIND every chunk. For valgrind that is all. For
# the sanitizer its backend must be compiled with -fsanitize=address and with tools/poison in the include path, which
# tells the sanitizer what PostgreSQL tells valgrind. For coverage, see tools/coverage: processes count the lines that
# they run.

# watched WATCH TEST...: build and test the last commit in a clone of its own.
watched() {
	local clone=build/watched.$1 data
	data=$(realpath -m "${KANON_DATA:-../shared/data}")
	rm -rf "$clone"
	mkdir -p build
	git clone -q . "$clone"
	cd "$clone"
	WATCH=$1 KANON_DATA=$data TESTS=${*:2} exec tools/check
}

# How the extension is compiled: for tests with assertions, and to be watched.
watch_options() {
	case ${WATCH:-} in
		sanitize)
			echo '-DUSE_ASSERT_CHECKING=1 -fno-omit-frame-pointer -O1 -g' \
				'-fsanitize=address,undefined -fno-sanitize-recover=undefined'
			;;
		valgrind) echo '-DUSE_ASSERT_CHECKING=1 -fno-omit-frame-pointer -O1 -g' ;;
		coverage) echo '--coverage -O0 -g' ;;
		*) [ "$NAME" != check ] || echo '-DUSE_ASSERT_CHECKING=1' ;;
	esac
}

# Everything takes longer, and servers free nothing when they end. Call this after choose_server, which clears the
# environment of libpq.
watch_patiently() {
	[ -n "${WATCH:-}" ] || return 0
	export TEST_TIMEOUT=${TEST_TIMEOUT:-5400} PGCTLTIMEOUT=600 PG_TEST_TIMEOUT_DEFAULT=1200 ASAN_OPTIONS=detect_leaks=0
}

# Put a script in the place of the server. Neither bootstrap nor a single user runs the extension: these stay as they are.
watch_server() {
	local reports=$RUN/work/reports run
	case ${WATCH:-} in
		'') return 0 ;;
		coverage) # each process adds to the counts when it ends, below a directory that it may write to
			export GCOV_PREFIX=$RUN/work/counts
			return 0
			;;
	esac
	install -d -m 700 -o "$SERVER_USER" "$reports"
	run=$("watch_by_$WATCH" "$reports")
	mv "$BIN/postgres" "$BIN/postgres.watched"
	cat >"$BIN/postgres" <<-END
		#!/bin/sh
		case \${1:-} in --boot | --single) exec "$BIN/postgres.watched" "\$@" ;; esac
		exec $run "$BIN/postgres.watched" "\$@"
	END
	chmod 755 "$BIN/postgres"
}

# A server that is not built with the sanitizer gets its library first. That library looks for swift_demangle when memory
# is first asked for; Debian's server does so in a library's start, under a lock that the failing look-up needs too, and
# hangs. So there is such a function.
watch_by_sanitize() {
	echo 'char *swift_demangle(void); char *swift_demangle(void) { return 0; }' >"$RUN/found.c"
	gcc -shared -fPIC -o "$RUN/found.so" "$RUN/found.c"
	printf 'env %s %s %s' "LD_PRELOAD=$(gcc -print-file-name=libasan.so):$RUN/found.so" \
		"ASAN_OPTIONS=log_path=$1/address:abort_on_error=1:detect_leaks=0:detect_stack_use_after_return=0:quarantine_size_mb=64" \
		"UBSAN_OPTIONS=log_path=$1/undefined:print_stacktrace=1:abort_on_error=1"
}

watch_by_valgrind() {
	command -v valgrind >/dev/null || die "there is no valgrind here"
	cp tools/valgrind.supp "$RUN"
	printf 'valgrind --quiet --log-file=%s --suppressions=%s %s' "$1/%p" "$RUN/valgrind.supp" \
		'--leak-check=no --track-origins=no --num-callers=30 --error-limit=no --gen-suppressions=all'
}

# Keep the reports in build/check/reports; fail if there is one.
watch_reports() {
	local reports=$RUN/work/reports
	case ${WATCH:-} in
		'') return 0 ;;
		coverage) cp -r "$RUN/work/counts" build/check && return 0 ;;
	esac
	find "$reports" -size 0 -delete
	cp -r "$reports" build/check
	[ -n "$(ls "$reports")" ] || return 0
	head -n 60 build/check/reports/* | head -n 300
	say "reports in build/check/reports: $(find "$reports" -type f | wc -l)"
	return 1
}
