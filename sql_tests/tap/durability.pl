# Hierarchies through prepared transactions, a crash, and on a standby: no session is left with a stale one.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', 'max_prepared_transactions = 5');
$primary->start;
$primary->safe_psql('postgres', <<'SQL');
CREATE EXTENSION kanon;
SELECT kanon.create_dgh('d');
INSERT INTO kanon.dgh_edge VALUES ('d', 'a', 'first'), ('d', 'b', 'x');
SQL
$primary->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'copy', has_streaming => 1);
$standby->start;

# Return the answers of a session that stays, with a warm cache.
sub answer
{
	my ($session, $query) = @_;
	return $session->query_safe($query);
}

my $question = q{SELECT kanon.generalize('d', 'a', 1)};
my $reader = $primary->background_psql('postgres');
my $replica = $standby->background_psql('postgres');
is(answer($reader, $question), 'first', 'a session on the primary');
is(answer($replica, $question), 'first', 'a session on the standby');

# Prepared: no session sees the change, not even the one that made it, until another session commits it.
my $writer = $primary->background_psql('postgres');
answer($writer, q{BEGIN; UPDATE kanon.dgh_edge SET parent = 'second' WHERE child = 'a'});
is(answer($writer, $question), 'second', 'who changes it sees it');
answer($writer, q{PREPARE TRANSACTION 'p'});
is(answer($writer, $question), 'first', 'not any more when it is prepared');
is(answer($reader, $question), 'first', 'nor does anybody else');
$primary->safe_psql('postgres', q{COMMIT PREPARED 'p'});
is(answer($writer, $question), 'second', 'committed by another session: who changed it');
is(answer($reader, $question), 'second', 'and others');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
is(answer($replica, $question), 'second', 'and the standby');

$primary->safe_psql('postgres', q{BEGIN; DELETE FROM kanon.dgh_edge WHERE child = 'a'; PREPARE TRANSACTION 'q'});
$primary->safe_psql('postgres', q{ROLLBACK PREPARED 'q'});
is(answer($reader, $question), 'second', 'rolled back');

# A standby follows every change, and can compare.
$primary->safe_psql('postgres',
	q{UPDATE kanon.dgh_edge SET parent = 'third' WHERE child = 'a';
	CREATE TABLE t AS SELECT kanon.generalize('d', 'a', 1) AS x});
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
is(answer($replica, $question), 'third', 'the standby after a change');
is(answer($replica, q{SELECT x = 'a', x = 'b' FROM t}), 't|f', 'comparisons on the standby');
$primary->safe_psql('postgres', q{UPDATE kanon.dgh_edge SET parent = 'third' WHERE child = 'b'});
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
is(answer($replica, q{SELECT x = 'a', x = 'b' FROM t}), 't|t', 'comparisons with a stored value of an older state');

# A crash in the middle of a change leaves the committed state, and no generation is given out twice.
my $generation = $primary->safe_psql('postgres', q{SELECT generation FROM kanon.dgh});
answer($writer, q{BEGIN; UPDATE kanon.dgh_edge SET parent = 'lost'});
is(answer($writer, $question), 'lost', 'before the crash');
$primary->stop('immediate');
$_->{run}->kill_kill for ($reader, $writer);
$primary->start;
is($primary->safe_psql('postgres', $question), 'third', 'after the crash');
ok($primary->safe_psql('postgres',
	q{UPDATE kanon.dgh_edge SET parent = 'fourth'; SELECT generation FROM kanon.dgh}) > $generation,
	'generations go on');
is($primary->safe_psql('postgres', q{SELECT x = 'a', x = 'fourth' FROM t}), 't|t',
	'a stored value that the hierarchy does not know any more');

# The standby becomes the primary and goes on.
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
$primary->stop;
$standby->promote;
$standby->safe_psql('postgres', q{UPDATE kanon.dgh_edge SET parent = 'fifth' WHERE child = 'a'});
is(answer($replica, $question), 'fifth', 'a promoted standby');
$replica->quit;

done_testing();
