# The version has one home, kanon.control; files that repeat it agree with it.
use strict;
use warnings FATAL => 'all';

use FindBin;
use JSON::PP;
use Test::More;

my $tree = "$FindBin::Bin/../..";

# The text of a file of the tree.
sub slurp
{
	my ($name) = @_;
	open my $file, '<', "$tree/$name" or die "cannot open $name: $!";
	local $/ = undef;
	return scalar <$file>;
}

my ($version) = slurp('kanon.control') =~ /^default_version\s*=\s*'([^']+)'/m;
ok($version, 'kanon.control has a version');

# PGXN wants three numbers where the extension has two.
my $semantic = $version =~ /^\d+\.\d+$/ ? "$version.0" : $version;
my $meta = decode_json(slurp('META.json'));
is($meta->{version}, $semantic, 'version in META.json');
is($meta->{provides}{kanon}{version}, $semantic, 'version of the extension in META.json');

my ($latest) = slurp('CHANGELOG.md') =~ /^## (\S+)/m;
is($latest, $version, 'latest version in CHANGELOG.md');

my ($packaged) = slurp('debian/changelog') =~ /^kanon \((\S+)\)/;
is($packaged, $version, 'latest version in debian/changelog');

done_testing();
