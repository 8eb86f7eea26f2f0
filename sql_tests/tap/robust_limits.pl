# Out of memory, out of disk, out of temporary files and out of time, in the middle of everything that takes long: an
# error that says so, nothing half made or lost, and a server that goes on. Each statement gets more and more until it
# succeeds.
use strict;
use warnings FATAL => 'all';

use POSIX qw(getuid getgid);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = 4000;
my $on_person = qq{'SELECT * FROM person', id => '{id}', quasi_ids => '{"age": "ages", "zip": "zips"}'};
my $of_person = qq{'person', 'id', '{"age": null, "zip": "zips"}'};

# The statements to try, each with one that undoes it when it has succeeded.
my @statements = (
	[ 'an A-view', qq{SELECT kanon.create_anonymization_view('made', $on_person, k => 5,
	other => '{disease, weight}')}, 'DROP VIEW made' ],
	[ 'a Mondrian A-view', qq{SELECT kanon.create_anonymization_view('made', $on_person, k => 5,
		algorithm => 'mondrian',
	other => '{disease, weight}')}, 'DROP VIEW made' ],
	[ 'a materialized A-view',
		qq{SELECT kanon.create_anonymization_view('made', $on_person, k => 5, materialized => true,
	other => '{disease, weight}')},
		'DROP VIEW made' ],
	[ 'a refresh', q{BEGIN; ALTER TABLE person DISABLE TRIGGER USER; UPDATE person SET age = (age + 7) % 90;
		SELECT kanon.refresh('kept'); COMMIT},
		q{UPDATE person SET age = (age + 83) % 90; ALTER TABLE person ENABLE TRIGGER USER;
		SELECT kanon.refresh('kept')} ],
	[ 'writing', q{INSERT INTO person SELECT i + 100000, i % 90, lpad((i % 1000)::text, 3, '0'), i % 7,
		i FROM generate_series(1, 1000) AS i},
		q{DELETE FROM person WHERE id > 100000} ],
	[ 'reading', q{SELECT count(*), count(DISTINCT p::text) FROM people p} ],
	[ 'reading what is stored', q{SELECT count(*), count(DISTINCT k::text) FROM kept k} ],
	[ 'reading a join', q{SELECT count(*), count(DISTINCT (a, b)::text)
		FROM people a JOIN people b ON a.zip = b.zip AND a.age = b.age WHERE b.weight < 10} ],
	[ 'mondrian', qq{SELECT count(DISTINCT r::text) FROM kanon.mondrian($of_person, 5) r} ],
	[ 'topdown', qq{SELECT count(DISTINCT r::text) FROM kanon.topdown($of_person, 5) r} ],
	[ 'kja', qq{SELECT count(DISTINCT r::text) FROM kanon.kja('person', 'person', 'id', '{"age": null, "zip": "zips"}',
		5) r} ],
	[ 'plain_k', qq{SELECT count(DISTINCT r::text) FROM kanon.plain_k('SELECT * FROM person WHERE id <= 300', 'id',
		'{"age": null, "weight": null}', 'disease', 3) r} ],
	[ 'publish_anatomy', q{SELECT kanon.publish_anatomy('made', 'person', 'id', '{age,zip}', 'disease', NULL, 3, NULL)},
		'DROP TABLE made_qit, made_st' ],
	[ 'uncertain', q{SELECT count(DISTINCT r::text) FROM kanon.uncertain('SELECT * FROM person WHERE id <= 1000', 'id',
		'{age,weight}', 5) r} ],
);

my $setup = <<"SQL";
CREATE EXTENSION kanon;
CREATE EXTENSION dblink;
CREATE TABLE person AS SELECT i AS id, i * 7 % 90 AS age, lpad((i::bigint * 7919 % 1000)::text, 3, '0') AS zip,
	i % 7 AS disease, i % 97 AS weight
	FROM generate_series(1, $rows) AS i;
ALTER TABLE person ADD PRIMARY KEY (id);
SELECT kanon.create_interval_dgh('ages', 0, '{10, 50}'), kanon.create_prefix_dgh('zips', 3);
SELECT kanon.create_anonymization_view('people', $on_person, k => 5,
    other => '{disease, weight}'),
	kanon.create_anonymization_view('kept', $on_person, k => 5, materialized => true,
    other => '{disease, weight}');
SQL

# All that there is but the contents of the tables that were there before: half-made things would show.
my $state = <<'SQL';
SELECT count(*) FROM pg_class WHERE oid >= 16384;
SELECT count(*), max(id) FROM kanon.aview; SELECT count(*) FROM kanon.aview_column;
	SELECT count(*) FROM kanon.aview_step; SELECT count(*) FROM kanon.aview_tree;
SELECT count(*) FROM pg_trigger; SELECT count(*) FROM pg_depend;
SELECT sum(hashtext(p::text)::bigint) FROM person p; SELECT sum(hashtext(k::text)::bigint) FROM kept k;
	SELECT sum(hashtext(p::text)::bigint) FROM people p;
SELECT count(*) FROM pg_ls_tmpdir();
SQL

my $node;

# The state of each error of a script, and whether it got to its end, in one session that is asked again after an error.
sub try_script
{
	my ($script) = @_;
	my ($status, $out, $err) = $node->psql('tried', "\\set VERBOSITY sqlstate\n$script\nRESET ALL;
		SELECT 'goes ' || 'on';", on_error_stop => 0);
	my @states = $err =~ /ERROR:  ([0-9A-Z]{5})/g;
	# In a transaction that has failed other errors follow the first.
	return ($states[0] // '', $out =~ /^goes on$/m && $err !~ /connection|FATAL|PANIC/, $err);
}

# squeeze WHAT, STATES, AMOUNTS, HOW: try each statement with each amount, until one is enough.
sub squeeze
{
	my ($what, $states, $amounts, $how, @tried) = @_;
	my $started = $node->safe_psql('tried', 'SELECT pg_postmaster_start_time()');
	for my $statement (@tried)
	{
		my ($name, $sql, $undo) = @$statement;
		my $before = $node->safe_psql('tried', $state);
		my ($failed, $succeeded, @wrong) = (0, 0);
		for my $amount (@$amounts)
		{
			my ($error, $goes_on, $said) = try_script($how->($amount, $sql));
			push @wrong, "$amount: $said" unless $goes_on && $error =~ /^($states|)$/;
			$failed++ if $error;
			$succeeded = !$error;
			$node->safe_psql('tried', $undo) if $succeeded && $undo;
			my $after = $node->safe_psql('tried', $state);
			# Undone, numbers may have moved on.
			push @wrong, "$amount: $before became $after" if $after ne $before && !($succeeded && $undo);
			last if $succeeded || @wrong;
		}
		# How much can be done in a millisecond is the machine's business.
		ok(($failed || $what eq 'time') && $succeeded && !@wrong, "$what, $name: failed $failed times, and then not")
			or diag(join "\n", @wrong);
	}
	is($node->safe_psql('tried', 'SELECT pg_postmaster_start_time()'), $started,
		"$what: the server was never restarted");
	unlike(slurp_file($node->logfile), qr/was terminated by signal|PANIC/, "$what: no process ended");
	return;
}

$node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\njit = off\nmax_parallel_workers_per_gather = 0");
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE tried');
$node->safe_psql('tried', $setup);

# Time: at whatever moment it runs out.
squeeze('time', '57014', [ 1, 10, 100, 0 ], sub { "SET statement_timeout = $_[0];\n$_[1];\nROLLBACK;" },
	grep { $_->[0] =~ /^(a materialized A-view|a refresh|writing|kja|publish_anatomy)$/ } @statements);

# A lock that another session holds: at the first table that is read, and at one that is written in the end.
my $locked = sub {
	my ($lock, $sql) = @_;
	return "$sql;\nROLLBACK;" unless $lock;
	return <<~"SCRIPT";
		SELECT dblink_connect('other',
			format('host=%s port=%s dbname=tried', split_part(current_setting('unix_socket_directories'), ',', 1),
			current_setting('port')));
		SELECT dblink_exec('other', 'BEGIN'), dblink_exec('other', 'LOCK TABLE $lock MODE');
		SET lock_timeout = 10;
		$sql;
		ROLLBACK;
		SELECT dblink_disconnect('other');
		SCRIPT
};
squeeze('a lock', '55P03', [ 'person IN ACCESS EXCLUSIVE', '' ], $locked,
	grep { $_->[0] =~ /^(kja|publish_anatomy)$/ } @statements);
squeeze('a lock', '55P03', [ 'person IN ACCESS EXCLUSIVE', 'person IN ROW EXCLUSIVE', '' ],
	$locked, grep { $_->[0] eq 'a materialized A-view' } @statements);
squeeze('a lock', '55P03', [ 'person IN ACCESS EXCLUSIVE', 'kanon.members_2 IN SHARE', '' ],
	$locked, grep { $_->[0] =~ /^(a refresh|writing)$/ } @statements);

# Temporary files, where there is little memory.
squeeze('temporary files', '53400', [ 8, 256, 100000 ],
	sub { "SET work_mem = '64kB'; SET temp_file_limit = '$_[0]kB';\n$_[1];\nROLLBACK;" },
	grep { $_->[0] =~ /^(reading|mondrian|kja)/ } @statements);

# Address space: so many megabytes more than the session has once it has loaded its libraries.
SKIP:
{
	skip 'there is no prlimit', 1 if system('command -v prlimit >/dev/null') != 0;
	skip 'a watched server has memory of its own', 1 if $ENV{WATCH};
	my $limited = sub {
		my ($megabytes, $sql) = @_;
		my $size = "awk '/^VmSize/ { print int((\$2 + 1024 * $megabytes) * 1024) }' /proc/\$PID/status";
		return <<~"SCRIPT";
			SELECT kanon.generalize('ages', '1', 1); DO 'BEGIN END'; SELECT pg_backend_pid() AS pid \\gset
			\\setenv PID :pid
			\\! prlimit --pid \$PID --as=\$($size):
			$sql;
			ROLLBACK;
			SELECT 1;
			\\! prlimit --pid \$PID --as=unlimited:
			SCRIPT
	};
	squeeze('memory', '53200', [ 0, 0.5, 1, 2, 4, 8, 16, 32, 64, 256 ], $limited, @statements);
}
$node->stop;

# Disk: the database is in a small file system, which only the server sees, and a file leaves so many kilobytes of it.
SKIP:
{
	my $small = PostgreSQL::Test::Utils::tempdir_short();
	my $in_namespace = "unshare --user --map-root-user --mount sh -c 'mount -t tmpfs -o size=96m kanon $small"
		. ' && exec unshare --user --map-user=' . getuid() . ' --map-group=' . getgid() . q{ "$@"' sh};
	skip 'no file system of our own can be made here', 1 if system("$in_namespace true 2>/dev/null") != 0;
	$node = PostgreSQL::Test::Cluster->new('small');
	$node->init;
	$node->append_conf('postgresql.conf', "autovacuum = off\nmax_parallel_workers_per_gather = 0");
	my $control = 'pg_ctl --wait --pgdata=' . $node->data_dir;
	is(system("$in_namespace $control --log=" . $node->logfile . ' start >/dev/null'), 0,
		'a server that sees a small file system');
	$node->safe_psql('postgres', qq{CREATE TABLESPACE small LOCATION '$small'});
	$node->safe_psql('postgres', 'CREATE DATABASE tried TABLESPACE small');
	$node->safe_psql('tried', "$setup CREATE TABLE filled (line text)");
	my $filled = sub {
		my ($kilobytes, $sql) = @_;
		return <<~"SCRIPT";
			COPY filled FROM PROGRAM 'rm -f $small/filler; free=\$((\$(stat -f -c "%a * %S / 1024" $small)));
				head -c \$(((free - $kilobytes) * 1024)) /dev/zero >$small/filler';
			SET work_mem = '64kB';
			$sql;
			ROLLBACK;
			SELECT 1;
			COPY filled FROM PROGRAM 'rm $small/filler';
			SCRIPT
	};
	# The statements left out need next to no space.
	squeeze('disk', '53100', [ 0, 64, 256, 1024, 4096, 32768 ], $filled,
		grep { $_->[0] !~ /^(an A-view|a Mondrian A-view|plain_k)$/ } @statements);
	is(system("$control --mode=fast stop >/dev/null"), 0, 'and it stops');
}

done_testing();
