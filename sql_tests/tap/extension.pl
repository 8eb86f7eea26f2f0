# The extension is created, used and dropped, and nothing of it stays.
use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::Bin;
use Kanon;
use Test::More;

my $database = 'kanon_tap_extension';
psql('postgres', "DROP DATABASE IF EXISTS $database");
psql('postgres', "CREATE DATABASE $database TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'");
my $version = psql($database, q{SELECT default_version FROM pg_available_extensions WHERE name = 'kanon'});

# How many rows each catalog has.
sub catalogs
{
	return psql($database, q{
		SELECT relname, (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM pg_catalog.%I', relname),
			false, true, '')))[1]
		FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind = 'r' AND NOT relisshared
		AND relname !~ 'statistic|largeobject' ORDER BY 1});
}
my $before = catalogs();

is(psql($database, q{CREATE EXTENSION kanon; SELECT extversion FROM pg_extension WHERE extname = 'kanon'}),
	$version, 'version');
isnt(catalogs(), $before, 'there is something to be dropped');
is(psql($database, q{SELECT count(*) FROM pg_operator o
	WHERE oprnamespace = 'pg_catalog'::regnamespace AND o.oid >= 16384 AND NOT EXISTS (SELECT FROM pg_depend d
		WHERE d.classid = 'pg_operator'::regclass AND d.objid = o.oid AND d.deptype = 'e')}),
	'0', 'operators in pg_catalog belong to it');
is(psql($database, q{SELECT count(*) FROM pg_proc
	WHERE pronamespace = 'pg_catalog'::regnamespace AND oid >= 16384 AND proname NOT IN ('min', 'max')}),
	'0', 'no function is in pg_catalog but min and max');

# In use: columns, indexes, views, defaults, functions.
psql($database, <<'SQL');
SELECT kanon.import_dgh('d', '{a;p;*,b;p;*}');
CREATE TABLE t (id int, x kanon.generalized DEFAULT '*', CHECK (x = 'a'));
INSERT INTO t SELECT 1, kanon.generalize('d', 'a', 1);
CREATE INDEX ON t (x);
CREATE VIEW v AS SELECT x FROM t WHERE x = 'b';
CREATE FUNCTION f(kanon.generalized) RETURNS bool LANGUAGE sql AS 'SELECT $1 = 5';
CREATE AGGREGATE latest(kanon.generalized) (SFUNC = kanon.identity_larger, STYPE = kanon.generalized);
SQL
like(psql_error($database, 'DROP EXTENSION kanon'), qr/cannot drop extension kanon because other objects depend on it/,
	'not dropped while it is used');
psql($database, 'DROP EXTENSION kanon CASCADE; DROP TABLE t');
is(catalogs(), $before, 'nothing is left');
is(psql($database, q{SELECT count(*) FROM pg_namespace WHERE nspname = 'kanon'}), '0', 'not even the schema');

# Created again by version, only by a role that may, and only in its schema.
psql($database, "CREATE EXTENSION kanon VERSION '$version'");
is(psql($database, q{SELECT kanon.create_dgh('d'); SELECT count(*) FROM kanon.dgh}), "\n1", 'it works again');
like(psql_error($database, "ALTER EXTENSION kanon UPDATE TO 'none'"), qr/extension "kanon" has no update path/,
	'no path to a version that is not there');
psql($database, 'DROP EXTENSION kanon CASCADE; CREATE ROLE kanon_tap_nobody');
like(psql_error($database, 'SET ROLE kanon_tap_nobody; CREATE EXTENSION kanon'),
	qr/permission denied to create extension "kanon"/, 'not for everybody');
like(psql_error($database, 'CREATE EXTENSION kanon SCHEMA public'), qr/extension "kanon" must be installed in schema/,
	'not elsewhere');
psql($database, 'CREATE SCHEMA kanon; CREATE TABLE kanon.dgh (mine int)');
like(psql_error($database, 'CREATE EXTENSION kanon'), qr/schema "kanon" already exists/,
	'not over what somebody else has made');
psql($database, 'DROP SCHEMA kanon CASCADE');
is(catalogs(), $before, 'what failed has left nothing');
psql('postgres', "DROP DATABASE $database");
psql('postgres', 'DROP ROLE kanon_tap_nobody');

done_testing();
