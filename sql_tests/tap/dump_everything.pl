# Everything there is in a cluster, roles and rights included, through each way that PostgreSQL has to bring it to
# another one or to another version: the same answers, to the same people, and groups that go on being kept.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# These settings of the other tests are not for every role to make.
delete $ENV{PGOPTIONS};

my $old = PostgreSQL::Test::Cluster->new('old');
$old->init;
$old->start;
$old->safe_psql('postgres', <<'SQL');
CREATE ROLE kanon_keeper LOGIN;
CREATE ROLE kanon_analyst LOGIN;
CREATE ROLE kanon_officer LOGIN;
CREATE ROLE kanon_nobody LOGIN;
CREATE DATABASE hospital;
ALTER ROLE kanon_analyst SET kanon.purpose = 'care';
ALTER ROLE kanon_analyst IN DATABASE hospital SET kanon.recipient = 'ward';
SQL
$old->safe_psql('hospital', <<'SQL');
CREATE EXTENSION kanon;
GRANT CREATE ON SCHEMA public TO kanon_keeper;
GRANT SELECT, INSERT, DELETE ON kanon.access_grant TO kanon_officer;
GRANT EXECUTE ON FUNCTION kanon.refresh(regclass, boolean) TO kanon_keeper;
REVOKE EXECUTE ON FUNCTION kanon.groups(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon.groups(regclass) TO kanon_keeper;
DO $$ BEGIN FOR i IN 1 .. 7 LOOP PERFORM kanon.create_dgh('x' || i); PERFORM kanon.drop_dgh('x' || i); END LOOP; END $$;
SELECT kanon.create_interval_dgh('ages', 0, '{10, 50}'), kanon.create_prefix_dgh('zips', 3),
	kanon.create_date_dgh('days', '{day, year}');
SELECT kanon.import_dgh('illness', '{flu;lung;*,asthma;lung;*,ulcer;stomach;*,it''s;other;*}');
SELECT kanon.import_p3p('<POLICY name="p" xmlns="http://www.w3.org/2002/01/P3Pv1"><STATEMENT>
	<PURPOSE><current/></PURPOSE><RECIPIENT><ours/></RECIPIENT><RETENTION><stated-purpose/></RETENTION>
	<DATA-GROUP><DATA ref="#user.name"/></DATA-GROUP></STATEMENT></POLICY>');

SET ROLE kanon_keeper;
CREATE TABLE person (id integer PRIMARY KEY, age integer, zip text, born date, disease text, ward integer);
INSERT INTO person SELECT i, nullif(20 + i * 7 % 50, 34), lpad((i * 13 % 60)::text, 3, '0'), date '1960-01-01' + i * 31,
	(ARRAY ['flu', 'asthma', 'ulcer', 'unknown'])[1 + i * i % 7 % 4], i % 10 FROM generate_series(1, 240) AS i;
CREATE TABLE choices (who integer, purpose text, recipient text, k integer, lvl integer, ok boolean, until date,
	PRIMARY KEY (who, purpose, recipient));
INSERT INTO choices SELECT id, p, 'ward', (ARRAY [2, 3, 4, 90, 1000, 0, NULL])[1 + id % 7], id % 3, id % 5 > 0,
	date '2100-01-01' - id % 4 * 36525
	FROM person, unnest('{care, study}'::text[]) AS p WHERE id % 11 > 0;
CREATE TABLE few (id integer PRIMARY KEY, age integer);
INSERT INTO few SELECT i, i FROM generate_series(1, 3) AS i;
CREATE TABLE visit (id integer, year integer, age integer, PRIMARY KEY (id, year)) PARTITION BY LIST (year);
CREATE TABLE visit_1 PARTITION OF visit FOR VALUES IN (2001);
CREATE TABLE visit_2 PARTITION OF visit FOR VALUES IN (2002);
INSERT INTO visit SELECT i, 2001 + i % 2, i % 70 FROM generate_series(1, 80) AS i;

SELECT kanon.create_anonymization_view('people', 'SELECT * FROM person', id => '{id}',
	quasi_ids => '{"age": "ages", "zip": "zips", "born": "days"}',
	sensitive => '{"disease": "illness"}', k => 4, l => 2, t => 0.9, other => '{ward}');
SELECT kanon.create_anonymization_view('boxes', 'SELECT id, age, zip, ward FROM person', id => '{id}',
	quasi_ids => '{"age": null, "zip": "zips"}',
	k => 3, algorithm => 'mondrian', match => 'witness', other => '{ward}');
SELECT kanon.create_anonymization_view('chosen', 'SELECT * FROM person', id => '{id}',
	quasi_ids => '{"age": "ages", "zip": "zips"}', sensitive => '{"disease": "illness"}',
	profile => '{"table": "choices", "key": {"id": "who"}, "k": "k", "sa_level": "lvl", "purpose": "purpose",
		"recipient": "recipient", "disclose": {"age": "ok"}, "retain": {"disease": "until"}}',
	other => '{born, ward}');
SELECT kanon.create_anonymization_view('kept', 'SELECT id, age, zip, disease, ward FROM person', id => '{id}',
	quasi_ids => '{"age": "ages", "zip": "zips"}',
	sensitive => '{"disease": "illness"}', k => 4, l => 2, materialized => true, other => '{ward}');
SELECT kanon.create_anonymization_view('personal', 'SELECT id, age, zip, disease FROM person', id => '{id}',
	quasi_ids => '{"age": "ages", "zip": "zips"}',
	sensitive => '{"disease": "illness"}', k => 3, materialized => true,
	profile => '{"table": "choices", "key": {"id": "who"}, "k": "k", "sa_level": "lvl", "purpose": "purpose",
		"recipient": "recipient"}');
SELECT kanon.create_anonymization_view('waiting', 'SELECT * FROM few', id => '{id}', quasi_ids => '{"age": "ages"}',
	k => 5, materialized => true);
SELECT kanon.create_anonymization_view('visits', 'SELECT * FROM visit', id => '{id, year}',
	quasi_ids => '{"age": "ages"}', k => 3, materialized => true);
SELECT kanon.create_anonymization_view('joined',
	'SELECT p.id, p.age, f.age AS other FROM person p JOIN few f ON f.id = p.id % 4', id => '{id}',
	quasi_ids => '{"age": "ages"}',
	k => 3, materialized => true, other => '{other}');
-- A partition, whose rows are written through its parent.
SELECT kanon.create_anonymization_view('first', 'SELECT id, year, age FROM visit_1', id => '{id, year}',
	quasi_ids => '{"age": "ages"}', k => 3, materialized => true);
CREATE VIEW upper AS SELECT zip, count(*) FROM people GROUP BY zip;
-- Some of the stored groups are no longer as they were made.
DELETE FROM person WHERE id % 9 = 2;
UPDATE person SET age = age + 15 WHERE id % 8 = 3;
INSERT INTO person SELECT 1000 + i, 15 + i * 11 % 60, lpad((i * 17 % 60)::text, 3, '0'), date '1970-01-01' + i * 100,
	'flu', i FROM generate_series(1, 15) AS i;
UPDATE choices SET k = k + 1 WHERE who % 10 = 1;
GRANT SELECT ON people, boxes, chosen, kept, personal, waiting, visits, joined, first, upper TO kanon_analyst;
GRANT SELECT (zip, ward) ON people TO kanon_officer;
RESET ROLE;
SET ROLE kanon_officer;
SELECT kanon.grant_access('kanon_analyst', 'care', 'ward', 'chosen'),
	kanon.grant_access('kanon_analyst', 'care', 'ward', 'personal'),
	kanon.grant_access('public', 'study', 'ward');
SQL

my @views = qw(people boxes chosen kept personal waiting visits joined first upper);
my @kept = qw(kept personal waiting visits first);

# Return the output of SQL that ROLE runs, errors included.
sub ask
{
	my ($node, $database, $role, $sql) = @_;
	my ($status, $out, $err) = $node->psql($database, $sql, on_error_stop => 0, extra_params => [ '-U', $role ]);
	$err =~ s/^psql:<stdin>:\d+: //mg;
	return "$role:\n$out\n$err\n";
}

# Return the answers of a database to all roles.
sub answers
{
	my ($node, $database) = @_;
	my $rows = join '', map { "SELECT '$_', v::text FROM $_ v ORDER BY v::text COLLATE \"C\";\n" } @views;
	my $groups = join '', map { "SELECT '$_', g::text FROM kanon.groups('$_') g ORDER BY g::text COLLATE \"C\";\n" }
		@kept, 'joined';
	# What is set for a role in a database is kept by pg_dumpall, but not by pg_dump.
	my $set = "SET kanon.recipient = 'ward';\n";
	return ask($node, $database, 'kanon_analyst', "SHOW kanon.purpose; $set $rows SET kanon.purpose = 'study';
		$rows SET kanon.purpose = 'other'; SELECT count(*) FROM chosen; SELECT count(*) FROM person;
		SELECT kanon.groups('kept')")
		. ask($node, $database, 'kanon_officer', 'SELECT count(ward) FROM people; SELECT age FROM people;
			SELECT * FROM kanon.access_grant ORDER BY 1, 2, 3, 4')
		. ask($node, $database, 'kanon_nobody', 'SELECT * FROM people; SELECT * FROM kanon.members_4;
			SELECT * FROM kanon.access_grant')
		. ask($node, $database, 'kanon_keeper',
			"$set SET kanon.purpose = 'study'; $groups SELECT * FROM kanon.generalization_sequence('kept');
			SELECT * FROM kanon.members_4")
		. $node->safe_psql($database, <<'SQL');
SELECT * FROM kanon.aview ORDER BY id;
SELECT * FROM kanon.aview_column ORDER BY aview, attnum;
SELECT * FROM kanon.aview_step ORDER BY aview, step;
SELECT * FROM kanon.aview_tree ORDER BY aview;
SELECT * FROM kanon.aview_follows ORDER BY aview, relation::text COLLATE "C";
SELECT * FROM kanon.p3p_statement ORDER BY 1, 2, 3, 4, 5;
SELECT id, name, kind, origin, widths, units, length, mask, leaf_order FROM kanon.dgh ORDER BY id;
SELECT * FROM kanon.dgh_edge ORDER BY 1, 2;
SELECT tgrelid::regclass, tgname, tgenabled, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
	ORDER BY tgrelid::regclass::text COLLATE "C", tgname;
SELECT evtname, evtenabled FROM pg_event_trigger ORDER BY evtname;
SELECT relname, coalesce(relacl, acldefault('r', relowner)) FROM pg_class WHERE relkind IN ('r', 'v', 'p')
	AND relnamespace IN ('kanon'::regnamespace, 'public'::regnamespace) ORDER BY relname;
SELECT proname, proacl FROM pg_proc WHERE pronamespace = 'kanon'::regnamespace
	AND proname IN ('groups', 'refresh', 'scan');
SELECT deptype, count(*) FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' GROUP BY 1;
SQL
}

# The groups go on: the triggers bring new and lost rows in, refresh finds nothing more to do, and the promise holds.
sub goes_on
{
	my ($node, $database, $how) = @_;
	$node->safe_psql($database, <<'SQL');
INSERT INTO person SELECT 2000 + i, 20 + i, lpad(i::text, 3, '0'), '1980-01-01', 'ulcer', 1
	FROM generate_series(1, 20) AS i;
DELETE FROM person WHERE id % 6 = 1;
UPDATE person SET zip = '0' || left(zip, 2) WHERE id % 10 = 4;
UPDATE choices SET k = 2 WHERE k = 1000;
DELETE FROM choices WHERE who % 13 = 5;
INSERT INTO few SELECT i, i FROM generate_series(4, 9) AS i;
INSERT INTO visit SELECT i, 2001, i % 7 FROM generate_series(100, 110) AS i;
CREATE TABLE visit_3 PARTITION OF visit FOR VALUES IN (2003);
INSERT INTO visit SELECT i, 2003, i FROM generate_series(1, 10) AS i;
DROP TABLE visit_2;
SQL
	is($node->safe_psql($database, qq{SELECT kanon.refresh('$_')}), '0', "$how: $_ has followed") for @kept;
	isnt($node->safe_psql($database, q{SELECT kanon.refresh('joined')}), '0',
		"$how: refresh brings in what no trigger does");
	is($node->safe_psql($database, <<'SQL'), "t|t|t|t", "$how: each has all rows, and no group is too small");
SELECT (SELECT count(*) FROM kept) = (SELECT count(*) FROM person), (SELECT count(*) FROM waiting) = 9,
	(SELECT count(*) FROM visits) = (SELECT count(*) FROM visit),
	(SELECT min(n) >= 3 FROM (SELECT count(*) AS n FROM kept GROUP BY age,
		zip UNION ALL SELECT count(*) FROM waiting GROUP BY age
		UNION ALL SELECT count(*) FROM visits GROUP BY age) q);
SQL
	is($node->safe_psql($database,
		q{SELECT string_agg(DISTINCT v || ': ' || measure || coalesce(' ' || subject, ''), ', ')
			FROM unnest('{people, boxes, kept, waiting, visits, joined, first}'::text[]) v, kanon.audit(v::regclass) a
			WHERE severity = 'critical' AND topic <> 'undeclared'}), '',
		"$how: the audit finds nothing critical but columns that are published as they are");
	is($node->safe_psql($database,
		q{SELECT kanon.create_dgh('new');
			SELECT kanon.create_anonymization_view('later', 'SELECT * FROM few', id => '{id}',
				quasi_ids => '{"age": "new"}', k => 5, materialized => true);
			DROP VIEW later;
			DROP VIEW kept;
			SELECT count(*) FROM pg_class WHERE relname IN ('groups_4', 'members_4')}),
		"\nlater\n0", "$how: new views come, old ones go as a whole");
	return;
}

my $before = answers($old, 'hospital');
like($before, qr/^\d+\|visit_1\|t$/m, 'a table is followed row by row');
like($before, qr/^waiting\|\(,3,/m, 'some rows wait without a group');
like($before, qr/^personal\|\([^,]/m, 'and some are in groups of their own choice');
like($before, qr/permission denied for table person/, 'an analyst may not read the table');
is(ask($old, 'hospital', 'kanon_analyst', 'SELECT count(*) FROM waiting'), "kanon_analyst:\n0\n\n",
	'nor is shown those who wait');

my $dir = PostgreSQL::Test::Utils::tempdir();
$old->command_ok([ 'pg_dump', '--format=custom', '--file', "$dir/custom", 'hospital' ], 'custom dump');
$old->command_ok([ 'pg_dump', '--format=directory', '--jobs=2', '--file', "$dir/directory", 'hospital' ],
	'directory dump by two jobs');
$old->command_ok([ 'pg_dump', '--inserts', '--rows-per-insert=7', '--file', "$dir/inserts", 'hospital' ],
	'dump with inserts');
$old->command_ok([ 'pg_dump', "--section=$_", '--file', "$dir/$_", 'hospital' ], "dump of section $_")
	for qw(pre-data data post-data);
$old->command_ok([ 'pg_dumpall', '--file', "$dir/all" ], 'dump of all');

my @psql = qw(psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1);
my %restore = (
	custom => [ [ qw(pg_restore --exit-on-error --jobs=2), "$dir/custom" ] ],
	directory => [ [ qw(pg_restore --exit-on-error --jobs=2), "$dir/directory" ] ],
	inserts => [ [ @psql, '--file', "$dir/inserts" ] ],
	sections => [ map { [ @psql, '--file', "$dir/$_" ] } qw(pre-data data post-data) ],
	restored_sections => [ map { [ qw(pg_restore --exit-on-error --jobs=2), "--section=$_", "$dir/custom" ] }
		qw(pre-data data post-data) ],
);
for my $how (sort keys %restore)
{
	$old->safe_psql('postgres', "CREATE DATABASE $how TEMPLATE template0");
	$old->command_ok([ @$_, '--dbname', $how ], "$how: restore") for @{ $restore{$how} };
	is(answers($old, $how), $before, "$how: the same answers");
	goes_on($old, $how, $how);
	$old->safe_psql('postgres', "DROP DATABASE $how");
}

# Another cluster, with its roles.
my $all = PostgreSQL::Test::Cluster->new('all');
$all->init;
$all->start;
my ($status, $out, $err) = $all->psql('postgres', "\\i $dir/all", on_error_stop => 0);
is(join('', grep { !/role "[^"]*" already exists|^$/ } split /^/, $err), '', 'pg_dumpall: restore');
is(answers($all, 'hospital'), $before, 'pg_dumpall: the same answers');
is(ask($all, 'hospital', 'kanon_analyst', 'SHOW kanon.recipient'), "kanon_analyst:\nward\n\n",
	'pg_dumpall: what is set for a role in a database');
goes_on($all, 'hospital', 'pg_dumpall');
$all->stop;

# pg_upgrade: nothing is dumped but the catalogs.
SKIP:
{
	skip 'there is no pg_upgrade', 1 if system('command -v pg_upgrade >/dev/null') != 0;
	chomp(my $bin = `pg_config --bindir`);
	my $new = PostgreSQL::Test::Cluster->new('new');
	$new->init;
	$old->stop;
	command_ok([ 'pg_upgrade', '--old-datadir', $old->data_dir, '--new-datadir', $new->data_dir, '--old-bindir', $bin,
		'--new-bindir', $bin,
			'--socketdir', $new->host, '--old-port', $old->port, '--new-port', $new->port ], 'pg_upgrade');
	$new->start;
	is(answers($new, 'hospital'), $before, 'pg_upgrade: the same answers');
	$old = $new;
	$old->command_ok([ 'pg_dump', '--format=custom', '--file', "$dir/upgraded", 'hospital' ],
		'dump of an upgraded database');
	$old->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE template0');
	$old->command_ok([ qw(pg_restore --exit-on-error --jobs=2), "$dir/upgraded", '--dbname', 'copy' ],
		'and its restore');
	is(answers($old, 'copy'), $before, 'gives the same answers');
	goes_on($old, 'hospital', 'pg_upgrade');
}

$old->stop;
done_testing();
