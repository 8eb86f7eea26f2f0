# Logical replication: stored groups do not leave a publisher, also not with a publication of all tables, and stop no
# subscriber; on a subscriber materialized views follow the changes that arrive.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

delete $ENV{PGOPTIONS};
my ($publisher, $subscriber) = map { PostgreSQL::Test::Cluster->new($_) } qw(publisher subscriber);
$publisher->init(allows_streaming => 'logical');
$publisher->start;
$subscriber->init(allows_streaming => 'logical');
$subscriber->append_conf('postgresql.conf',
	"wal_retrieve_retry_interval = '200ms'\nmax_logical_replication_workers = 8");
$subscriber->start;
my $view = q{SELECT kanon.create_anonymization_view('people', 'SELECT id, age, name FROM person', id => '{id, name}',
	quasi_ids => '{"age": "ages"}', k => 3, materialized => true);};
my $setup = <<'SQL';
CREATE EXTENSION kanon;
SELECT kanon.create_interval_dgh('ages', 0, '{10, 50}');
SET client_min_messages = warning;
SQL
$publisher->safe_psql('postgres', <<"SQL");
$setup
CREATE TABLE person (id int, age int, name text, PRIMARY KEY (id, name));
ALTER TABLE person REPLICA IDENTITY FULL;
CREATE TABLE other (a int PRIMARY KEY);
$view
CREATE PUBLICATION everything FOR ALL TABLES;
CREATE PUBLICATION people FOR TABLE person;
SELECT pg_create_logical_replication_slot('watched', 'pgoutput');
SQL

# 1. On the publisher: everything that happens to groups, and what of it leaves the server.
$publisher->safe_psql('postgres', <<'SQL');
INSERT INTO person SELECT i, i % 60, 'secret' || i FROM generate_series(1, 200) i;
UPDATE person SET age = age + 20 WHERE id % 3 = 0;
DELETE FROM person WHERE id % 4 = 0;
SELECT kanon.refresh('people', true);
INSERT INTO person SELECT 1000 + i, i % 60, repeat('secret' || i, 1000) FROM generate_series(1, 20) i;
INSERT INTO person SELECT 2000 + i, i % 60, 'secret' || i FROM generate_series(1, 20) i;
SQL
is($publisher->safe_psql('postgres', "SELECT count(*) FROM pg_publication_tables WHERE pubname = 'everything'
	AND tablename IN ('groups_1', 'members_1')"),
	'2', 'the publication has the stored tables');
sub sent
{
	my ($what) = @_;
	return $publisher->safe_psql('postgres', qq{SELECT count(*) FROM pg_logical_slot_peek_binary_changes('watched',
		NULL, NULL,
		'proto_version', '1', 'publication_names', 'everything') WHERE position('$what'::bytea IN data) > 0});
}
isnt(sent('secret'), '0', 'changes of the table are sent');
is(sent('members_1') . sent('groups_1'), '00', 'changes of stored groups are not');
is($publisher->safe_psql('postgres', "SELECT kanon.refresh('people')"), '0', 'the groups are right all the same');
is($publisher->safe_psql('postgres', "SELECT count(*) FROM people"), '190', 'and complete');
is($publisher->safe_psql('postgres', 'SELECT count(*) FROM kanon.members_1 m FULL JOIN person p ON c1 = id AND c2 = age
	AND c3 = name WHERE c1 IS NULL OR id IS NULL'),
	'0', 'with long values, too');

# 2. A subscriber of all tables, with the same view, goes on.
my $connection = $publisher->connstr . ' dbname=postgres';
$subscriber->safe_psql('postgres', <<"SQL");
$setup
CREATE TABLE person (id int, age int, name text, PRIMARY KEY (id, name)) PARTITION BY RANGE (id);
CREATE TABLE person_low PARTITION OF person FOR VALUES FROM (0) TO (100);
CREATE TABLE person_high PARTITION OF person FOR VALUES FROM (100) TO (10000);
ALTER TABLE person REPLICA IDENTITY FULL;
ALTER TABLE person_low REPLICA IDENTITY FULL;
ALTER TABLE person_high REPLICA IDENTITY FULL;
CREATE TABLE other (a int PRIMARY KEY);
$view
-- A view of a partition, one with a condition, and one whose code fails for some rows.
SELECT kanon.create_anonymization_view('low', 'SELECT id, age, name FROM person_low WHERE age < 40', id => '{id, name}',
	quasi_ids => '{"age": "ages"}', k => 3, materialized => true);
SELECT kanon.create_anonymization_view('failing', 'SELECT id, age + 0 / (age - 77) AS age, name FROM person',
	id => '{id, name}',
	quasi_ids => '{"age": "ages"}', k => 3, materialized => true);
SELECT kanon.create_anonymization_view('spoiled', 'SELECT id, age, name FROM person', id => '{id, name}',
	quasi_ids => '{"age": "ages"}', k => 3, materialized => true);
CREATE SUBSCRIPTION people CONNECTION '$connection' PUBLICATION people;
SQL
$subscriber->poll_query_until('postgres', "SELECT count(*) > 0 AND bool_and(srsubstate = 'r')
	FROM pg_subscription_rel") or die 'no initial copy';

# Each view, once all changes have arrived: rows of its source and of the view, and what refresh would have to do.
sub arrived
{
	my ($what, %rows) = @_;
	$publisher->wait_for_catchup('people');
	my %source = (people => 'SELECT id, age, name FROM person',
		low => 'SELECT id, age, name FROM person_low WHERE age < 40');
	my %number = (people => 1, low => 2);
	for my $name (qw(people low))
	{
		is($subscriber->safe_psql('postgres', "SELECT count(*) FROM (($source{$name} EXCEPT ALL SELECT c1, c2, c3
			FROM kanon.members_$number{$name})
			UNION ALL (SELECT c1, c2, c3 FROM kanon.members_$number{$name} EXCEPT ALL $source{$name})) q"),
			'0', "$what: no row of $name is wrong");
	}
	is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM people'), $publisher->safe_psql('postgres',
		'SELECT count(*) FROM person'), "$what: all rows have arrived");
	return;
}
arrived('initial copy');
$publisher->safe_psql('postgres', "INSERT INTO person SELECT 3000 + i, i % 60, 'secret' || i
	FROM generate_series(1, 50) i; INSERT INTO person SELECT i, i % 60, 'more' FROM generate_series(1, 99) i");
arrived('INSERT');
$publisher->safe_psql('postgres', 'UPDATE person SET age = (age + 13) % 60 WHERE id % 3 = 0');
arrived('UPDATE');
$publisher->safe_psql('postgres', "UPDATE person SET id = id + 5000 WHERE id < 50 AND name = 'more'");
arrived('from one partition to another');
$publisher->safe_psql('postgres', 'BEGIN; DELETE FROM person WHERE id % 5 = 0; UPDATE person SET age = 30
	WHERE id % 5 = 1; DELETE FROM person WHERE id % 5 = 1; COMMIT');
arrived('DELETE');
is($subscriber->safe_psql('postgres', q{SELECT count(*) FROM unnest('{people, low}'::regclass[]) v,
	kanon.audit(v) WHERE severity = 'critical' AND topic = 'trigger'}),
	'0', 'the audit finds nothing critical');
is($subscriber->safe_psql('postgres', q{SELECT min(size) >= 3 FROM kanon.groups('people') WHERE "group" IS NOT NULL}),
	't', 'no group is too small');

# 3. An error of a view does not stop the worker: the view says that it is stale.
$publisher->safe_psql('postgres', "INSERT INTO person VALUES (9001, 77, 'secret')");
arrived('a row for which a view fails');
# And a view that cannot be read any more.
$subscriber->safe_psql('postgres', q{SELECT format('CREATE OR REPLACE VIEW spoiled AS SELECT *, 1 AS more
	FROM (%s) AS q', trim(trailing ';' FROM pg_get_viewdef('spoiled'))) \gexec});
$publisher->safe_psql('postgres', "UPDATE person SET age = 20 WHERE id = 9001; INSERT INTO person
	SELECT 9001 + i, 20, 'secret' FROM generate_series(1, 5) i");
arrived('a view that cannot be read');
is($subscriber->safe_psql('postgres', q{SELECT string_agg(view::text,
	', ' ORDER BY view::text) FROM kanon.aview WHERE stale}), 'failing, spoiled', 'these views are stale');
is($subscriber->safe_psql('postgres', q{SELECT severity FROM kanon.audit('failing') WHERE measure = 'missed changes'}),
	'critical', 'the audit says so');
like(($subscriber->psql('postgres', 'SELECT count(*) FROM failing'))[2],
	qr/WARNING:  materialized anonymization view "failing" has missed changes/, 'and the view itself');
isnt($subscriber->safe_psql('postgres', "SELECT kanon.refresh('failing')"), '0', 'it can be refreshed');
is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM failing'), $subscriber->safe_psql('postgres',
	'SELECT count(*) FROM person'), 'and has all rows then');
unlike(slurp_file($subscriber->logfile), qr/exited with exit code/, 'no worker has failed');
$subscriber->safe_psql('postgres', 'DROP VIEW failing, spoiled');

# 4. TRUNCATE, and tables that are emptied by it.
$publisher->safe_psql('postgres', 'TRUNCATE person');
arrived('TRUNCATE');
$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION people');

# 5. All tables, those of the extension among them.
$publisher->safe_psql('postgres', "INSERT INTO person SELECT i, i % 60, 'secret' FROM generate_series(1, 200) i");
$subscriber->safe_psql('postgres', "INSERT INTO person SELECT i, i % 60, 'secret' FROM generate_series(1, 200) i");
$subscriber->safe_psql('postgres',
	"CREATE SUBSCRIPTION people CONNECTION '$connection' PUBLICATION everything WITH (copy_data = false)");
$publisher->safe_psql('postgres', <<'SQL');
INSERT INTO person SELECT 1000 + i, i % 60, 'secret' FROM generate_series(1, 200) i;
DELETE FROM person WHERE id % 2 = 0;
UPDATE person SET age = age + 1 WHERE id % 3 = 0;
SELECT kanon.refresh('people', true);
INSERT INTO other VALUES (1);
SQL
arrived('all tables');
is($subscriber->safe_psql('postgres', 'SELECT a FROM other'), '1', 'the subscriber goes on');
is($publisher->safe_psql('postgres', q{SELECT count(*) FROM kanon.audit('people') WHERE topic = 'publication'
	AND severity = 'warning'}), '2', 'the audit of the publisher names the publication');
$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION people');

$subscriber->stop;
$publisher->stop;
done_testing();
