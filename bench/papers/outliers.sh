# shellcheck shell=bash
# Plain k-anonymity: the experiments of "Hiding Distinguished Ones into Crowd" (section 8) with this build.
#
# Census-like people with seven quasi-identifiers (outliers.sql), k = 15, p = 0.8, d = 0.85. Processor time of each
# component (Figures 8 to 10), sizes of groups (Figure 11), information loss (Figure 13), and growth with the rows. The
# same with the people of Adult, where there is the Adult data, and hours per week as the sensitive column. SIZES and
# GROWTH name other numbers of rows; each run of a method that takes longer than LIMIT (default 10min) is left out.
#
# Against removing all outliers there are two comparisons: "removal" groups the rest with k values only, which protects
# less; "removal, plain" makes plain groups of the rest, which is what plain_k promises.

if [ -n "$QUICK" ]; then
	SIZES=${SIZES:-4000} GROWTH=${GROWTH:-1000 2000 4000}
fi
SIZES=${SIZES:-10000 50000} GROWTH=${GROWTH:-10000 20000 50000 100000 500000} LIMIT=${LIMIT:-10min}
QI='{"age": null, "gender": null, "education": "education", "marital": "marital", "race": "race",
	"workclass": "workclass", "country": "country"}'
ADULT_QI=$(sed 's/: "/: "adult_/g' <<<"$QI")
most=$(tr ' ' '\n' <<<"$SIZES $GROWTH" | sort -n | tail -n 1)
say "making $most people"
psql <<-'SQL'
	ALTER DATABASE outliers SET jit = off;
	CREATE TABLE release (data text, rows int, method text, id text, grp int, removed text);
	CREATE TABLE result (data text, rows int, method text, groups text, global float8, local float8, expansion float8,
		residue float8);
	CREATE TABLE outlier (data text, rows int, id int, kind text);
	CREATE TABLE data (data text, quasi_ids text, sensitive text);
SQL
psql --set=rows="$most" <bench/papers/outliers.sql
psql -c "INSERT INTO data VALUES ('census', '$QI', 'salary')"

# The census of 1994, complete records only.
load_census_of_1994() {
	local name
	psql <<-'SQL'
		CREATE TABLE adult (id int GENERATED ALWAYS AS IDENTITY, age int, workclass text, fnlwgt int, education text,
			years int, marital text, occupation text, relationship text, race text, gender text, gain int, loss int,
			hours int, country text, salary text);
	SQL
	sed '/?/d; /^$/d; s/, /,/g' "$ADULT/adult_uci.csv" | psql -c 'COPY adult (age, workclass, fnlwgt, education, years,
		marital, occupation, relationship, race, gender, gain, loss, hours, country, salary) FROM STDIN WITH (FORMAT csv)'
	for name in education marital-status race workclass native-country; do
		import_hierarchy "$(sed 's/-status//; s/native-//; s/^/adult_/' <<<"$name")" "$name"
	done
	psql -c "INSERT INTO data VALUES ('adult', '$ADULT_QI', 'hours')"
}

# release DATA METHOD ROWS: make a release and keep it with the times that plain_k reports.
release() {
	local source="SELECT * FROM $1 WHERE id <= $3" d=0.85 method=$2 qi=$QI sensitive=salary said number='\([0-9.]*\)'
	case $2 in
		removal*)
			method=expc
			source="SELECT c.* FROM $1 c WHERE c.id <= $3
				AND NOT EXISTS (SELECT FROM outlier o WHERE o.data = '$1' AND o.rows = $3 AND o.id = c.id)"
			;;
	esac
	if [ "$2" = removal ]; then d=100; fi
	if [ "$1" = adult ]; then qi=$ADULT_QI sensitive=hours; fi
	said=$(psql 2>&1 <<-SQL
		SET statement_timeout = '$LIMIT';
		SET client_min_messages = debug1;
		INSERT INTO release SELECT '$1', $3, '$2', id, grp, removed
			FROM kanon.plain_k(\$\$$source\$\$, 'id', '$qi', '$sensitive', 15, 0.8, $d, method => '$method');
	SQL
	) || { say "$1, $2, $3 rows: not within $LIMIT"; return 0; }
	said=$(sed -n "s/.*plain_k [a-z]*: $number groups; global outliers $number ms, local outliers $number ms, expansion $number ms, residue $number ms.*/'\1', \2, \3, \4, \5/p" <<<"$said")
	psql -c "INSERT INTO result VALUES ('$1', $3, '$2', $said)"
}

# compare DATA ROWS: all methods.
compare() {
	local method
	psql -c "INSERT INTO outlier SELECT data, $2, o.id::int, kind FROM data,
		kanon.outliers('SELECT * FROM $1 WHERE id <= $2', 'id', quasi_ids::jsonb, sensitive, 0.8, 0.85) AS o WHERE data = '$1'"
	for method in expc gnof gof removal 'removal, plain'; do
		release "$1" "$method" "$2"
	done
}

for rows in $SIZES; do compare census "$rows"; done
if [ -f "$ADULT/adult_uci.csv" ] && [ -z "$QUICK" ]; then
	load_census_of_1994
	compare adult "$(psql --tuples-only --no-align -c 'SELECT count(*) FROM adult')"
fi
psql <bench/papers/outliers_results.sql

say "growth of expc"
psql -c 'TRUNCATE result, release'
for rows in $GROWTH; do
	release census expc "$rows"
done
psql -c "SELECT rows, groups, round((global + local + expansion + residue)::numeric / 1000, 2) AS seconds,
	round(((global + local + expansion + residue) / rows)::numeric, 3) AS ms_per_row FROM result ORDER BY rows"
