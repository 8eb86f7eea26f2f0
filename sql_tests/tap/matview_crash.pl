# Materialized A-views through kill -9 of a backend and of the server, prepared transactions, a standby, a dump.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', 'max_prepared_transactions = 5');
$node->start;
$node->safe_psql('postgres', <<'SQL');
SET client_min_messages = warning;
CREATE EXTENSION kanon;
SELECT kanon.create_interval_dgh('ages', 0, '{10, 50}'), kanon.create_prefix_dgh('zips', 3);
CREATE TABLE person (id serial PRIMARY KEY, age integer, zip text, disease text);
INSERT INTO person (age, zip, disease) SELECT i * 7 % 90, lpad((i * 131 % 1000)::text, 3, '0'), 'd' || i % 5
	FROM generate_series(1, 200) AS i;
SELECT kanon.create_anonymization_view('kept', 'SELECT * FROM person', id => '{id}',
	quasi_ids => '{"age": "ages", "zip": "zips"}', sensitive => '{"disease": null}', k => 4, materialized => true);
-- What a restore adds late, and by several jobs at once.
ALTER TABLE person ADD CHECK (age >= 0) NOT VALID;
CREATE TABLE visit (id integer PRIMARY KEY, person integer REFERENCES person ON DELETE CASCADE);
CREATE TABLE bill (id integer PRIMARY KEY, visit integer REFERENCES visit);
SQL

# Return the faults of the groups, and whether they hold the table's rows.
my $broken = q{SELECT count(*) FROM (
	SELECT g_id::text FROM kanon.groups_1 LEFT JOIN kanon.members_1 ON m_group = g_id GROUP BY g_id, g_size
		HAVING g_size <> count(m_group) OR g_size < 4
	UNION ALL (SELECT p::text FROM person p EXCEPT SELECT ROW(c1, c2, c3, c4)::text FROM kanon.members_1)
	UNION ALL (SELECT ROW(c1, c2, c3, c4)::text FROM kanon.members_1 EXCEPT SELECT p::text FROM person p)
	UNION ALL SELECT 'waits' FROM kanon.members_1 WHERE m_group IS NULL) q};
my $answer = q{SELECT age, zip, disease, count(*) FROM kept GROUP BY 1, 2, 3 ORDER BY 1, 2, 3};
is($node->safe_psql('postgres', $broken), '0', 'all is well at first');

# Writers that go on until their server, or their own process, is gone.
my $writes = q{
	INSERT INTO person (age, zip, disease) SELECT i * 11 % 90, lpad((i * 17 % 1000)::text, 3, '0'), 'w'
		FROM generate_series(1, 3) AS i;
	DELETE FROM person WHERE id % 13 = 0 AND random() < 0.3;
	UPDATE person SET age = (age + 1) % 90 WHERE id % 17 = 1;};

sub start_writers
{
	my ($count) = @_;
	my @writers;
	my $file = $node->basedir . '/writes.sql';
	PostgreSQL::Test::Utils::append_to_file($file, "SELECT pg_backend_pid();\n" . ("BEGIN; $writes COMMIT;\n" x 2000))
		unless -e $file;
	for my $number (1 .. $count)
	{
		my ($out, $err) = ("", "");
		my $run = IPC::Run::start([ 'psql', '-X', '-q', '-A', '-t', '-f', $file, '-d', $node->connstr('postgres') ],
			'>', \$out, '2>', \$err);
		push @writers, { run => $run, out => \$out };
	}
	for my $writer (@writers)
	{
		pump_until($writer->{run}, IPC::Run::timeout(60), $writer->{out}, qr/^\d+\n/m);
		($writer->{pid}) = ${ $writer->{out} } =~ /^(\d+)/;
	}
	# They have begun when rows of theirs are there.
	$node->poll_query_until('postgres', q{SELECT count(*) > 30 FROM person WHERE disease = 'w'});
	return @writers;
}

# kill -9 of one backend: the server starts all others afresh, and recovers.
$node->append_conf('postgresql.conf', 'restart_after_crash = on');
$node->reload;
my @writers = start_writers(3);
kill 'KILL', $writers[0]{pid};
$_->{run}->finish for @writers;
$node->poll_query_until('postgres', 'SELECT true');
is($node->safe_psql('postgres', $broken), '0', 'after kill -9 of a backend among three writers');

# kill -9 of the server itself.
$node->safe_psql('postgres', q{DELETE FROM person WHERE disease = 'w'});
@writers = start_writers(3);
$node->stop('immediate');
$_->{run}->finish for @writers;
$node->start;
is($node->safe_psql('postgres', $broken), '0', 'after the server was stopped at once and recovered');
$node->safe_psql('postgres', q{DELETE FROM person WHERE disease = 'w'});
@writers = start_writers(2);
$node->kill9;
$_->{run}->finish for @writers;
# Backends that outlive their postmaster keep its memory for a moment.
for (1 .. 300)
{
	last if $node->start(fail_ok => 1);
	select(undef, undef, undef, 0.1);
	$node->stop('fast', fail_ok => 1);
}
is($node->safe_psql('postgres', $broken), '0', 'after kill -9 of the server');
is($node->safe_psql('postgres', q{SELECT kanon.refresh('kept')}), '0', 'nothing was missed');

# A transaction that is prepared holds the view's lock, and nothing of it is seen.
my $before = $node->safe_psql('postgres', $answer);
$node->safe_psql('postgres', q{BEGIN; DELETE FROM person WHERE id % 3 = 0; PREPARE TRANSACTION 'p'});
is($node->safe_psql('postgres', $answer), $before, 'prepared: nothing is seen');
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', $answer), $before, 'nor after a crash');
$node->safe_psql('postgres', q{COMMIT PREPARED 'p'});
is($node->safe_psql('postgres', $broken), '0', 'committed afterwards');
isnt($node->safe_psql('postgres', $answer), $before, 'and seen');

# A standby answers the same.
$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
$node->safe_psql('postgres', $writes);
$node->wait_for_catchup($standby, 'replay', $node->lsn('write'));
is($standby->safe_psql('postgres', $answer), $node->safe_psql('postgres', $answer), 'the standby answers the same');

# Dumped and restored: the same groups, not new ones, and they go on being kept.
my $dump = $node->backup_dir . '/dump';
$node->run_log([ 'pg_dump', '--format=custom', "--file=$dump", '--dbname', $node->connstr('postgres') ]);
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--jobs=4', '--dbname', $node->connstr('restored'), $dump ],
	'restored by four jobs');
is($node->safe_psql('restored', $answer), $node->safe_psql('postgres', $answer), 'the restored view answers the same');
is($node->safe_psql('restored', q{SELECT kanon.refresh('kept')}), '0', 'and has missed nothing');
$node->safe_psql('restored', $writes);
is($node->safe_psql('restored', $broken), '0', 'and is kept from there on');
is($node->safe_psql('restored',
	q{DROP VIEW kept; SELECT count(*) FROM pg_class WHERE relname ~ '^(groups|members)_[0-9]+$'}), '0',
	'and goes as a whole');

$standby->stop;
$node->stop;
done_testing();
