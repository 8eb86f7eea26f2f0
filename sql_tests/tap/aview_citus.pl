# An A-view over a table that Citus distributes over two workers shows the rows that it shows over a local one, to a
# role that may read the view but not the table. Skipped where Citus is not installed.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

chomp(my $libraries = `pg_config --pkglibdir`);
plan skip_all => 'Citus is not installed' unless -e "$libraries/citus.so";

# Analysts log in, here and by way of Citus, and may not change the settings that the tests make.
delete $ENV{PGOPTIONS};
my @workers = map { PostgreSQL::Test::Cluster->new("worker$_") } 1, 2;
my $main = PostgreSQL::Test::Cluster->new('main');
for my $node (@workers, $main)
{
	$node->init;
	my $host = $node->host;
	$node->append_conf('postgresql.conf', <<~END);
		shared_preload_libraries = 'citus'
		fsync = off
		citus.node_conninfo = 'sslmode=disable'
		citus.local_hostname = '$host'
		END
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION citus');
}
$main->safe_psql('postgres', 'CREATE EXTENSION kanon');
$main->safe_psql('postgres', sprintf("SELECT citus_set_coordinator_host('%s', %d)", $main->host, $main->port));
$main->safe_psql('postgres', sprintf("SELECT citus_add_node('%s', %d)", $_->host, $_->port)) for @workers;
$main->safe_psql('postgres', <<~'END');
	CREATE ROLE kanon_analyst LOGIN;
	CREATE TABLE whole (id integer PRIMARY KEY, age integer, zip text, disease text, ward integer);
	CREATE INDEX ON whole (age);
	CREATE TABLE spread (LIKE whole INCLUDING ALL);
	SELECT create_distributed_table('spread', 'id');
	INSERT INTO whole SELECT i, 20 + i * 7 % 50, lpad((i * i % 97)::text, 3, '0'),
		(ARRAY ['flu', 'hiv', 'ulcer'])[1 + (i * i % 13) % 3], i % 10
		FROM generate_series(1, 2000) AS i;
	INSERT INTO spread TABLE whole;
	SELECT kanon.create_interval_dgh('ages', 0, '{5, 10, 50}');
	SELECT kanon.create_prefix_dgh('zips', 3);
	END
cmp_ok($_->safe_psql('postgres', 'SELECT count(*) FROM citus_shards WHERE nodeport = ' . $_->port), '>', 0,
	$_->name . ' has shards') for @workers;

# view NAME, SOURCE, OPTIONS
sub view
{
	my ($name, $source, $options) = @_;
	$main->safe_psql('postgres', "SELECT kanon.create_anonymization_view('$name', '$source', id => '{id}',
		quasi_ids => '{\"age\": \"ages\", \"zip\": \"zips\"}', sensitive => '{\"disease\": null}', $options);
		GRANT SELECT ON $name TO kanon_analyst");
	return;
}

# Return the rows that an analyst sees.
sub ask
{
	my ($query, $settings) = @_;
	return $main->safe_psql('postgres', ($settings // '') . "; $query", extra_params => [ '-U', 'kanon_analyst' ]);
}

# As kanon.scan called by itself, Citus knows no witnesses: a view that wants them is not among these.
my @policies = ('k => 4', 'k => 3, l => 2', 'k => 4, t => 0.4');
for my $i (0 .. $#policies)
{
	view("${_}_$i", "SELECT * FROM $_ WHERE ward < 9", $policies[$i]) for qw(whole spread);
	for my $plan ('auto', 'anonymize_first', 'select_first')
	{
		for my $where ('true', 'ward = 3', "age = '25'", "zip = '016' AND ward IN (1, 2)",
			"disease = 'flu' AND age > '40'")
		{
			my ($whole, $spread) = map { ask("SELECT v::text FROM ${_}_$i v WHERE $where
				ORDER BY v::text COLLATE \"C\"", "SET kanon.plan = $plan") } qw(whole spread);
			is($spread, $whole, "$policies[$i], $plan: $where");
		}
	}
	my ($whole, $spread) = map { ask("SELECT age, count(*), min(ward), count(DISTINCT disease) FROM ${_}_$i GROUP BY age
		ORDER BY age::text COLLATE \"C\"") } qw(whole spread);
	is($spread, $whole, "$policies[$i]: aggregates");
	isnt($spread, '', 'there are some');
}

# refused QUERY, ERROR, NAME: nothing is shown to an analyst but the error.
sub refused
{
	my ($query, $error, $name) = @_;
	my ($status, $out, $err) = $main->psql('postgres', $query, extra_params => [ '-U', 'kanon_analyst' ]);
	isnt($status, 0, "$name: refused");
	is($out, '', "$name: with no rows");
	like($err, $error, "$name: for that reason");
	return;
}

# The rights are the view's, and the source is read as its owner.
refused('SELECT * FROM spread', qr/permission denied for table spread/, 'the table itself');
is(ask('SELECT current_user FROM spread_0 LIMIT 1'), 'kanon_analyst', 'the reader stays who he is');
view('whoever', "SELECT * FROM spread WHERE current_user = ''kanon_analyst''", 'k => 4');
refused('SELECT * FROM whoever', qr/calls a function that is not immutable/, 'a source that asks who reads it');
$main->safe_psql('postgres', <<~'END');
	CREATE ROLE keeper LOGIN;
	GRANT CREATE ON SCHEMA public TO keeper;
	GRANT SELECT ON spread TO keeper;
	SET ROLE keeper;
	SELECT kanon.create_anonymization_view('kept', 'SELECT * FROM spread', id => '{id}', quasi_ids => '{"age": null}',
		k => 4);
	GRANT SELECT ON kept TO kanon_analyst;
	END
is(ask('SELECT count(*) FROM kept'), 2000, 'an owner who is no superuser');
$main->safe_psql('postgres', 'REVOKE SELECT ON spread FROM keeper');
refused('SELECT count(*) FROM kept', qr/permission denied for table spread/, 'an owner who lost his rights');

# EXPLAIN shows no numbers, and with ANALYZE, which Citus runs elsewhere, nothing.
my $explained = ask('EXPLAIN (VERBOSE) SELECT * FROM spread_0 WHERE ward = 3');
like($explained, qr/Function Scan on kanon\.scan  \(cost=0\.00\.\.0\.00 rows=0 width=0\)/, 'EXPLAIN without numbers');
refused('EXPLAIN ANALYZE SELECT * FROM spread_0', qr/the source of an anonymization view could not be read/,
	'EXPLAIN ANALYZE');

# The client is not told the queries that Citus sends to the workers.
my ($status, $out, $err) = $main->psql('postgres',
	'SET client_min_messages = debug5; SET citus.log_remote_commands = on; SELECT count(*) FROM spread_0',
	extra_params => [ '-U', 'kanon_analyst' ]);
is($out, ask('SELECT count(*) FROM whole_0'), 'an answer with debugging messages');
like($err, qr/kanon\.scan/, 'Citus talks of the outer query');
unlike($err, qr/issuing SELECT|FROM public\.spread_\d/, 'but not of the inner one');

# With a reference table; not with another distributed table in one statement.
$main->safe_psql('postgres', <<~'END');
	CREATE TABLE wards (ward integer);
	INSERT INTO wards VALUES (3), (4);
	CREATE TABLE wards_here AS TABLE wards;
	CREATE TABLE wards_spread AS TABLE wards;
	SELECT create_reference_table('wards');
	SELECT create_distributed_table('wards_spread', 'ward');
	GRANT SELECT ON wards, wards_here, wards_spread TO kanon_analyst;
	END
my $joined = ask('SELECT count(*) FROM whole_0 JOIN wards_here USING (ward)');
is(ask('SELECT count(*) FROM spread_0 JOIN wards USING (ward)'), $joined, 'a join with a reference table');
refused('SELECT count(*) FROM spread_0 JOIN wards_spread USING (ward)', qr/permission denied for table spread_/,
	'a join with a distributed table');
is(ask('SELECT count(*) FROM t JOIN wards_spread USING (ward)', 'CREATE TEMP TABLE t AS SELECT * FROM spread_0'),
	$joined, 'by way of a temporary table');

# peak ROWS: the most memory, in kB, of a session that has read so many rows of a distributed view.
sub peak
{
	my ($count) = @_;
	$main->safe_psql('postgres',
		"TRUNCATE large; INSERT INTO large SELECT i, i % 50, (i % 30)::text, 'flu'
		FROM generate_series(1, $count) AS i");
	my $session = $main->background_psql('postgres');
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	is($session->query_safe('SELECT count(age) FROM large_v'), $count, "$count rows");
	$session->query_safe('SELECT count(disease) FROM large_v WHERE age = 7');
	my ($size) = slurp_file("/proc/$pid/status") =~ /VmHWM:\s+(\d+)/;
	$session->quit;
	return $size;
}

SKIP:
{
	skip 'there is no /proc', 1 unless -e '/proc/self/status';
	skip 'a watched server has memory of its own', 1 if $ENV{WATCH};
	$main->safe_psql('postgres', <<~'END');
		CREATE TABLE large (id integer PRIMARY KEY, age integer, zip text, disease text);
		SELECT create_distributed_table('large', 'id');
		SELECT kanon.create_anonymization_view('large_v', 'SELECT * FROM large', id => '{id}',
			quasi_ids => '{"age": null, "zip": null}', k => 5);
		END
	# Both are larger than work_mem.
	my $small = peak(200000);
	my $large = peak(800000);
	note("$small kB, $large kB");
	cmp_ok($large, '<', $small + 4096, 'memory does not grow with rows');
}

# The script that the page names.
like($main->safe_psql('postgres', slurp_file("$ENV{TREE}/demo/citus.sql")),
	qr/\|influenza\|\d+\n.*\n([2-9]\d|\d{3,})$/s, 'demo/citus.sql');

$_->stop for $main, @workers;
done_testing();
