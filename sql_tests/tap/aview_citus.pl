# An A-view over a table that Citus distributes shows what it shows over a local one. Skipped where Citus is not installed.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
chomp(my $libraries = `pg_config --pkglibdir`);
plan skip_all => 'Citus is not installed' unless -e "$libraries/citus.so";
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'citus'");
$node->start;
my ($host, $port) = ($node->host, $node->port);
$node->safe_psql('postgres', <<~END);
	CREATE EXTENSION citus;
	CREATE EXTENSION kanon;
	SELECT citus_set_coordinator_host('$host', $port);
	CREATE TABLE whole (id integer PRIMARY KEY, age integer, zip text, ward integer);
	CREATE TABLE spread (LIKE whole INCLUDING ALL);
	SELECT create_distributed_table('spread', 'id');
	INSERT INTO whole SELECT i, 20 + i * 7 % 50, lpad((i * i % 97)::text, 3, '0'), i % 10 FROM generate_series(1, 2000) AS i;
	INSERT INTO spread TABLE whole;
	SELECT kanon.create_interval_dgh('ages', 0, '{5, 10, 50}');
	SELECT kanon.create_prefix_dgh('zips', 3);
	SELECT kanon.create_anonymization_view(t || '_view', 'SELECT * FROM ' || t, id => '{id}', quasi_ids => '{"age": "ages", "zip": "zips"}', k => 4)
		FROM unnest('{whole,spread}'::text[]) AS t;
	END
for my $where ('true', 'ward = 3', "age = '25'")
{
	my ($whole, $spread) = map { $node->safe_psql('postgres', "SELECT v::text FROM ${_}_view v WHERE $where ORDER BY 1") } qw(whole spread);
	is($spread, $whole, $where);
}
$node->stop;
done_testing();
