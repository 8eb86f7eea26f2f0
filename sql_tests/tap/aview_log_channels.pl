# Messages of the server about a query besides EXPLAIN, to a client that asks for them: auto_explain and debug_print_*.
# None of it may hold the numbers or conditions of the source.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
chomp(my $libraries = `pg_config --pkglibdir`);
plan skip_all => 'auto_explain is not installed' unless -e "$libraries/auto_explain.so";
$node->init;
$node->append_conf('postgresql.conf', <<~'END');
	session_preload_libraries = 'auto_explain'
	auto_explain.log_min_duration = 0
	auto_explain.log_nested_statements = on
	END
$node->start;
# The tests use the role postgres, whichever role runs them.
$node->safe_psql('postgres', 'DO $$ BEGIN CREATE ROLE postgres SUPERUSER LOGIN;
	EXCEPTION WHEN duplicate_object THEN END $$');
$node->safe_psql('postgres', <<~'END');
	CREATE EXTENSION kanon;
	CREATE ROLE kanon_analyst;
	CREATE TABLE person (name text PRIMARY KEY, age integer, zip text, disease text, ward integer);
	INSERT INTO person SELECT 'p' || i, 20 + i % 37, lpad((i % 61)::text, 3, '0'), 'flu', i % 100
		FROM generate_series(1, 1234) i;
	INSERT INTO person VALUES ('Lonely', 4321, 'SECRET', 'plague', 777);
	CREATE INDEX ON person (ward);
	CREATE INDEX ON person (age, zip);
	ANALYZE person;
	SELECT kanon.create_interval_dgh('ages', 0, '{10, 50}');
	SELECT kanon.create_anonymization_view('people', 'SELECT * FROM person', id => '{name}',
		quasi_ids => '{"age": "ages", "zip": null}', sensitive => '{"disease": null}', k => 4, other => '{ward}');
	GRANT SELECT ON people TO kanon_analyst;
	END

# The messages that a role's query gets. The library is loaded before: its messages are no part of them.
sub messages
{
	my ($role, $settings, $query) = @_;
	my ($out, $err);
	$node->psql('postgres', "SELECT count(*) FROM people; SET ROLE $role; $settings; SET client_min_messages = debug5;
		$query",
		stdout => \$out, stderr => \$err, on_error_stop => 1);
	$err =~ s/.*client_min_messages//s;
	return $err;
}

for my $plan (qw(anonymize_first select_first function))
{
	for my $query ('SELECT * FROM people WHERE ward = 777', "SELECT count(*) FROM people WHERE disease = 'plague'")
	{
		my $said = messages('kanon_analyst', "SET kanon.plan = $plan", $query);
		like($said, qr/plan:.*Scan/s, "$plan: auto_explain explains the query");
		unlike($said, qr/person|SECRET|4321|rows=1/, "$plan: auto_explain says nothing about the source: $query");

		$said = messages('kanon_analyst', "SET kanon.plan = $plan; SET debug_print_plan = on", $query);
		like($said, qr/PLANNEDSTMT/, "$plan: debug_print_plan prints");
		# The raw values of Lonely: 4321 is 225 16 0 0, SECRET is 83 69 67 82 69 84.
		unlike($said, qr/constvalue \d+ \[ 225 16 0|83 69 67 82 69 84/,
			"$plan: debug_print_plan shows no raw value: $query");
		unlike($said, qr/SEQSCAN|INDEXSCAN|BITMAP/, "$plan: debug_print_plan shows no plan of the source");
		# 1000 stands for any number, 5 is PostgreSQL's estimate for a function's 1000 rows and a condition.
		unlike($said, qr/plan_rows (?!0\b|1\b|5\b|1000\b)\d+/, "$plan: debug_print_plan shows no estimate");
	}
}
# The other way round: a role that may read the source is told.
like(messages('postgres', 'SET kanon.plan = select_first', 'SELECT * FROM people WHERE ward = 777'),
	qr/Scan.* on person/, 'auto_explain explains the source to a superuser');
unlike(messages('kanon_analyst', 'SET debug_print_parse = on; SET debug_print_rewritten = on;
	SET kanon.plan = select_first',
		'SELECT * FROM people WHERE ward = 777'),
	qr/constvalue \d+ \[ 225 16 0|83 69 67 82 69 84/, 'nor do the other prints show a raw value');

$node->stop;
done_testing();
