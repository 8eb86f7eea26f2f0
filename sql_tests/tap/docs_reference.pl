# doc/reference.md lists all objects of the extension, and nothing else.
#
# A row of a table there begins with a name in backquotes: a function with the names of its arguments (without
# parentheses if they have none), or the kind of an object and its name, as in `table kanon.dgh`. Rows that are missing
# are printed as they could be added.
use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::Bin;
use Kanon;
use Test::More;

my $database = 'kanon_tap_docs_reference';
psql('postgres', "DROP DATABASE IF EXISTS $database");
psql('postgres', "CREATE DATABASE $database TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'");
psql($database, 'CREATE EXTENSION kanon');

my %exists;
for my $line (split /\n/, psql($database, <<'SQL'))
LOAD 'kanon';
WITH member AS (
    SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass
        AND d.refobjid = e.oid
    WHERE d.deptype = 'e' AND e.extname = 'kanon')
SELECT DISTINCT p.pronamespace::regnamespace || '.' || p.proname ||
        CASE WHEN '' <> ALL (coalesce(p.proargnames[1:p.pronargs], array_fill(''::text, ARRAY[p.pronargs::integer])))
            THEN '(' || coalesce(array_to_string(p.proargnames[1:p.pronargs], ', '), '') || ')' ELSE '' END AS name,
    coalesce(obj_description(p.oid, 'pg_proc'), '')
FROM member m JOIN pg_proc p ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid
UNION
SELECT 'operator ' || o.oprnamespace::regnamespace || '.' || o.oprname, ''
FROM member m JOIN pg_operator o ON m.classid = 'pg_operator'::regclass AND m.objid = o.oid
UNION
SELECT i.type || ' ' || i.identity, coalesce(obj_description(m.objid, m.classid::regclass::name), '')
FROM member m, pg_identify_object(m.classid, m.objid, 0) i
WHERE m.classid NOT IN ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_cast'::regclass)
    -- Newer servers count the types of rows and arrays as members, too.
    AND NOT EXISTS (SELECT FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
        WHERE m.classid = 'pg_type'::regclass AND m.objid = t.oid AND (c.relkind <> 'c' OR t.typelem <> 0))
UNION
SELECT 'setting ' || name, short_desc FROM pg_settings WHERE name LIKE 'kanon.%';
SQL
{
	my ($name, $comment) = split /\|/, $line, 2;
	$exists{$name} = $comment;
}

my %documented;
open my $page, '<', "$ENV{TREE}/doc/reference.md" or die "doc/reference.md: $!";
while (<$page>)
{
	next unless /^\| `([^`]+)` \| (.*) \|$/;
	ok(!exists $documented{$1}, "$1 is documented twice") if exists $documented{$1};
	$documented{$1} = $2;
}
close $page;

my @missing = grep { !exists $documented{$_} } sort keys %exists;
is(join('', map { "| `$_` | $exists{$_} |\n" } @missing), '', 'nothing is undocumented');
is(join("\n", grep { !exists $exists{$_} } sort keys %documented), '', 'nothing is documented that is not there');
is(join("\n", grep { $documented{$_} !~ /\S/ } sort keys %documented), '', 'everything is described');
cmp_ok(scalar(keys %documented), '>', 100, 'the page was read');
note(scalar(keys %documented) . ' objects are documented');

psql('postgres', "DROP DATABASE $database");
done_testing();
