# Dumps by roles that are not superusers: with pg_read_all_data the whole database, which restores as it was; without it
# what is not kanon's own.
use strict;
use warnings FATAL => 'all';

use Cwd;
use FindBin;
use lib $FindBin::Bin;
use Kanon;
use IPC::Run;
use Test::More;

my $dir = getcwd();
my $origin = 'kanon_tap_dump_roles';
my ($owner, $backup) = ("${origin}_owner", "${origin}_backup");

sub create
{
	my ($database) = @_;
	psql('postgres', "DROP DATABASE IF EXISTS $database");
	psql('postgres', "CREATE DATABASE $database TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8' OWNER $owner");
}

# Return the error of a command, or nothing if it succeeds.
sub error_of
{
	my ($command) = @_;
	my ($out, $err);
	return IPC::Run::run($command, '<', \'', '>', \$out, '2>', \$err) ? '' : $err;
}

psql('postgres', "CREATE ROLE $owner; CREATE ROLE $backup; GRANT pg_read_all_data TO $backup");
create($origin);
psql($origin, <<"SQL");
CREATE EXTENSION kanon;
GRANT CREATE ON SCHEMA public TO $owner;
SELECT kanon.create_interval_dgh('ages', 0, '{10, 50}');
SET ROLE $owner;
SET client_min_messages = warning;
CREATE TABLE person (id int PRIMARY KEY, age int, ill text);
INSERT INTO person SELECT i, 20 + i % 30, 'd' || i % 4 FROM generate_series(1, 60) i;
SELECT kanon.create_anonymization_view('people', 'SELECT id, age, ill FROM person', id => '{id}',
	quasi_ids => '{"age": "ages"}', sensitive => '{"ill": null}', k => 4);
SELECT kanon.create_anonymization_view('kept', 'SELECT id, age, ill FROM person', id => '{id}',
	quasi_ids => '{"age": "ages"}', sensitive => '{"ill": null}', k => 4, materialized => true);
SQL

sub answers
{
	my ($database) = @_;
	return psql($database, <<'SQL');
SELECT age, ill, count(*) FROM people GROUP BY age, ill ORDER BY age::text, ill;
SELECT age, ill, count(*) FROM kept GROUP BY age, ill ORDER BY age::text, ill;
SELECT kanon.refresh('kept');
INSERT INTO person SELECT 100 + i, 20, 'd1' FROM generate_series(1, 5) i;
SELECT count(*) FROM kept;
DELETE FROM person WHERE id > 100;
SELECT has_table_privilege('public', 'kanon.members_2', 'SELECT'), pg_get_userbyid(relowner) = current_user
	FROM pg_class WHERE oid = 'kanon.members_2'::regclass;
SQL
}
my $expected = answers($origin);

# The database's owner may not read kanon's tables, which hold raw values.
like(error_of([ 'pg_dump', "--role=$owner", '-f', "$dir/owner.sql", $origin ]),
	qr/permission denied for (table|sequence) /,
	"the database's owner cannot dump it");
# PostgreSQL's role for reading everything can dump everything.
for my $how ([ 'plain', '-Fp' ], [ 'custom', '-Fc' ])
{
	my ($name, $format) = @$how;
	command_ok([ 'pg_dump', "--role=$backup", $format, '-f', "$dir/$name.dump", $origin ],
		"$name: dump with pg_read_all_data");
	create("${origin}_copy");
	command_ok($name eq 'plain' ? [ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/plain.dump",
		"${origin}_copy" ]
			: [ 'pg_restore', '--exit-on-error', '-d', "${origin}_copy", "$dir/custom.dump" ], "$name: restore");
	is(answers("${origin}_copy"), $expected, "$name: the same answers");
}
# An owner can still dump her own schemas.
command_ok([ 'pg_dump', "--role=$owner", '-n', 'public', '-f', "$dir/public.sql", $origin ], "the owner's schema");
# Neither has more rights than before.
is(psql($origin, "SELECT has_table_privilege('$owner', 'kanon.members_2', 'SELECT')"), 'f',
	'the owner may not read stored rows');

psql('postgres', "DROP DATABASE $_") for ($origin, "${origin}_copy");
psql('postgres', "DROP ROLE $owner; DROP ROLE $backup");
done_testing();
