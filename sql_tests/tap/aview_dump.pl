# A-views survive pg_dump and restore, plain and custom, with the same rows, rights and plans; DROP EXTENSION ends them.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE kanon_analyst');
$node->safe_psql('postgres', 'CREATE DATABASE hospital');
$node->safe_psql('hospital', <<~'END');
	CREATE EXTENSION kanon;
	CREATE SCHEMA "Odd ""Schema";
	CREATE TABLE person (id integer PRIMARY KEY, age integer, zip text, disease text, ward integer);
	INSERT INTO person SELECT i, 20 + i * 7 % 50, lpad((i * 13 % 60)::text, 3, '0'),
		(ARRAY ['flu', 'hiv', 'ulcer'])[1 + i % 3], i % 10
		FROM generate_series(1, 240) AS i;
	CREATE TABLE visit (person integer REFERENCES person, cost integer);
	INSERT INTO visit SELECT 1 + i % 240, i % 7 FROM generate_series(1, 500) AS i;
	SELECT kanon.create_interval_dgh('ages', 0, '{10, 50}');
	SELECT kanon.create_prefix_dgh('zips', 3);
	SELECT kanon.create_dgh('it''s "odd"');
	INSERT INTO kanon.dgh_edge VALUES ('it''s "odd"', 'flu', 'common'), ('it''s "odd"', 'ulcer', 'common');
	SELECT kanon.create_anonymization_view('gone', 'SELECT 1 AS a', k => 2, other => '{*}');
	SELECT kanon.drop_anonymization_view('gone');
	SELECT kanon.create_anonymization_view('people', 'SELECT * FROM person', id => '{id}',
		quasi_ids => '{"age": "ages", "zip": "zips"}',
		sensitive => '{"disease": "it''s \"odd\""}', k => 4, l => 2, t => 0.9, other => '{ward}');
	SELECT kanon.create_anonymization_view('"Odd ""Schema"."V''iew"',
		'SELECT id, zip, ward FROM public.person WHERE ward < 7 -- all',
		id => '{id}', quasi_ids => '{"zip": "zips"}', k => 3, match => 'witness', block_size => 100);
	-- This one depends on a primary key, which pg_dump restores after the data.
	SELECT kanon.create_anonymization_view('costs',
		'SELECT p.id, p.age, p.zip, sum(cost) AS cost FROM person p JOIN visit ON person = p.id GROUP BY p.id',
		id => '{id}', quasi_ids => '{"age": "ages", "zip": "zips"}', k => 3, other => '{cost}');
	SELECT kanon.create_anonymization_view('above', 'SELECT age, zip FROM people',
		quasi_ids => '{"age": null, "zip": null}', k => 5);
	CREATE TABLE choices (who integer, purpose text, recipient text, k integer, ok boolean,
		PRIMARY KEY (who, purpose, recipient));
	INSERT INTO choices SELECT id, 'care', 'ward', id % 6, id % 5 > 0 FROM person;
	SELECT kanon.create_anonymization_view('chosen', 'SELECT * FROM person', id => '{id}',
		quasi_ids => '{"age": "ages", "zip": "zips"}',
		profile => '{"table": "choices", "key": {"id": "who"}, "k": "k", "purpose": "purpose", "recipient": "recipient",
			"disclose": {"age": "ok"}}', other => '{ward}');
	SELECT kanon.grant_access('kanon_analyst', 'care', 'ward', 'chosen');
	SELECT kanon.grant_access('public', 'care', 'ward');
	SELECT kanon.create_anonymization_view('trees', 'SELECT age, zip, disease, ward FROM person',
		quasi_ids => '{"age": null, "zip": "zips", "disease": "it''s \"odd\""}',
		k => 3, algorithm => 'mondrian');
	CREATE VIEW upper AS SELECT zip, count(*) FROM people GROUP BY zip;
	GRANT SELECT ON people TO kanon_analyst;
	COMMENT ON VIEW people IS 'anonymous';
	END

# All that there is to see of a database.
sub contents
{
	my ($database) = @_;
	return $node->safe_psql($database, <<~'END');
		SET kanon.plan = anonymize_first;
		SELECT 'people', p::text FROM people p ORDER BY p::text COLLATE "C";
		SELECT 'view', v::text FROM "Odd ""Schema"."V'iew" v ORDER BY v::text COLLATE "C";
		SELECT 'costs', c::text FROM costs c ORDER BY c::text COLLATE "C";
		SELECT 'above', a::text FROM above a ORDER BY a::text COLLATE "C";
		SET kanon.purpose = care;
		SET kanon.recipient = ward;
		SELECT 'chosen', c::text FROM chosen c ORDER BY c::text COLLATE "C";
		SELECT * FROM kanon.access ORDER BY role COLLATE "C";
		SELECT 'trees', t::text FROM trees t ORDER BY t::text COLLATE "C";
		SELECT 'upper', u::text FROM upper u ORDER BY u::text COLLATE "C";
		SELECT * FROM kanon.aview ORDER BY id;
		SELECT * FROM kanon.aview_column ORDER BY aview, attnum;
		SELECT * FROM kanon.aview_step ORDER BY aview, step;
		SELECT * FROM kanon.aview_tree ORDER BY aview;
		SELECT * FROM kanon.generalization_sequence('people');
		SELECT last_value, is_called FROM kanon.aview_serial;
		SELECT obj_description('people'::regclass);
		SET ROLE kanon_analyst;
		SELECT count(*) FROM people WHERE zip = '013';
		EXPLAIN SELECT * FROM people WHERE ward = 3;
		END
}

my $before = contents('hospital');
like($before, qr/^people\|/m, 'there is something to compare');
like($before, qr/Anonymization View Scan/, 'and it is an A-view');

my $dir = $node->backup_dir;
mkdir $dir;
$node->command_ok([ 'pg_dump', '--file', "$dir/plain.sql", 'hospital' ], 'plain dump');
$node->command_ok([ 'pg_dump', '--format=custom', '--file', "$dir/custom.dump", 'hospital' ], 'custom dump');
$node->command_ok([ 'pg_dump', '--inserts', '--file', "$dir/inserts.sql", 'hospital' ], 'dump with inserts');

my $text = slurp_file("$dir/plain.sql");
unlike($text, qr/COPY public\.people/, 'a view has no rows in a dump');

for my $kind (qw(plain inserts))
{
	$node->safe_psql('postgres', "CREATE DATABASE $kind");
	$node->command_ok([ 'psql', '--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', '--dbname', $kind, '--file',
		"$dir/$kind.sql" ], "$kind restore");
	is(contents($kind), $before, "$kind: the same again");
}
$node->safe_psql('postgres', 'CREATE DATABASE custom');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--dbname', 'custom', "$dir/custom.dump" ], 'custom restore');
is(contents('custom'), $before, 'custom: the same again');
# In parallel, and without the triggers.
$node->safe_psql('postgres', 'CREATE DATABASE parallel');
$node->command_ok([ 'pg_restore', '--jobs=3', '--dbname', 'parallel', "$dir/custom.dump" ], 'parallel restore');
is(contents('parallel'), $before, 'parallel: the same again');
# First the schema, then the data.
$node->safe_psql('postgres', 'CREATE DATABASE halves');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--schema-only', '--dbname', 'halves', "$dir/custom.dump" ],
	'schema');
isnt($node->psql('halves', 'SELECT * FROM people'), 0, 'without its definition a view shows nothing');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--data-only', '--disable-triggers', '--dbname', 'halves',
	"$dir/custom.dump" ], 'data');
is(contents('halves'), $before, 'halves: the same again');
# New ones get new numbers.
is($node->safe_psql('custom',
	"SELECT kanon.create_anonymization_view('another', 'SELECT 1 AS a', k => 2, other => '{*}')"), 'another',
	'a new view after a restore');

# A view without its definition, next to another of that number, shows nothing of either.
$node->command_ok([ 'pg_dump', '--table=costs', '--table=person', '--table=visit', '--file', "$dir/table.sql",
	'hospital' ], 'dump of one view');
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION kanon');
$node->safe_psql('other', "CREATE TABLE t AS SELECT i AS a FROM generate_series(1, 9) i;
	SELECT kanon.create_anonymization_view('v' || i, 'TABLE t', quasi_ids => '{\"a\": null}', k => 2)
		FROM generate_series(1, 9) i");
$node->command_ok([ 'psql', '--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', '--dbname', 'other', '--file',
	"$dir/table.sql" ], 'restore of one view');
my ($status, $out, $err) = $node->psql('other', 'SELECT * FROM costs');
isnt($status, 0, 'it is no A-view there');
like($err, qr/anonymization view/, 'and says so');
is($out, '', 'and shows nothing');

# Orphans: the definitions of temporary views end with the next view that is created.
$node->safe_psql('hospital',
	"SELECT kanon.create_anonymization_view('pg_temp.temporary', 'SELECT 1 AS a', quasi_ids => '{\"a\": \"ages\"}',
	k => 2)");
$node->command_ok([ 'pg_dump', '--file', "$dir/orphan.sql", 'hospital' ], 'dump with an orphan');
$node->safe_psql('postgres', 'CREATE DATABASE orphan');
$node->command_ok([ 'psql', '--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', '--dbname', 'orphan', '--file',
	"$dir/orphan.sql" ], 'restore without it');
is($node->safe_psql('orphan', 'SELECT count(*) FROM kanon.aview'), '6', 'the orphan is not dumped');
$node->safe_psql('hospital', "SELECT kanon.create_anonymization_view('next', 'SELECT 1 AS a', k => 2, other => '{*}')");
is($node->safe_psql('hospital', 'SELECT count(*) FROM kanon.aview'), '7', 'the orphan is gone');

# DROP EXTENSION.
isnt($node->psql('plain', 'DROP EXTENSION kanon'), 0, 'the extension is needed');
is($node->psql('plain', 'DROP EXTENSION kanon CASCADE'), 0, 'and goes with its views');
is($node->safe_psql('plain',
	"SELECT count(*) FROM pg_class WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace"), '0',
	'no view is left');
is($node->safe_psql('plain', 'SELECT count(*) FROM person'), '240', 'the rows are');
is($node->safe_psql('plain', 'DROP TABLE visit; SELECT count(*) FROM pg_event_trigger'), '0', 'nor is a trigger');
is($node->psql('plain', "CREATE EXTENSION kanon;
	SELECT kanon.create_anonymization_view('people', 'SELECT * FROM person', k => 1, other => '{*}');
	SELECT count(*) FROM people"), 0,
	'it can be created again');

$node->stop;
done_testing();
