# shellcheck shell=bash
# The experiments of "k-Anonymity in the Presence of External Databases" (section 5) with this build.
#
# Information loss (normalized NCP in percent; DM as microdata rows per microdata row) and the average relative error of
# range counts, of the conventional algorithms and of k-join-anonymity, direct and refinement. UNI is 10k microdata rows
# in a public table of up to 1M, uniform in [0,1]; SKEW the same with most values near 0, in place of the paper's census
# data; Adult, with its hierarchies, where there is the Adult data.

MT=10000 RATIOS=1,5,10,50,100 KS=5,10,50,100,500 DS=2,3,4,5,6 RANGES=2,5,10,20,50 RATIO=100 K=50 D=4
if [ -n "$QUICK" ]; then
	MT=2000 RATIOS=1,5,10 KS=5,10,50 DS=2,4,6 RATIO=10
fi
psql <bench/papers/kja.sql

# sweep SOURCE NAME LIST: one table of information loss for a parameter that varies.
sweep() {
	psql --set=data="$1" --set=what="$2" --set=list="$3" <<-'SQL'
		CALL bench_sweep(:'data', :'what', string_to_array(:'list', ',')::int[]);
		\echo
		\echo :data: normalized NCP (percent) and DM (microdata rows per group, as seen by a row), by :what
		SELECT * FROM bench_loss(:'data', :'what');
	SQL
}

# errors SOURCE NAME LIST: one table of relative errors.
errors() {
	psql --set=data="$1" --set=what="$2" --set=list="$3" <<-'SQL'
		CALL bench_errors(:'data', :'what', string_to_array(:'list', ',')::int[]);
		\echo
		\echo :data: average relative error of 100 range counts (percent), by :what
		SELECT * FROM bench_error(:'data', :'what');
	SQL
}

say "UNI: $MT microdata rows; where not varied: ratio $RATIO, k $K, d $D, ranges of 10 % of the space"
psql --set=mt="$MT" --set=ratio="$RATIO" --set=k="$K" --set=d="$D" <<-'SQL'
	CALL bench_uni(:mt, :ratio);
	INSERT INTO bench_default VALUES ('UNI', :mt, :ratio, :k, :d), ('SKEW', :mt, :ratio, :k, :d);
SQL
sweep UNI ratio "$RATIOS"
sweep UNI k "$KS"
sweep UNI d "$DS"
errors UNI ratio "$RATIOS"
errors UNI k "$KS"
errors UNI range "$RANGES"
sweep SKEW ratio "$RATIOS"
errors SKEW ratio "$RATIOS"
errors SKEW k "$KS"
errors SKEW range "$RANGES"

if [ ! -r "$ADULT/adult.csv" ]; then
	say "Adult: skipped, there is no $ADULT/adult.csv"
	return 0
fi
say "Adult with its hierarchies: a tenth of it as microdata, all of it public; eight quasi-identifiers; else k 10"
load_adult
psql <<-'SQL'
	CALL bench_adult();
	INSERT INTO bench_default VALUES ('Adult', 3016, 10, 10, 8);
SQL
sweep Adult ratio 1,2,5,10
sweep Adult k 5,10,50
