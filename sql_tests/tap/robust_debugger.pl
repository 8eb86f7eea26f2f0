# The functions that a debugger calls print what they are given: aview_dump, recoder_dump and histogram_dump in gdb.
use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'gdb is not installed'
	unless grep { -x "$_/gdb" } split /:/, $ENV{PATH};

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql('postgres', <<~'END');
	CREATE EXTENSION kanon;
	CREATE TABLE person (name text PRIMARY KEY, age integer, zip text, disease text);
	INSERT INTO person VALUES ('Ann', 21, '10', 'flu'), ('Bob', 29, '10', 'flu'), ('Cid', 34, NULL, 'hiv');
	SELECT kanon.create_interval_dgh('ages', 0, '{10}');
	DO $$ BEGIN CREATE ROLE postgres SUPERUSER LOGIN; EXCEPTION WHEN duplicate_object THEN END $$;
	CREATE TABLE choice (name text PRIMARY KEY, k integer, purpose text, recipient text);
	SELECT kanon.create_anonymization_view('people', 'SELECT * FROM person', id => '{name}',
		quasi_ids => '{"age": "ages", "zip": null}', sensitive => '{"disease": null}', k => 2, l => 1);
	SELECT kanon.create_anonymization_view('boxes', 'SELECT * FROM person', id => '{name}',
		quasi_ids => '{"age": "ages", "zip": null}', k => 2, algorithm => 'mondrian');
	SELECT kanon.create_anonymization_view('chosen', 'SELECT * FROM person', id => '{name}',
		quasi_ids => '{"age": "ages"}', k => 2,
		profile => '{"table": "choice", "key": {"name": "name"}, "k": "k", "purpose": "purpose",
			"recipient": "recipient"}');
	SELECT kanon.create_anonymization_view('kept', 'SELECT name, age FROM person', id => '{name}',
		quasi_ids => '{"age": "ages"}', k => 2, materialized => true);
	END
$node->stop;


# debug QUERY, FUNCTION, COMMAND...: run a query in a server of one process, stop in a function, and return what gdb's
# commands and the server print.
sub debug
{
	my ($query, $function, @commands) = @_;
	my $input = $node->basedir . '/query.sql';
	my $run = sprintf 'run --single -D %s postgres <%s', $node->data_dir, $input;
	my $postgres = `pg_config --bindir` =~ s/\n//r . '/postgres';
	my $output;
	open my $file, '>', $input or die "$input: $!";
	print $file "$query\n";
	close $file;
	my @commands_of_gdb = map { ('-ex', $_) } 'set breakpoint pending on', 'set confirm off', "break $function", $run,
		@commands, 'delete', 'continue';
	IPC::Run::run([ 'gdb', '-nx', '-batch', @commands_of_gdb, $postgres ], '<', \'', '>', \$output, '2>&1');
	return $output;
}

my $output = debug('SELECT * FROM people', 'recode', 'call recoder_dump(histogram->recoder)',
	'set $histogram = histogram', 'finish', 'call histogram_dump($histogram)');
plan skip_all => 'gdb cannot stop a process, or finds no symbols'
	unless $output =~ /Breakpoint 1, recode \(histogram=/;
like($output, qr/^recoder:\ chain,\ 3\ steps,\ 2\ columns,\ k\ 2,\ l\ 1,\ t\ 0,\ 1\ sensitive\ columns,\ 0\ cells\n
	\ \ column\ 0:\ type\ 23,\ hierarchy\ ages,\ codes\ per\ level\ 4\ 3\ 1\n
	\ \ column\ 1:\ type\ 25,\ hierarchy\ none,\ codes\ per\ level\ 2\ 1\n
	\ \ step\ 1:\ column\ 0\ to\ level\ 1\n/mx, 'a recoder with a chain');
like($output, qr/^histogram:\ 3\ classes,\ room\ for\ \d+\n
	\ \ class\ 0:\ 1=21\ 1=10,\ 1\ rows,\ published\ at\ step\ 1\n
	\ \ class\ 1:\ 2=29\ 1=10,\ 1\ rows,\ published\ at\ step\ 1\n
	\ \ class\ 2:\ 3=34\ 0=NULL,\ 1\ rows,\ suppressed\ at\ step\ 3\n/mx, 'a histogram that has been recoded');
$output = debug('SELECT * FROM boxes', 'recode', 'call recoder_dump(histogram->recoder)');
like($output, qr/^recoder: tree of boxes, \d+ steps, 2 columns, k 2, l 0/m, 'a recoder with a tree of boxes');

$output = debug('SELECT * FROM people', 'aview_add_paths', 'call aview_dump(aview)');
like($output, qr/^anonymization\ view\ \d+:\ relation\ \d+,\ owner\ 10,\ 4\ of\ 4\ columns\n
	\ \ k\ 2,\ l\ 1,\ t\ 0,\ match\ cover,\ algorithm\ datafly,\ block\ size\ 0\n
	\ \ 0\ "name"\ type\ 25\ .*,\ id\n
	\ \ 1\ "age"\ type\ 23\ .*,\ quasi,\ generalized,\ hierarchy\ "ages"\ \d+\ generation\ \d+\n
	\ \ 2\ "zip"\ type\ 25\ .*,\ quasi,\ generalized\n
	\ \ 3\ "disease"\ type\ 25\ .*,\ sensitive\n
	\ \ steps\ age:1\ age:2\ zip:1\n/mx, 'a definition');
$output = debug("SET kanon.purpose = 'care'\nSET kanon.recipient = 'ward'\nSELECT * FROM chosen", 'aview_add_paths',
	'call aview_dump(aview)');
like($output, qr/^  profile: purpose "care", recipient "ward", found \d+, k \d+, shown -1, demand -1\n/m,
	'one with a profile');
$output = debug('SELECT * FROM kept', 'aview_add_paths', 'call aview_dump(aview)');
like($output, qr/^  materialized, kept by triggers, chain ".*"\n/m, 'one that is materialized');
done_testing();
