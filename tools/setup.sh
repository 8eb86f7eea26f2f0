# shellcheck shell=bash
# Shared by demo and check: build the extension, give it a private PostgreSQL installation and start a private server.
# Sourced at the top of the tree; set_up is the entry point.
#
# A run has a directory of its own, $RUN, that build/<name>.run links to and that goes when the run ends:
#   $RUN/install   a PostgreSQL installation with this build of the extension; its programs are in $BIN
#   $RUN/work      owned by the server's user: data directory, socket, logs
# It is below build/, or in /tmp where the server's user cannot reach build/ or the path is too long for a socket.

source tools/watch.sh

umask 022
export LC_ALL=C.UTF-8

# The PostgreSQL that counts where none is named.
REFERENCE=/usr/lib/postgresql/15/bin/pg_config

# The files of the tree that the tests read.
# shellcheck disable=SC2034 # used by check and check_server
READ_BY_TESTS=(kanon.control META.json CHANGELOG.md README.md CONTRIBUTING.md SECURITY.md LICENSE debian doc sql demo bench sql_tests expected)

# Copied into the private installation; the rest of it is links.
PROGRAMS=(postgres initdb pg_ctl pg_config psql pg_isready createdb dropdb pg_dump pg_dumpall pg_restore pg_basebackup pgbench
	pg_upgrade pg_controldata pg_resetwal vacuumdb)

say() { echo "== $*"; }
die() { echo "kanon: $*" >&2; exit 1; }

# set_up NAME: everything up to a running server that libpq's environment names, and its end when the script ends.
set_up() {
	NAME=$1
	choose_server
	watch_patiently
	tools/packages
	hand_over
	choose_user
	take_lock
	remove_run
	say "building" # without bitcode for the JIT compiler, which takes as long again
	flock build/build.lock make -s -j "$(nproc)" with_llvm=no COPT="$(watch_options)" all 9>&-
	trap remove_run EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	make_run
	make_installation
	watch_server
	start_server
}

# The PostgreSQL to build for; nothing else in the environment may lead libpq or make elsewhere.
choose_server() {
	local given=${PG_CONFIG:-}
	[ "${given:-$REFERENCE}" = "$REFERENCE" ] || given=$(command -v "$given") || die "PG_CONFIG=$PG_CONFIG is not a program"
	unset "${!PG@}" MAKEFLAGS MFLAGS MAKELEVEL TMPDIR
	export PG_CONFIG=${given:-$REFERENCE}
}

# In another user's clone root only installs packages: the rest runs as the owner of the clone, who keeps all files.
hand_over() {
	local owner
	owner=$(stat -c %U .)
	[ "$EUID" -eq 0 ] && [ "$owner" != root ] && id "$owner" >/dev/null 2>&1 || return 0
	set -- setpriv "--reuid=$owner" "--regid=$(id -g "$owner")" --init-groups
	if "$@" test -w "$(pwd -P)"; then exec "$@" env HOME="$(getent passwd "$owner" | cut -d : -f 6)" "tools/$NAME"; fi
}

# The user that the server and its clients run as: PostgreSQL refuses root.
choose_user() {
	SERVER_USER=$(id -un)
	AS_USER=(setpriv --pdeathsig=TERM)
	if [ "$EUID" -eq 0 ]; then
		SERVER_USER=nobody
		if id postgres >/dev/null 2>&1; then SERVER_USER=postgres; fi
		AS_USER+=("--reuid=$SERVER_USER" "--regid=$(id -g "$SERVER_USER")" --init-groups)
	fi
}

# Run a command as that user, in its own directory, without our lock. It ends when this script is killed.
as_user() {
	(cd "$RUN/work" && exec "${AS_USER[@]}" "$@" 9>&-)
}

# One run of a name at a time. Descriptor 9 holds the lock; no other process inherits it, so that it ends with this one.
take_lock() {
	mkdir -p build
	[ -w build ] || die "cannot write to build/, which belongs to $(stat -c %U build)"
	exec 9>"build/$NAME.lock"
	flock -n 9 || die "another make $NAME is running in this clone"
}

# Stop and remove this run, or the remains of an interrupted one.
remove_run() {
	local run
	run=$(readlink "build/$NAME.run") || return 0
	[[ $run = /* ]] || run=build/$run
	stop_server "$run/work/data"
	# Clients that have just lost their server may still be writing.
	rm -rf "$run" 2>/dev/null || { sleep 1; rm -rf "$run"; }
	rm -f "build/$NAME.run"
}

# stop_server DATA: stop the server of this data directory, known by its pid file and its working directory.
stop_server() {
	local data=$1 pid
	pid=$(head -n 1 "$data/postmaster.pid" 2>/dev/null) || return 0
	[[ $pid =~ ^[0-9]+$ && /proc/$pid/cwd -ef $data ]] || return 0
	kill -QUIT "$pid"
	for _ in {1..400}; do
		[[ /proc/$pid/cwd -ef $data ]] || return 0
		sleep 0.05
	done
	kill -KILL "$pid"
}

# Make $RUN where the server's user can work and a socket's name fits.
make_run() {
	local build
	build=$(pwd -P)/build
	if [[ $build =~ ^[[:alnum:]/._+-]{1,70}$ ]] && "${AS_USER[@]}" test -x "$build"; then
		RUN=$(mktemp -d "$build/$NAME.XXXXXX")
		ln -s "${RUN##*/}" "build/$NAME.run"
	else
		RUN=$(mktemp -d "/tmp/kanon-$NAME.XXXXXX")
		ln -s "$RUN" "build/$NAME.run"
	fi
	chmod 755 "$RUN"
	install -d -m 700 -o "$SERVER_USER" "$RUN/work"
	if [ "$EUID" -eq 0 ]; then export HOME=$RUN/work; fi
}

# A PostgreSQL that needs no rights to install into: it finds its files relative to its programs, so copies of these
# beside links to everything else, without a kanon that the system may have, are a complete installation.
make_installation() {
	local prefix=$RUN/install bindir sharedir dir
	bindir=$("$PG_CONFIG" --bindir)
	sharedir=$("$PG_CONFIG" --sharedir)
	BIN=$prefix$bindir
	mkdir -p "$BIN"
	cp "${PROGRAMS[@]/#/$bindir/}" "$BIN"
	for dir in "$sharedir" "$("$PG_CONFIG" --pkglibdir)"; do
		mkdir -p "$prefix$dir"
		cp -rs "$dir/." "$prefix$dir"
	done
	find "$prefix" -name 'kanon*' -prune -exec rm -rf {} +
	make -s install with_llvm=no COPT="$(watch_options)" DESTDIR="$prefix" >"$RUN/install.log" 9>&-
	[ "$("$BIN/pg_config" --sharedir)" = "$prefix$sharedir" ] || die "this PostgreSQL cannot be moved: $("$PG_CONFIG" --version)"
}

# Make a cluster and start its server, on a socket in $RUN/work only.
start_server() {
	say "starting a private server"
	as_user "$BIN/initdb" --pgdata=data --username=postgres --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync \
		>"$RUN/initdb.log"
	cat >>"$RUN/work/data/postgresql.conf" <<-END
		listen_addresses = ''
		unix_socket_directories = '$RUN/work'
		port = 54015
		timezone = 'UTC'
		fsync = off
		full_page_writes = off
		synchronous_commit = off
	END
	as_user "$BIN/pg_ctl" --pgdata=data --log=server.log --wait start >"$RUN/start.log" || {
		cat "$RUN/work/server.log" >&2
		die "the private server does not start"
	}
	export PGHOST=$RUN/work PGPORT=54015 PGUSER=postgres PGDATABASE=postgres
}
