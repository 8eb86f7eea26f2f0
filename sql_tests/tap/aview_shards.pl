# A source that is partitioned over two other servers: they count its classes, and the answer is that of one table.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my @shards = map { PostgreSQL::Test::Cluster->new("shard$_") } 1, 2;
my $main = PostgreSQL::Test::Cluster->new('main');
for my $node (@shards, $main)
{
	$node->init;
	$node->append_conf('postgresql.conf', 'fsync = off');
	$node->append_conf('postgresql.conf', 'log_statement = all') if $node != $main;
	$node->start;
	# The tests use the role postgres, whichever role runs them.
	$node->safe_psql('postgres', 'DO $$ BEGIN CREATE ROLE postgres SUPERUSER LOGIN;
		EXCEPTION WHEN duplicate_object THEN END $$');
}
plan skip_all => 'postgres_fdw is not installed'
	unless $main->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'");

my $columns = 'id integer, age integer, zip text, disease text, ward integer';
my $rows = <<~'END';
	SELECT i AS id, nullif(20 + i * 7 % 50, 34) AS age, lpad((i * i % 97)::text, 3, '0') AS zip,
		(ARRAY ['flu', 'hiv', 'ulcer'])[1 + (i * i % 13) % 3] AS disease, i % 10 AS ward
		FROM generate_series(1, 3000) AS i
	END

$main->safe_psql('postgres', <<~END);
	CREATE EXTENSION kanon;
	CREATE EXTENSION postgres_fdw;
	CREATE ROLE kanon_analyst;
	CREATE TABLE whole ($columns);
	ALTER TABLE whole ADD PRIMARY KEY (id);
	CREATE TABLE spread ($columns) PARTITION BY HASH (id);
	CREATE TABLE repeats ($columns) PARTITION BY HASH (id);
	CREATE TABLE by_ward ($columns) PARTITION BY LIST (ward);
	CREATE TABLE large ($columns) PARTITION BY LIST (disease);
	-- One partition is here, and has its columns in another order.
	CREATE TABLE spread_here (gone text, zip text, ward integer, id integer, disease text, age integer);
	ALTER TABLE spread_here DROP COLUMN gone;
	ALTER TABLE spread ATTACH PARTITION spread_here FOR VALUES WITH (MODULUS 3, REMAINDER 2);
	END

for my $i (0, 1)
{
	my ($host, $port) = ($shards[$i]->host, $shards[$i]->port);
	my $wards = join(', ', grep { $_ % 2 == $i } 0 .. 9);

	$shards[$i]->safe_psql('postgres', <<~END);
		CREATE TABLE spread ($columns);
		ALTER TABLE spread ADD PRIMARY KEY (id);
		CREATE TABLE repeats ($columns);
		CREATE TABLE by_ward ($columns);
		CREATE VIEW unsteady AS SELECT id, (random() * 1e9)::integer AS age FROM spread;
		CREATE TABLE large ($columns);
		END
	$main->safe_psql('postgres', <<~END);
		CREATE SERVER shard$i FOREIGN DATA WRAPPER postgres_fdw
			OPTIONS (host '$host', port '$port', dbname 'postgres', async_capable 'true');
		CREATE USER MAPPING FOR CURRENT_USER SERVER shard$i;
		CREATE FOREIGN TABLE spread_$i PARTITION OF spread FOR VALUES WITH (MODULUS 3, REMAINDER $i) SERVER shard$i
			OPTIONS (table_name 'spread');
		CREATE FOREIGN TABLE repeats_$i PARTITION OF repeats FOR VALUES WITH (MODULUS 2, REMAINDER $i) SERVER shard$i
			OPTIONS (table_name 'repeats');
		CREATE FOREIGN TABLE by_ward_$i PARTITION OF by_ward FOR VALUES IN ($wards) SERVER shard$i
			OPTIONS (table_name 'by_ward');
		CREATE FOREIGN TABLE large_$i PARTITION OF large FOR VALUES IN ('disease $i') SERVER shard$i
			OPTIONS (table_name 'large');
		CREATE FOREIGN TABLE unsteady_$i (id integer, age integer) SERVER shard$i OPTIONS (table_name 'unsteady');
		END
}
$main->safe_psql('postgres', <<~END);
	INSERT INTO whole $rows;
	INSERT INTO spread TABLE whole;
	INSERT INTO by_ward TABLE whole;
	-- Everybody has one to three rows.
	CREATE TABLE whole_repeats AS SELECT id / 2 AS id, age, zip, disease, ward FROM whole;
	INSERT INTO repeats TABLE whole_repeats;
	SELECT kanon.create_interval_dgh('ages', 0, '{5, 10, 50}');
	SELECT kanon.create_prefix_dgh('zips', 3);
	GRANT SELECT ON ALL TABLES IN SCHEMA public TO kanon_analyst;
	REVOKE SELECT ON whole, spread FROM kanon_analyst;
	END

# view NAME, SOURCE, OPTIONS: the same view over a table and over its shards.
sub view
{
	my ($name, $source, $options) = @_;
	$main->safe_psql('postgres', "SELECT kanon.create_anonymization_view('$name', 'SELECT * FROM $source', id => '{id}',
		quasi_ids => '{\"age\": \"ages\", \"zip\": \"zips\"}', sensitive => '{\"disease\": null}', other => '{ward}',
			$options);
		GRANT SELECT ON $name TO kanon_analyst");
	return;
}

# Published rows in an order of their own.
sub rows_of
{
	my ($view, $where) = @_;
	return $main->safe_psql('postgres',
		"SET ROLE kanon_analyst; SELECT v::text FROM $view v WHERE $where ORDER BY v::text COLLATE \"C\"");
}

# Return the queries that the shards received since the last call.
my %seen;
sub statements
{
	my $text = '';
	for my $shard (@shards)
	{
		my $log = slurp_file($shard->logfile);
		$text .= substr($log, $seen{ $shard->name } // 0);
		$seen{ $shard->name } = length $log;
	}
	return $text;
}

my @policies = ('k => 3', 'k => 7', 'k => 4, l => 2', 'k => 4, t => 0.4', 'k => 3, match => \'witness\'');
for my $i (0 .. $#policies)
{
	view("whole_$i", 'whole WHERE ward < 9', $policies[$i]);
	view("spread_v$i", 'spread WHERE ward < 9', $policies[$i]);
	statements();
	is(rows_of("spread_v$i", 'true'), rows_of("whole_$i", 'true'), "$policies[$i]: the rows of the whole table");
	my $asked = statements();
	my @grouped = $asked =~ /SELECT [^\n]*count\(\*\)[^\n]*GROUP BY 1, 2/g;
	is(scalar @grouped, 2, "$policies[$i]: both shards counted") or diag($asked);
	is(rows_of("spread_v$i", $_), rows_of("whole_$i", $_), "$policies[$i]: $_")
		for "age = '25'", "ward = 3", "zip = '016' AND ward IN (1, 2)", "disease = 'flu' AND age > '40'";
}
like($main->safe_psql('postgres', 'EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM spread_v0'),
	qr/Histogram:.*Remote SQL: SELECT age, zip, count\(\*\) FROM public.spread WHERE .* GROUP BY 1, 2/,
	'EXPLAIN shows who counts');

# A row without an identifier is no individual, even if no identifier occurs twice: the rows of 61-year-olds are of two.
for my $i (0, 1)
{
	$shards[$i]->safe_psql('postgres', "CREATE TABLE absent ($columns)");
	$main->safe_psql('postgres', "CREATE TABLE absent ($columns) PARTITION BY HASH (id)") if $i == 0;
	$main->safe_psql('postgres', "CREATE FOREIGN TABLE absent_$i PARTITION OF absent
		FOR VALUES WITH (MODULUS 2, REMAINDER $i) SERVER shard$i OPTIONS (table_name 'absent')");
}
$main->safe_psql('postgres', <<~'END');
	INSERT INTO absent SELECT id, 20 + id % 3, '001', disease, ward FROM whole WHERE id <= 30;
	INSERT INTO absent VALUES (31, 61, '001', 'flu', 1), (32, 61, '001', 'hiv', 1), (NULL, 61, '001', 'ulcer', 1);
	CREATE TABLE whole_absent AS TABLE absent;
	GRANT SELECT ON absent, whole_absent TO kanon_analyst;
	END
view('whole_a', 'whole_absent', 'k => 3');
view('spread_a', 'absent', 'k => 3');
is(rows_of('spread_a', 'true'), rows_of('whole_a', 'true'), 'a missing identifier: the rows of the whole table');
unlike(rows_of('spread_a', 'true'), qr/60,65/, 'a missing identifier adds no individual');

# Individuals with several rows, or perhaps on several shards, are told apart here.
$main->safe_psql('postgres', 'ALTER TABLE whole_repeats ALTER id SET NOT NULL');
view('whole_r', 'whole_repeats', 'k => 4');
view('spread_r', 'repeats', 'k => 4');
statements();
is(rows_of('spread_r', 'true'), rows_of('whole_r', 'true'), 'several rows of one individual');
unlike(statements(), qr/GROUP BY 1, 2/, 'are not for the shards to count');
view('spread_w', 'by_ward', 'k => 4');
view('whole_w', 'whole', 'k => 4');
statements();
is(rows_of('spread_w', 'true'), rows_of('whole_w', 'true'), 'identifiers that may be on both shards');
unlike(statements(), qr/GROUP BY/, 'are not for the shards to count either');

# No identifier: every row is an individual.
$main->safe_psql('postgres', <<~'END');
	SELECT kanon.create_anonymization_view('whole_n', 'SELECT zip, left(zip, 1) AS first, ward FROM whole',
		quasi_ids => '{"zip": "zips", "first": null}', k => 12, other => '{ward}');
	SELECT kanon.create_anonymization_view('spread_n', 'SELECT zip, left(zip, 1) AS first, ward FROM spread',
		quasi_ids => '{"zip": "zips", "first": null}', k => 12, other => '{ward}');
	GRANT SELECT ON whole_n, spread_n TO kanon_analyst;
	END
is(rows_of('spread_n', 'true'), rows_of('whole_n', 'true'), 'expressions, without identifiers');

# Row security of the partitioned table holds, and is not for the shards to know.
$main->safe_psql('postgres', <<~'END');
	CREATE ROLE keeper;
	GRANT SELECT ON whole, spread TO keeper;
	GRANT CREATE ON SCHEMA public TO keeper;
	CREATE USER MAPPING FOR keeper SERVER shard0 OPTIONS (user 'postgres', password_required 'false');
	CREATE USER MAPPING FOR keeper SERVER shard1 OPTIONS (user 'postgres', password_required 'false');
	ALTER TABLE whole ENABLE ROW LEVEL SECURITY;
	ALTER TABLE spread ENABLE ROW LEVEL SECURITY;
	CREATE POLICY p ON whole USING (ward > 3);
	CREATE POLICY p ON spread USING (ward > 3);
	SET ROLE keeper;
	SELECT kanon.create_anonymization_view('whole_s', 'SELECT * FROM whole', id => '{id}',
		quasi_ids => '{"age": "ages", "zip": "zips"}', k => 4, other => '{*}');
	SELECT kanon.create_anonymization_view('spread_s', 'SELECT * FROM spread', id => '{id}',
		quasi_ids => '{"age": "ages", "zip": "zips"}', k => 4, other => '{*}');
	GRANT SELECT ON whole_s, spread_s TO kanon_analyst;
	END
is(rows_of('spread_s', 'true'), rows_of('whole_s', 'true'), 'row security');
is($main->safe_psql('postgres', 'SELECT count(*) FROM spread_s'),
	$main->safe_psql('postgres', 'SELECT count(*) FROM whole WHERE ward > 3'), 'and it is in force');

# Without rights on the partitioned table nothing is counted for the owner of a view.
$main->safe_psql('postgres', 'ALTER TABLE spread DISABLE ROW LEVEL SECURITY; REVOKE SELECT ON spread FROM keeper');
my ($status, $out, $err) = $main->psql('postgres', 'SELECT * FROM spread_s');
like($err, qr/permission denied for table spread/, 'the rights are those on the partitioned table');

# A server that says one thing when asked for counts and another when asked for rows is not published. Where nothing but
# quasi-identifiers is asked for, it is asked for counts only.
$main->safe_psql('postgres', "SELECT kanon.create_anonymization_view('unsteady',
	'SELECT age, id AS number FROM unsteady_0', quasi_ids => '{\"age\": \"ages\"}', k => 2, other => '{number}')");
is($main->safe_psql('postgres', 'SELECT count(age) FROM unsteady'),
	$main->safe_psql('postgres', 'SELECT count(*) FROM unsteady_0'), 'counts come from one reading');
($status, $out, $err) = $main->psql('postgres', 'SELECT * FROM unsteady');
isnt($status, 0, 'a remote view that changes from one reading to the next fails');
like($err, qr/changed while it was read/, 'and says why');
is($out, '', 'with no rows');

# peak ROWS: the most memory, in kB, of a session that has read so many rows of a sharded view.
sub peak
{
	my ($count) = @_;
	$shards[$_]->safe_psql('postgres',
		"TRUNCATE large; INSERT INTO large SELECT i, i % 50, (i % 30)::text, 'disease $_', i % 10
		FROM generate_series(1, $count / 2) AS i")
		for 0, 1;
	my $session = $main->background_psql('postgres');
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	$session->query_safe('SELECT count(age) FROM large_v; SELECT count(disease) FROM large_v');
	my ($size) = slurp_file("/proc/$pid/status") =~ /VmHWM:\s+(\d+)/;
	$session->quit;
	return $size;
}

SKIP:
{
	skip 'there is no /proc', 1 unless -e '/proc/self/status';
	# The sanitizer keeps freed memory for a while, to see that it is not used.
	skip 'a watched server has memory of its own', 1 if $ENV{WATCH};
	$main->safe_psql('postgres', "SELECT kanon.create_anonymization_view('large_v', 'SELECT * FROM large',
		quasi_ids => '{\"age\": null, \"zip\": null}', k => 5, other => '{*}')");
	# Both more than fits into work_mem, to which all memory is bounded.
	my $small = peak(100000);
	cmp_ok(peak(300000), '<', $small + 4096, 'memory does not grow with rows');
}

$_->stop for @shards, $main;
done_testing();
