# Sources.pm: reading C sources, for tools/includes and tools/measure.
package Sources;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT_OK = qw(code_of names_of own_names source_files);

# Return the names, below src/, of the sources in the current tree; generated files are left out.
sub source_files
{
	my @files = grep { -e "src/$_" } map { s{^src/}{}r } split /\n/,
	  `git ls-files --cached --others --exclude-standard src 2>/dev/null`;
	@files = map { s{^src/}{}r } split /\n/, `find src -name '*.[chyl]' ! -name '*_gram.[ch]' ! -name '*_lex.c'`
	  unless @files;
	return sort grep { /\.[chyl]$/ } @files;
}

# Return the code without comments and the contents of string literals.
sub code_of
{
	my ($text) = @_;
	$text =~ s{/\*.*?\*/}{ }gs;
	$text =~ s{"(?:[^"\\\n]|\\.)*"}{""}g;
	return $text;
}

# Return the set of names that a header declares: functions, variables, types, enum values, macros.
sub names_of
{
	my ($text) = @_;
	my $code = code_of($text);
	my %names;
	$names{$1} = 1 while $code =~ /^\s*#\s*define\s+(?!SH_)(\w+)/mg;
	$code =~ s/\\\n/ /g;
	$code =~ s/^\s*#.*$//mg;
	$names{$1} = 1 while $code =~ /^extern\b[^;(]*?\b(\w+)\s*\(/mg;
	$names{$1} = 1 while $code =~ /^extern\b[^;(]*?\b(\w+)(?:\[[^\]]*\])?\s*;/mg;
	$names{$1} = 1 while $code =~ /^\}\s*(\w+)\s*;/mg;
	$names{$1} = 1 while $code =~ /^typedef\s+(?:struct|enum|union)\s+\w+\s+(\w+)\s*;/mg;
	$names{$1} = 1 while $code =~ /^typedef\b[^;{]*?\(\*\s*(\w+)\)\s*\(/mg;
	$names{$1} = 1 while $code =~ /^typedef\s+[\w\s\*]*?\b(\w+)\s*;/mg;
	$names{$1} = 1 while $code =~ /^(?:static inline|static pg_attribute_always_inline)\b[^;{(]*?\b(\w+)\s*\(/msg;
	while ($code =~ /\benum\b\s*\w*\s*\{(.*?)\}/sg)
	{
		my $values = $1;
		$names{$1} = 1 while $values =~ /(?:^|,)\s*(\w+)/g;
	}
	return \%names;
}

# Return the set of types and static functions that a file defines for itself.
sub own_names
{
	my ($code) = @_;
	my %names;
	$code =~ s/^\s*#.*$//mg;
	$names{$1} = 1 while $code =~ /^\}\s*(\w+)\s*;/mg;
	$names{$1} = 1 while $code =~ /^typedef\b[^;{]*?\(\*\s*(\w+)\)\s*\(/mg;
	$names{$1} = 1 while $code =~ /^typedef\s+(?:struct|enum|union)\s+\w+\s+(\w+)\s*;/mg;
	$names{$1} = 1 while $code =~ /^static\b[^;={(]*?\b(\w+)\s*\([^;]*?\)\s*\{/msg;
	return \%names;
}

1;
