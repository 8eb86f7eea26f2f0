# Hierarchies of every kind survive pg_dump and a restore into a new database, and go on to work there.
use strict;
use warnings FATAL => 'all';

use Cwd;
use FindBin;
use lib $FindBin::Bin;
use Kanon;
use Test::More;

my $dir = getcwd();
my $origin = 'kanon_tap_dump_origin';
psql('postgres', "DROP DATABASE IF EXISTS $origin");
psql('postgres', "CREATE DATABASE $origin TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'");

# Ids and generations are well apart from each other and from those of a new database.
psql($origin, <<'SQL');
CREATE EXTENSION kanon;
DO $$ BEGIN FOR i IN 1 .. 20 LOOP PERFORM kanon.create_dgh('x' || i); PERFORM kanon.drop_dgh('x' || i); END LOOP;
	END $$;
SELECT kanon.create_dgh('Größe "o''clock"');
INSERT INTO kanon.dgh_edge VALUES ('Größe "o''clock"', 'a;b', 'p "q"'), ('Größe "o''clock"', E'line\nend', 'p "q"'),
	('Größe "o''clock"', 'é日本', 'other');
SELECT kanon.import_dgh('ordered', '{zebra;animal;*,apple;fruit;*,10;number;*,9;number;*,Ant;animal;*}');
SELECT kanon.import_dgh('empty', '{}');
INSERT INTO kanon.dgh_edge VALUES ('ordered', 'late', 'fruit');
SELECT kanon.create_interval_dgh('age', 0.5, '{5,10.0,100}'), kanon.create_date_dgh('birth', '{day,quarter,decade}'),
	kanon.create_prefix_dgh('zip', 5, '•');
CREATE TABLE published AS SELECT kanon.generalize('ordered', v, 1) AS x
	FROM unnest('{apple,9,zebra,unknown}'::text[]) v;
CREATE MATERIALIZED VIEW grouped AS SELECT kanon.generalize('age', i::text, 2) AS age, count(*)
	FROM generate_series(1, 50) i GROUP BY 1;
CREATE INDEX ON published (x);
SQL

# Return the answers of a database.
sub answers
{
	my ($database) = @_;
	return psql($database, <<'SQL');
SELECT id, name, kind, origin, widths, units, length, mask, leaf_order FROM kanon.dgh ORDER BY id;
SELECT * FROM kanon.dgh_edge ORDER BY 1, 2;
SELECT name, line FROM kanon.dgh, kanon.export_dgh(name) WITH ORDINALITY e (line, n) WHERE kind = 'tree' ORDER BY id, n;
SELECT v, kanon.dgh_path(dgh, v) FROM (VALUES ('Größe "o''clock"', 'a;b'), ('ordered', 'late'), ('ordered', 'unknown'),
	('empty', 'x'),
    ('age', '37'), ('birth', '1968-07-29'), ('zip', '13053')) q (dgh, v);
SELECT kanon.dgh_distance('ordered', 'zebra', '9'), kanon.dgh_distance('age', '1', '99');
SELECT kanon.generalize('ordered', 'zebra', 1) = 'Ant', kanon.generalize('ordered', '9', 1) < 10,
	kanon.generalize('zip', '13053', 3) = '13999';
SELECT x, count(*) FROM published GROUP BY x ORDER BY x;
SELECT * FROM grouped ORDER BY 1;
SELECT count(*) FROM pg_catalog.pg_trigger WHERE tgrelid IN ('kanon.dgh'::regclass, 'kanon.dgh_edge'::regclass)
	AND tgenabled = 'A';
SQL
}
my $expected = answers($origin);
like($expected, qr/zebra;animal;\*\n.*Ant;animal;\*/s, 'leaves are in the order of their import');

my %restore = (
	plain => [ [ 'pg_dump', '-f', "$dir/plain.sql", $origin ], [ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f',
		"$dir/plain.sql" ] ],
	inserts => [ [ 'pg_dump', '--inserts', '-f', "$dir/inserts.sql", $origin ],
		[ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/inserts.sql" ] ],
	in_one => [ [ 'pg_dump', '--column-inserts', '-f', "$dir/in_one.sql", $origin ],
		[ 'psql', '-X', '-q', '-1', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/in_one.sql" ] ],
	custom => [ [ 'pg_dump', '-Fc', '-f', "$dir/custom.dump", $origin ],
		[ 'pg_restore', '--exit-on-error', "$dir/custom.dump", '-d' ] ],
	parallel => [ [ 'pg_dump', '-Fd', '-j2', '-f', "$dir/parallel.dump", $origin ],
		[ 'pg_restore', '--exit-on-error', '-j3', "$dir/parallel.dump", '-d' ] ],
);

foreach my $how (sort keys %restore)
{
	my ($dump, $restore) = @{ $restore{$how} };
	my $copy = "kanon_tap_dump_$how";
	psql('postgres', "DROP DATABASE IF EXISTS $copy");
	psql('postgres', "CREATE DATABASE $copy TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'");
	command_ok($dump, "$how: dump");
	command_ok([ @$restore, $copy ], "$how: restore");
	is(answers($copy), $expected, "$how: the same answers");

	# And it goes on: new hierarchies, changes, one numbering.
	is(psql($copy, <<'SQL'), "2|1|t|t\nnew\nsecond", "$how: works on");
SELECT kanon.create_dgh('new') \g /dev/null
INSERT INTO kanon.dgh_edge VALUES ('new', 'a', 'new'), ('new', 'b', 'new');
UPDATE kanon.dgh_edge SET parent = 'second' WHERE child = 'apple';
SELECT (SELECT count(*) FROM kanon.export_dgh('new')), kanon.dgh_distance('new', 'a', 'b'),
       (SELECT id > (SELECT max(id) FROM kanon.dgh WHERE name <> 'new') FROM kanon.dgh WHERE name = 'new'),
       count(*) = count(DISTINCT generation) FROM kanon.dgh;
SELECT kanon.generalize('new', 'a', 1);
SELECT kanon.generalize('ordered', 'apple', 1);
SQL
}

# A dump of the restored database is the same as that of the first, but for the order of rows.
sub dump_of
{
	my ($database) = @_;
	command_ok([ 'pg_dump', '-f', "$dir/$database.sql", $database ], "dump of $database");
	open my $file, '<', "$dir/$database.sql" or die "no $database.sql: $!";
	# Generations are those of a database, and random strings guard psql's backslash commands.
	return join '', sort grep { !/^\\(un)?restrict/ } map { s/\t\d+$/\t-/r } <$file>;
}
psql('postgres', 'DROP DATABASE kanon_tap_dump_plain');
psql('postgres', "CREATE DATABASE kanon_tap_dump_plain TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'");
command_ok([ 'pg_restore', '--exit-on-error', "$dir/custom.dump", '-d', 'kanon_tap_dump_plain' ], 'restored once more');
is(dump_of('kanon_tap_dump_plain'), dump_of($origin), 'a dump of the restored database is like the first');

# The text form does not name a hierarchy: a stored value comes back as a word, and is bound again by name.
is(psql('kanon_tap_dump_plain',
	q{SELECT bool_or(x = 'Ant'), bool_or(kanon.generalized(x::text, 'ordered') = 'Ant')
		FROM published WHERE x::text = 'animal'}),
	'f|t', 'a restored value is bound to its hierarchy again');

psql('postgres', "DROP DATABASE $_") for ($origin, map { "kanon_tap_dump_$_" } keys %restore);
done_testing();
