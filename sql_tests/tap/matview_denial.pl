# A role's own table, view, trigger, lock or slow function holds up no other role's commands, also not with a prepared
# transaction, which holds its locks without a session; waits and work before a commit end by the session's timeouts.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

delete $ENV{PGOPTIONS};
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', 'max_prepared_transactions = 5');
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION kanon;
SELECT kanon.create_interval_dgh('ages', 0, '{10, 50}');
CREATE ROLE kanon_victim LOGIN;
CREATE ROLE kanon_stranger LOGIN;
CREATE SCHEMA hers AUTHORIZATION kanon_stranger;
GRANT USAGE ON SCHEMA hers TO PUBLIC;
GRANT CREATE ON SCHEMA public TO kanon_victim;
SET ROLE kanon_victim;
CREATE TABLE person (id int PRIMARY KEY, age int);
INSERT INTO person SELECT i, i % 60 FROM generate_series(1, 100) i;
SELECT kanon.create_anonymization_view('people', 'SELECT id, age FROM person', id => '{id}',
	quasi_ids => '{"age": "ages"}',
	k => 3, materialized => true);
CREATE TABLE part (id int PRIMARY KEY, age int) PARTITION BY RANGE (id);
SQL
my $number = $node->safe_psql('postgres', q{SELECT id FROM kanon.aview WHERE view = 'people'::regclass});

# Run SQL as a role with a timeout that is reached only by a command that waits for a lock which is never released.
sub as_role
{
	my ($role, $sql, %options) = @_;
	my $timeout = $options{timeout} // 'statement_timeout = 10000';
	my ($status, $out, $err) = $node->psql('postgres', "SET $timeout; $sql", on_error_stop => 1, extra_params => [ '-U',
		$role ]);
	return ($status, $out, $err);
}

# The command of a role succeeds without a word.
sub undisturbed
{
	my ($role, $sql, $what) = @_;
	my ($status, $out, $err) = as_role($role, $sql);
	is("$status$err", '0', $what);
	return;
}

# 1. A trigger of her own, on her own table, that is named like one of the victim's view.
as_role('kanon_stranger', <<"SQL");
CREATE TABLE hers.bait (id int);
CREATE TRIGGER kanon_${number}_insert AFTER INSERT ON hers.bait REFERENCING NEW TABLE AS kanon_new
	FOR EACH STATEMENT EXECUTE FUNCTION kanon.keep_groups('$number');
BEGIN;
DROP TABLE hers.bait;
PREPARE TRANSACTION 'dropped';
SQL
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_prepared_xacts"), '1', 'a drop is prepared');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE locktype = 'object'
	AND classid = 'kanon.aview'::regclass"),
	'0', 'it locks no view');
undisturbed('kanon_victim', 'INSERT INTO person VALUES (1001, 20)', 'the victim writes on');
$node->safe_psql('postgres', "ROLLBACK PREPARED 'dropped'");

# 2. The same trigger, and her lock on the table: commands on the victim's table do not look for it there.
as_role('kanon_stranger', "BEGIN; LOCK TABLE hers.bait; PREPARE TRANSACTION 'locked'");
undisturbed('kanon_victim', 'CREATE TABLE child () INHERITS (person); DROP TABLE child', 'a child comes and goes');
undisturbed('kanon_victim', <<'SQL', 'so does a view');
SET client_min_messages = warning;
SELECT kanon.create_anonymization_view('more', 'SELECT id, age FROM person', id => '{id}',
	quasi_ids => '{"age": "ages"}', k => 3, materialized => true);
DROP VIEW more;
SQL
$node->safe_psql('postgres', "ROLLBACK PREPARED 'locked'");

# 3. Her view, with a column that it does not have as an A-view, and her lock on its table.
as_role('kanon_stranger', <<'SQL');
SET search_path = hers;
CREATE TABLE own (id int PRIMARY KEY, age int);
INSERT INTO own SELECT i, i % 60 FROM generate_series(1, 100) i;
SELECT kanon.create_anonymization_view('v', 'SELECT id, age FROM own', id => '{id}', quasi_ids => '{"age": "ages"}',
	k => 3, materialized => true);
SELECT kanon.create_anonymization_view('w', 'SELECT id, age FROM own', id => '{id}', quasi_ids => '{"age": "ages"}',
	k => 3, materialized => true);
SELECT format('CREATE OR REPLACE VIEW v AS SELECT *, 1 AS more FROM (%s) AS q',
	trim(trailing ';' FROM pg_get_viewdef('v'))) \gexec
BEGIN;
LOCK TABLE own, v, w;
PREPARE TRANSACTION 'locked';
SQL
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_attribute WHERE attrelid = 'hers.v'::regclass AND attnum > 0"),
	'3', 'her view has a column more');
undisturbed('kanon_victim', 'CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (100)', 'a partition');
undisturbed('kanon_victim', 'CREATE TABLE person_1 () INHERITS (person)', 'a child of a table that is followed');
undisturbed('kanon_victim', 'ALTER TABLE person ENABLE TRIGGER ALL', 'ENABLE TRIGGER ALL');
undisturbed('kanon_victim', 'DROP TABLE person_1, part_1', 'DROP TABLE');
undisturbed('kanon_victim', 'INSERT INTO person VALUES (1002, 20)', 'INSERT');
$node->safe_psql('postgres', "ROLLBACK PREPARED 'locked'; DROP TABLE hers.own CASCADE");

# 4. A view of hers that the command does concern, as she may create triggers on the victim's table: its errors are
# warnings, and it says that it is stale.
$node->safe_psql('postgres', 'GRANT SELECT, TRIGGER ON person TO kanon_stranger');
as_role('kanon_stranger', <<'SQL');
SET search_path = hers;
CREATE TABLE armed (armed bool);
GRANT SELECT ON armed TO PUBLIC;
CREATE FUNCTION same(a int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
	IF EXISTS (SELECT FROM hers.armed) AND a = 7 THEN RAISE EXCEPTION 'secret of %', a; END IF; RETURN a; END $$;
SELECT kanon.create_anonymization_view('v', 'SELECT id, hers.same(age) AS age FROM public.person', id => '{id}',
	quasi_ids => '{"age": "ages"}', k => 3, materialized => true);
INSERT INTO armed VALUES (true);
SQL
my ($status, $out, $err) = as_role('kanon_victim',
	'CREATE TABLE person_2 (id int NOT NULL, age int); ALTER TABLE person_2 INHERIT person');
is($status, 0, 'ALTER TABLE succeeds');
like($err, qr/WARNING:  the groups of a materialized anonymization view could not be brought up to date/,
	'with a warning');
unlike($err, qr/secret/, 'that does not quote the error of a row');
like($node->safe_psql('postgres', "SELECT string_agg(measure || ' ' || severity, ',') FROM kanon.audit('hers.v')
	WHERE topic = 'trigger'"), qr/missed changes critical/,
	'the audit says that the view is stale');
($status, $out, $err) = as_role('kanon_stranger', 'SELECT count(*) FROM hers.v');
like($err, qr/WARNING:  materialized anonymization view "v" has missed changes/, 'so does the view');
is($node->safe_psql('postgres', "SELECT string_agg(view || ' ' || stale, ',') FROM kanon.aview WHERE stale"),
	'hers.v true', 'no other view is stale');
as_role('kanon_stranger', 'DELETE FROM hers.armed');
is((as_role('kanon_stranger', "SELECT kanon.refresh('hers.v')"))[1], '0', 'she can refresh the view');
($status, $out, $err) = as_role('kanon_stranger', 'SELECT count(*) FROM hers.v');
is($err, '', 'after that it is not stale any more');

# 5. The victim may make her table unlogged; the stranger's view cannot refuse that as a view of the victim's would.
as_role('kanon_victim', 'DROP VIEW people; DROP TABLE person_2');
($status, $out, $err) = as_role('kanon_victim', 'ALTER TABLE person SET UNLOGGED');
is($status, 0, 'SET UNLOGGED succeeds');
like($err, qr/WARNING:  .*table "person" is unlogged/, 'with a warning');
like($node->safe_psql('postgres', "SELECT string_agg(measure, ',' ORDER BY measure) FROM kanon.audit('hers.v')
	WHERE severity = 'critical' AND topic = 'trigger'"),
	qr/missed changes,unlogged/, 'which the audit repeats');
as_role('kanon_victim', 'ALTER TABLE person SET LOGGED');
as_role('kanon_stranger', "SELECT kanon.refresh('hers.v')");
is($node->safe_psql('postgres', "SELECT count(*) FROM kanon.audit('hers.v') WHERE severity = 'critical'
	AND topic = 'trigger'"), '0', 'until it is logged again');

# 6. Before a commit waits end by lock_timeout, and all work by statement_timeout.
as_role('kanon_victim', "SET client_min_messages = warning;
	SELECT kanon.create_anonymization_view('people', 'SELECT id, age FROM person', id => '{id}',
	quasi_ids => '{\"age\": \"ages\"}', k => 3, materialized => true)");
as_role('kanon_victim', "BEGIN; INSERT INTO person VALUES (2001, 20); PREPARE TRANSACTION 'holds'");
for my $how ('INSERT INTO person VALUES (2002, 20)', 'BEGIN; INSERT INTO person VALUES (2002, 20); COMMIT',
	"BEGIN; INSERT INTO person VALUES (2002, 20); PREPARE TRANSACTION 'waits'")
{
	($status, $out, $err) = as_role('kanon_victim', $how, timeout => 'statement_timeout = 300');
	like($err, qr/canceling statement due to statement timeout/, "$how: statement_timeout");
	($status, $out, $err) = as_role('kanon_victim', $how, timeout => 'lock_timeout = 300');
	like($err, qr/canceling statement due to lock timeout/, "$how: lock_timeout");
}
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_prepared_xacts"), '1', 'nothing else is prepared');
$node->safe_psql('postgres', "COMMIT PREPARED 'holds'");
undisturbed('kanon_victim', 'INSERT INTO person VALUES (2002, 20)', 'afterwards the session works on');
# Her slow function, which the comparison of her view with the victim's table calls.
as_role('kanon_stranger', <<'SQL');
CREATE OR REPLACE FUNCTION hers.same(a int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
	IF EXISTS (SELECT FROM hers.armed) THEN PERFORM pg_sleep(3600); END IF; RETURN a; END $$;
INSERT INTO hers.armed VALUES (true);
SQL
($status, $out, $err) = as_role('kanon_victim', 'CREATE TABLE person_3 () INHERITS (person)',
	timeout => 'statement_timeout = 500');
like($err, qr/canceling statement due to statement timeout/, 'a slow function ends by statement_timeout');
is($node->safe_psql('postgres', "SELECT to_regclass('person_3') IS NULL"), 't', 'and the command is undone');
# A role that may not create triggers on the table has no say.
as_role('kanon_stranger', 'DROP VIEW hers.v; DELETE FROM hers.armed');
$node->safe_psql('postgres', 'REVOKE TRIGGER ON person FROM kanon_stranger');
($status, $out, $err) = as_role('kanon_stranger',
	"SELECT kanon.create_anonymization_view('hers.v', 'SELECT id, hers.same(age) AS age FROM public.person',
	id => '{id}', quasi_ids => '{\"age\": \"ages\"}', k => 3, materialized => true)");
like($err, qr/permission denied to create triggers on table "person"/, 'who may not create triggers is not followed');
undisturbed('kanon_victim', 'CREATE TABLE person_3 () INHERITS (person)', 'nobody waits for her function');

$node->stop;
done_testing();
