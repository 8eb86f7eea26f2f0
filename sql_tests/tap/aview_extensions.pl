# Other extensions that hook into the planner and the executor, preloaded one by one and then all together: the same
# answers, also for analysts, prepared statements, cursors, stored groups and their maintenance. An extension that is
# not installed is skipped by its name.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# The libraries to preload for each extension, the settings with which it does most, and what to run besides.
my %extensions = (
	pgaudit => { libraries => ['pgaudit'],
		settings => "pgaudit.log = 'all'\npgaudit.log_relation = on\npgaudit.log_parameter = on" },
	pgaudit_ddl => { libraries => ['pgaudit'], settings => "pgaudit.log = 'ddl'" },
	pgaudit_role => { libraries => ['pgaudit'], settings => "pgaudit.role = 'kanon_auditor'" },
	pg_stat_statements => { libraries => ['pg_stat_statements'], settings => "pg_stat_statements.track = 'all'" },
	auto_explain => { libraries => ['auto_explain'],
		settings => "auto_explain.log_min_duration = 0\nauto_explain.log_analyze = on\n"
			. 'auto_explain.log_nested_statements = on' },
	pg_qualstats => { libraries => ['pg_qualstats'], settings => "pg_qualstats.sample_rate = 1" },
	pg_stat_kcache => { libraries => ['pg_stat_statements', 'pg_stat_kcache'],
		settings => "pg_stat_statements.track = 'all'\npg_stat_kcache.track = 'all'" },
	pg_wait_sampling => { libraries => ['pg_wait_sampling'], settings => "pg_wait_sampling.profile_queries = 'all'" },
	hypopg => { libraries => ['hypopg'], settings => '', create => 'hypopg',
		run => "SELECT count(*) FROM hypopg_create_index('CREATE INDEX ON person (ward)')" },
	plpgsql_check => { libraries => ['plpgsql_check'], settings => "plpgsql_check.mode = 'every_start'",
		create => 'plpgsql_check',
		run => "SELECT count(*) FROM plpgsql_check_function('asked()')" },
	pg_cron => { libraries => ['pg_cron'], settings => "cron.database_name = 'postgres'" },
	pglogical => { libraries => ['pglogical'], settings => "wal_level = 'logical'" },
	pg_repack => { libraries => [], settings => '', create => 'pg_repack', program => 'pg_repack' },
	postgis => { libraries => [], settings => '', create => 'postgis', source => 'ST_X(ST_MakePoint(ward, 1))::int' },
);

my $node = PostgreSQL::Test::Cluster->new('main');
chomp(my $directory = `pg_config --pkglibdir`);
chomp(my $share = `pg_config --sharedir`);
$node->init;
$node->start;
$node->safe_psql('postgres', 'DO $$ BEGIN CREATE ROLE postgres SUPERUSER LOGIN;
	EXCEPTION WHEN duplicate_object THEN END $$');
$node->safe_psql('postgres', <<~'END');
	CREATE EXTENSION kanon;
	CREATE ROLE kanon_analyst;
	CREATE ROLE kanon_auditor;
	CREATE TABLE person (name text PRIMARY KEY, age integer, zip text, disease text, ward integer);
	CREATE INDEX person_ward ON person (ward);
	GRANT SELECT, INSERT ON person TO kanon_auditor;
	SELECT kanon.create_interval_dgh('ages', 0, '{10, 50}');
	SELECT kanon.create_prefix_dgh('zips', 3);
	SELECT kanon.create_anonymization_view('people', 'SELECT * FROM person', id => '{name}',
		quasi_ids => '{"age": "ages", "zip": "zips"}', sensitive => '{"disease": null}', k => 4, other => '{ward}');
	CREATE FUNCTION asked() RETURNS bigint LANGUAGE plpgsql STABLE AS
		$$ BEGIN RETURN (SELECT count(*) FROM people WHERE ward < 3 AND age = 25); END $$;
	GRANT SELECT ON people TO kanon_analyst;
	END

# The rows, and groups made from them.
my $start = <<~'END';
	TRUNCATE person;
	INSERT INTO person SELECT 'p' || i, 20 + i % 37, lpad((i % 61)::text, 3, '0'), 'd' || i % 7, i % 10
		FROM generate_series(1, 1234) i;
	ANALYZE person;
	DROP VIEW IF EXISTS stored;
	SELECT kanon.create_anonymization_view('stored', 'SELECT * FROM person', id => '{name}',
		quasi_ids => '{"age": "ages", "zip": "zips"}', sensitive => '{"disease": null}', k => 4, materialized => true,
		other => '{ward}');
	GRANT SELECT ON stored TO kanon_analyst;
	END

# What every role asks.
my $questions = <<~'END';
	SELECT 1, md5(string_agg(p::text, ',' ORDER BY p::text)) FROM people AS p WHERE ward < 5;
	SELECT 2, zip, count(*) FROM stored WHERE zip = '012' GROUP BY zip ORDER BY zip;
	SET kanon.plan = select_first;
	SELECT 3, count(*) FROM people WHERE disease = 'd3' AND ward = 7 AND age > 30;
	RESET kanon.plan;
	PREPARE one (int) AS SELECT 4, count(*) FROM stored AS s JOIN people AS p USING (ward) WHERE ward = $1
		AND s.age = p.age;
	EXECUTE one (3);
	EXECUTE one (4);
	DECLARE c SCROLL CURSOR FOR SELECT 5, zip, count(*) FROM stored GROUP BY zip ORDER BY zip;
	FETCH 3 FROM c;
	FETCH BACKWARD 1 FROM c;
	SELECT 6, count(*) FROM people AS a JOIN stored AS b ON a.zip = b.zip WHERE a.ward = 1 AND b.ward = 2;
	SELECT 7, asked();
	EXPLAIN (COSTS off) SELECT count(*) FROM stored WHERE ward = 1;
	END
my $session = <<~"END";
	$start
	BEGIN;
	$questions
	DEALLOCATE one;
	CLOSE c;
	SET LOCAL ROLE kanon_analyst;
	$questions
	COMMIT;
	INSERT INTO person SELECT 'q' || i, 21, '001', 'd1', 3 FROM generate_series(1, 7) i;
	DELETE FROM person WHERE ward = 9;
	UPDATE person SET age = age + 1 WHERE ward = 8;
	SELECT 8, md5(string_agg(s::text, ',' ORDER BY s::text)) FROM stored AS s;
	SELECT kanon.refresh('stored');
	SELECT 9, md5(string_agg(s::text, ',' ORDER BY s::text)) FROM stored AS s;
	SELECT 10, topic, severity FROM kanon.audit('stored') ORDER BY 2, 3;
	END

my $expected = without_numbers($node->safe_psql('postgres', $session));
like($expected, qr/^8\|/m, 'there is an answer');
my $configuration = slurp_file($node->data_dir . '/postgresql.conf');

# Leave out the number of the view, by which its stored tables are named.
sub without_numbers { return shift =~ s/(groups|members)_\d+/$1/gr }

# Restart the server with these libraries and settings, and compare the answers.
sub compare
{
	my ($name, $libraries, $settings) = @_;
	my $conf = $node->data_dir . '/postgresql.conf';
	unlink $conf;
	append_to_file($conf, "$configuration\nshared_preload_libraries = '" . join(',', @$libraries) . "'\n$settings\n");
	$node->restart;
	my ($out, $err) = ('', '');
	my $code = $node->psql('postgres', $session, stdout => \$out, stderr => \$err, on_error_stop => 1);
	is($code, 0, "$name: no error") or diag($err);
	is(without_numbers($out), $expected, "$name: the same answers");
	return;
}

# What an extension does besides.
sub use_extension
{
	my ($name, $extension) = @_;
	$node->safe_psql('postgres', "CREATE EXTENSION $extension->{create}");
	like($node->safe_psql('postgres', $extension->{run}), qr/\d/, "$name: its own work") if $extension->{run};
	if ($extension->{program})
	{
		my $before = $node->safe_psql('postgres', 'SELECT zip, count(*) FROM stored GROUP BY zip ORDER BY zip');
		$node->command_ok([ $extension->{program}, '--no-superuser-check', '-t', 'person', '-d', 'postgres' ],
			"$name: the program runs");
		is($node->safe_psql('postgres', 'SELECT zip, count(*) FROM stored GROUP BY zip ORDER BY zip'), $before,
			"$name: the same groups");
		$node->safe_psql('postgres', "INSERT INTO person VALUES ('after', 20, '001', 'd1', 1)");
		is($node->safe_psql('postgres',
			"SELECT jsonb_path_exists(jsonb_agg(g), '\$.**?(@ == \"after\")') FROM kanon.groups('stored') g"), 't',
			"$name: changes are followed afterwards");
	}
	if ($extension->{source})
	{
		$node->safe_psql('postgres', "SELECT kanon.create_anonymization_view('placed', "
				. "'SELECT name, age, $extension->{source} AS place FROM person', id => '{name}', "
				. "quasi_ids => '{\"age\": \"ages\"}', "
				. "k => 4)");
		is($node->safe_psql('postgres',
			'SET ROLE kanon_analyst; RESET ROLE; SELECT count(*) FROM placed WHERE place = 1'),
			$node->safe_psql('postgres', 'SELECT count(*) FROM person WHERE ward = 1'),
				"$name: a source that calls it");
		$node->safe_psql('postgres', 'SELECT kanon.drop_anonymization_view($$placed$$)');
	}
	return;
}

# The blocks that pg_stat_statements counts for an analyst's condition on a value. The view may preselect by hidden
# values.
sub count_blocks
{
	my ($value) = @_;
	return $node->safe_psql('postgres', <<~"END") =~ s/.*\n//sr;
		SET ROLE kanon_analyst;
		SET kanon.plan = select_first;
		SELECT count(*) FROM hasty WHERE disease = '$value';
		SELECT count(*) FROM hasty WHERE disease = '$value';
		RESET ROLE;
		SELECT pg_stat_statements_reset();
		SET ROLE kanon_analyst;
		SELECT count(*) FROM hasty WHERE disease = '$value';
		RESET ROLE;
		SELECT sum(shared_blks_hit + shared_blks_read) FROM pg_stat_statements WHERE query LIKE '%FROM hasty%';
		END
}

# A condition that meets suppressed rows uses as many blocks as one that meets none.
sub compare_blocks
{
	$node->safe_psql('postgres', <<~'END');
		CREATE EXTENSION pg_stat_statements;
		TRUNCATE person;
		INSERT INTO person SELECT 'p' || i, 20 + i % 37, lpad((i % 61)::text, 3, '0'), 'd' || i % 7, i % 10
			FROM generate_series(1, 1234) i;
		INSERT INTO person SELECT 'lonely' || i, 1000 + i * 100, 'X', 'plague', 1 FROM generate_series(1, 3) i;
		CREATE INDEX person_disease ON person (disease);
		ANALYZE person;
		SELECT kanon.create_anonymization_view('hasty', 'SELECT * FROM person', id => '{name}',
			quasi_ids => '{"age": "ages", "zip": null}', sensitive => '{"disease": null}', k => 4,
				preselect => 'hidden');
		GRANT SELECT ON hasty TO kanon_analyst;
		END
	my ($met, $none) = map { count_blocks($_) } qw(plague cholera);
	like($met, qr/^\d+$/, 'pg_stat_statements counts blocks');
	is($met, $none, 'pg_stat_statements: as many blocks for a hidden value as for none');
	$node->safe_psql('postgres', 'DROP VIEW hasty; DROP INDEX person_disease; DROP EXTENSION pg_stat_statements');
	return;
}

my (%all, @all_settings);
for my $name (sort keys %extensions)
{
	my $extension = $extensions{$name};
	my @missing = grep { !-e "$directory/$_.so" } @{ $extension->{libraries} };
	push @missing, $extension->{create} if $extension->{create} && !-e "$share/extension/$extension->{create}.control";
	push @missing, $extension->{program} if $extension->{program}
		&& system("command -v $extension->{program} >/dev/null") != 0;
  SKIP:
	{
		skip "$name is not installed", 1 if @missing;
		compare($name, $extension->{libraries}, $extension->{settings});
		use_extension($name, $extension) if $extension->{create};
		compare_blocks() if $name eq 'pg_stat_statements';
		# pgaudit is there already; pglogical with the others stops the server at its start, with or without kanon.
		next if $name =~ /^pgaudit_|^pglogical$/;
		$all{$_} = 1 for @{ $extension->{libraries} };
		push @all_settings, $extension->{settings};
	}
}
# pg_stat_kcache asks to be loaded after pg_stat_statements.
compare('all together', [ grep({ $_ ne 'pg_stat_kcache' } sort keys %all), grep { $_ eq 'pg_stat_kcache' } keys %all ],
	join("\n", @all_settings))
  if %all;

$node->stop;
done_testing();
