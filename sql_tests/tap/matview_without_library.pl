# Without the library, commands on tables go on unless a materialized view depends on them; then the error names the way
# out.
use strict;
use warnings FATAL => 'all';

use File::Copy;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

delete $ENV{PGOPTIONS};
my $library = `pg_config --pkglibdir`;
chomp $library;
$library .= '/kanon.so';
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
my $dir = $node->data_dir . '/library';
mkdir $dir;
copy($library, "$dir/kanon_elsewhere.so") or die "cannot copy $library: $!";

# The installation is that of other tests, too: not the library goes away, but the extension's functions look elsewhere.
sub take_library
{
	my ($database) = @_;
	$node->safe_psql($database, "UPDATE pg_proc SET probin = '\$libdir/kanon_that_is_not_there'
		WHERE probin IN ('\$libdir/kanon', '$dir/kanon_elsewhere')");
	return;
}

sub return_library
{
	my ($database) = @_;
	$node->safe_psql($database, "UPDATE pg_proc SET probin = '$dir/kanon_elsewhere'
		WHERE probin = '\$libdir/kanon_that_is_not_there'");
	return;
}

# Commands on tables that no materialized view follows.
my @commands = (
	'CREATE TABLE t (a int PRIMARY KEY, b text)', 'ALTER TABLE t ADD c int', 'CREATE TABLE child () INHERITS (t)',
		'ALTER TABLE child NO INHERIT t',
	'CREATE TABLE part (a int) PARTITION BY LIST (a)', 'CREATE TABLE part_1 PARTITION OF part FOR VALUES IN (1)',
	'ALTER TABLE part DETACH PARTITION part_1', 'ALTER TABLE part ATTACH PARTITION part_1 FOR VALUES IN (1)',
	'ALTER TABLE t ENABLE TRIGGER ALL', 'ALTER TABLE t SET UNLOGGED', 'CREATE SCHEMA s CREATE TABLE u (a int)',
		'CREATE VIEW v AS TABLE t',
	'CREATE TABLE copied AS TABLE t', 'CREATE INDEX ON t (b)', 'INSERT INTO t VALUES (1)', 'TRUNCATE t', 'DROP VIEW v',
		'DROP TABLE s.u', 'DROP SCHEMA s',
	'DROP TABLE part_1', 'DROP TABLE part, child, copied, t', 'CREATE TEMP TABLE x (a int); DROP TABLE x');

sub all_succeed
{
	my ($database, $what) = @_;
	for my $command (@commands)
	{
		my ($status, $out, $err) = $node->psql($database, $command);
		is("$status$err", '0', "$what: $command");
	}
	return;
}

# No A-view at all.
$node->safe_psql('postgres', 'CREATE DATABASE bare');
$node->safe_psql('bare', 'CREATE EXTENSION kanon');
take_library('bare');
all_succeed('bare', 'no A-view');
is($node->psql('bare', 'DROP EXTENSION kanon'), 0, 'the extension can be dropped');
all_succeed('bare', 'no extension');

# A logical and a materialized one.
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION kanon;
SELECT kanon.create_interval_dgh('ages', 0, '{10, 50}');
CREATE TABLE person (id int PRIMARY KEY, age int) PARTITION BY RANGE (id);
CREATE TABLE person_1 PARTITION OF person FOR VALUES FROM (0) TO (1000);
INSERT INTO person SELECT i, i % 60 FROM generate_series(1, 100) i;
SELECT kanon.create_anonymization_view('logical', 'SELECT id, age FROM person', id => '{id}',
	quasi_ids => '{"age": "ages"}', k => 3);
SELECT kanon.create_anonymization_view('kept', 'SELECT id, age FROM person', id => '{id}',
	quasi_ids => '{"age": "ages"}',
	k => 3, materialized => true);
SQL
take_library('postgres');
all_succeed('postgres', 'other tables');
for (['CREATE TABLE person_2 PARTITION OF person FOR VALUES FROM (1000) TO (2000)', 'kanon_follow_partitions'],
	['ALTER TABLE person DETACH PARTITION person_1', 'kanon_follow_partitions'],
		['ALTER TABLE person_1 ENABLE TRIGGER ALL', 'kanon_follow_partitions'],
	['DROP TABLE person_1', 'kanon_then_follow_dropped'], ['DROP VIEW kept', 'kanon_forget_dropped_views'],
		['DROP VIEW logical', 'kanon_forget_dropped_views'])
{
	my ($command, $trigger) = @$_;
	my ($status, $out, $err) = $node->psql('postgres', $command);
	like($err, qr/ERROR:  an anonymization view depends on this command, but the library of extension kanon cannot be/,
		"$command: the error says what is missing");
	like($err, qr/HINT:  Install the library again. .* ALTER EVENT TRIGGER $trigger DISABLE/, 'and names the way out');
}
# The way out, and the way back.
$node->safe_psql('postgres', <<'SQL');
ALTER EVENT TRIGGER kanon_follow_partitions DISABLE;
CREATE TABLE person_2 PARTITION OF person FOR VALUES FROM (1000) TO (2000);
INSERT INTO person_2 VALUES (1001, 20);
SQL
return_library('postgres');
is($node->safe_psql('postgres', "SELECT string_agg(subject || ' ' || measure, ', ' ORDER BY subject)
	FROM kanon.audit('kept') WHERE severity = 'critical'"),
	'kanon_follow_partitions disabled, public.person_2 not followed', 'the audit says what is missing then');
is($node->safe_psql('postgres', "ALTER EVENT TRIGGER kanon_follow_partitions ENABLE; SELECT kanon.refresh('kept')"),
	'1', 'refresh brings in what was missed');
is($node->safe_psql('postgres', "SELECT count(*) FROM kanon.audit('kept') WHERE severity = 'critical'"), '0',
	'and the table is followed');
is($node->safe_psql('postgres', "INSERT INTO person_2 VALUES (1002, 20); SELECT count(*) FROM kept"), '102',
	'from then on');
is($node->psql('postgres', 'DROP VIEW kept, logical'), 0, 'the views can be dropped');
$node->stop;
done_testing();
