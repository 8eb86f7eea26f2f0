# Every block of SQL in the pages of the tree's top, bench/, sql_tests/ and doc/ runs as it is written, and the files
# that their links name exist.
#
# The blocks of a page run in order in one session of a database of its own, where the extension is created unless the
# page does it. Roles that a page creates are dropped after it.
use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::Bin;
use IPC::Run;
use Kanon;
use Test::More;

my $tree = $ENV{TREE};
my $database = 'kanon_tap_docs_pages';
my $blocks = 0;

sub read_page
{
	my ($path) = @_;
	open my $page, '<', "$tree/$path" or die "$path: $!";
	local $/;
	my $text = <$page>;
	close $page;
	return $text;
}

# Blocks with the lines that they begin at, which psql then names in its errors.
sub script
{
	my ($text) = @_;
	my $sql = '';
	while ($text =~ /\G(.*?)^```(\w*)[^\n]*\n(.*?)^```$/gsm)
	{
		my ($before, $language, $block) = ($1, $2, $3);
		my $fence = "\n";
		$sql .= "\n" x ($before =~ tr/\n//) . $fence;
		if ($language eq 'sql')
		{
			$sql .= $block;
			$blocks++;
		}
		else
		{
			$sql .= "\n" x ($block =~ tr/\n//);
		}
	}
	return $sql;
}

sub run_page
{
	my ($path) = @_;
	my $sql = script(read_page($path));
	my @roles = $sql =~ /^\s*CREATE (?:ROLE|USER) (\w+)/gim;
	my ($out, $err);

	psql('postgres', "DROP DATABASE IF EXISTS $database");
	psql('postgres', "CREATE DATABASE $database TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'");
	psql($database, 'CREATE EXTENSION kanon') unless $sql =~ /^CREATE EXTENSION kanon;/m;
	my $fine = IPC::Run::run([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $database ],
		'<', \$sql, '>', \$out, '2>', \$err);
	ok($fine, "$path runs") or diag($err);
	psql('postgres', "DROP DATABASE $database WITH (FORCE)");
	psql('postgres', 'DROP ROLE IF EXISTS ' . join(', ', @roles)) if @roles;
	return;
}

sub check_links
{
	my ($path) = @_;
	my $text = read_page($path);
	my ($folder) = $path =~ m{^(.*/)?[^/]+$};
	my @broken = grep { !/^(https?:|#)/ && !-e "$tree/" . ($folder // '') . s/#.*//r } $text =~ /\]\(([^)\s]+)\)/g;
	is("@broken", '', "links in $path");
	return;
}

my @pages = map { s{^\Q$tree\E/}{}r } sort map { glob("$tree/$_") } qw(*.md bench/*.md sql_tests/*.md doc/*.md);
for my $path (@pages)
{
	run_page($path);
	check_links($path);
}
cmp_ok($blocks, '>=', 10, "$blocks blocks of SQL on " . scalar(@pages) . ' pages');
done_testing();
