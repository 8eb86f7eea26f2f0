# Without the library nothing raw comes out: queries fail.
use strict;
use warnings;

use File::Copy;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $library = `pg_config --pkglibdir`;
chomp $library;
$library .= '/kanon.so';
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
# The tests use the role postgres, whichever role runs them.
$node->safe_psql('postgres', 'DO $$ BEGIN CREATE ROLE postgres SUPERUSER LOGIN;
	EXCEPTION WHEN duplicate_object THEN END $$');
my $dir = $node->data_dir . '/library';
mkdir $dir;
$node->safe_psql('postgres', <<~'END');
	CREATE EXTENSION kanon;
	CREATE ROLE kanon_analyst;
	CREATE TABLE person (name text, age integer, disease text);
	INSERT INTO person SELECT 'secret' || i, i, 'secret' FROM generate_series(1, 20) i;
	SELECT kanon.create_anonymization_view('people', 'SELECT * FROM person', id => '{name}',
		quasi_ids => '{"age": null}', k => 3,
	other => '{disease}');
	CREATE VIEW upper AS SELECT disease FROM people;
	GRANT SELECT ON people, upper TO kanon_analyst;
	END
# The installation is that of other tests, too: not the library goes away, but the extension's functions look elsewhere.
copy($library, "$dir/kanon_elsewhere.so") or die "cannot copy $library: $!";
$node->safe_psql('postgres', <<~'END');
	UPDATE pg_proc SET probin = '$libdir/kanon_that_is_not_there' WHERE probin = '$libdir/kanon';
	END
for my $query (
	'SELECT * FROM people', 'SELECT count(*) FROM people', 'SELECT disease FROM people', 'SELECT * FROM upper',
	'EXPLAIN SELECT * FROM people', 'EXPLAIN ANALYZE SELECT * FROM people', 'COPY (SELECT * FROM people) TO stdout',
	'CREATE TEMP TABLE copied AS SELECT * FROM people; SELECT * FROM copied',
	"SELECT * FROM kanon.scan('people') AS s (n text, a kanon.generalized, d text)",
	'DECLARE c CURSOR WITH HOLD FOR SELECT * FROM people; FETCH ALL FROM c')
{
	for my $role (qw(kanon_analyst postgres))
	{
		my ($status, $out, $err) = $node->psql('postgres', "SET ROLE $role; $query");
		isnt($status, 0, "$role: $query fails");
		unlike("$out$err", qr/secret/, 'and shows nothing');
		like($err, qr/could not access file/, 'for want of the library');
	}
}
# And when it is back, all is well.
$node->safe_psql('postgres', <<~"END");
	UPDATE pg_proc SET probin = '$dir/kanon_elsewhere' WHERE probin = '\$libdir/kanon_that_is_not_there';
	END
is($node->safe_psql('postgres', 'SET ROLE kanon_analyst; SELECT count(*) FROM people'), '20',
	'with the library there are rows');
$node->stop;
done_testing();
