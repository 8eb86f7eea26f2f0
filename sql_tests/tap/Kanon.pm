# For TAP tests that need no server of their own: databases in the one that the other tests run in.
package Kanon;
use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use IPC::Run;
use Test::More;

our @EXPORT = qw(psql psql_error command_ok);

# psql DATABASE, SQL: return its output, without headers; die if it fails.
sub psql
{
	my ($database, $sql) = @_;
	my ($out, $err);
	IPC::Run::run([ 'psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', $database ], '<', \$sql, '>', \$out,
		'2>', \$err)
		or die "psql failed in $database: $err";
	chomp $out;
	return $out;
}

# psql_error DATABASE, SQL: return its messages.
sub psql_error
{
	my ($database, $sql) = @_;
	my ($out, $err);
	IPC::Run::run([ 'psql', '-X', '-q', '-d', $database ], '<', \$sql, '>', \$out, '2>', \$err);
	return $err;
}

# command_ok COMMAND, NAME: test that the command succeeds.
sub command_ok
{
	my ($command, $what) = @_;
	my $output;
	my $result = IPC::Run::run($command, '<', \'', '>', \$output, '2>', \$output);
	ok($result, $what) or diag($output);
	return;
}

1;
