-- The data sets and queries of uncertain.sh, and functions that try a method on them.
-- Variables: rows, queries, and adult (whether the table raw has the lines of adult_uci.csv).
SELECT setseed(0.1);
-- U10K: uniform in the unit cube.
CREATE TABLE u AS SELECT id, random() AS a, random() AS b, random() AS c, random() AS d, random() AS e, ''::text AS label
    FROM generate_series(1, :rows) id;

-- G20.D10K: 20 clusters around random centers, radius up to 0.5 per column, sizes between 0.5 and 1, 1 % outliers; each cluster has
-- a class, and its rows that class with probability 0.9.
CREATE FUNCTION normal() RETURNS float8 LANGUAGE sql VOLATILE AS $$ SELECT sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) $$;
CREATE TABLE cluster AS SELECT g, array_agg(random()) AS center, array_agg(random() / 2) AS radius, min(0.5 + random() / 2) AS size, (random() < 0.5) AS class
    FROM generate_series(1, 20) g, generate_series(1, 5) GROUP BY g;
ALTER TABLE cluster ADD upto float8;
UPDATE cluster SET upto = s FROM (SELECT g AS gg, sum(size) OVER (ORDER BY g) / sum(size) OVER () AS s FROM cluster) x WHERE g = gg;
CREATE TABLE g AS
    SELECT id, x[1] AS a, x[2] AS b, x[3] AS c, x[4] AS d, x[5] AS e, label
    FROM (SELECT id, p FROM (SELECT id, random() AS p FROM generate_series(1, :rows) id OFFSET 0) r) r,
         LATERAL (SELECT center, radius, class FROM cluster WHERE upto >= p ORDER BY upto LIMIT 1) c,
         LATERAL (SELECT CASE WHEN id % 100 = 0 THEN ARRAY[random(), random(), random(), random(), random()]
                         ELSE ARRAY[center[1] + radius[1] * normal(), center[2] + radius[2] * normal(), center[3] + radius[3] * normal(),
                                    center[4] + radius[4] * normal(), center[5] + radius[5] * normal()] END AS x,
                         (class = (random() < 0.9))::text AS label) v;

CREATE TABLE dataset (name text, source text, columns text[], from_edge boolean[]);
INSERT INTO dataset VALUES ('U10K', 'u', '{a,b,c,d,e}', '{f,f,f,f,f}'), ('G20.D10K', 'g', '{a,b,c,d,e}', '{f,f,f,f,f}');

\if :adult
-- Nine of ten rows have no capital gain and as many no capital loss: a range that does not start at 0 is empty.
CREATE TABLE adult AS
    SELECT row_number() OVER (ORDER BY md5(line), line) AS id, f[1]::int AS age, f[3]::int AS fnlwgt, f[5]::int AS education,
           f[11]::int AS gain, f[12]::int AS loss, f[13]::int AS hours, f[15] AS label
    FROM (SELECT line, regexp_split_to_array(line, ', *') AS f FROM raw WHERE line <> '') r ORDER BY 1 LIMIT :rows;
INSERT INTO dataset VALUES ('Adult', 'adult', '{age,fnlwgt,education,gain,loss,hours}', '{f,f,f,t,t,f}');
\endif

-- All rows of a data set as arrays; the training rows, and the rows that classes are tested on.
CREATE TABLE row (name text, id int, x float8[], label text);
CREATE FUNCTION load() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    s dataset;
BEGIN
    FOR s IN SELECT * FROM dataset LOOP
        EXECUTE format('INSERT INTO row SELECT %L, id, ARRAY[%s]::float8[], label FROM %I', s.name,
                       (SELECT string_agg(quote_ident(c), ', ') FROM unnest(s.columns) c), s.source);
    END LOOP;
END $$;
SELECT load();
CREATE INDEX ON row (name, id);
ANALYZE;
CREATE TABLE domain AS
    SELECT name, array_agg(lo ORDER BY i) AS lo, array_agg(hi ORDER BY i) AS hi
    FROM (SELECT name, i, min(v) AS lo, max(v) AS hi FROM row, unnest(x) WITH ORDINALITY AS u(v, i) GROUP BY name, i) r GROUP BY name;
CREATE FUNCTION inside(x float8[], lo float8[], hi float8[]) RETURNS boolean LANGUAGE sql IMMUTABLE AS
    $$ SELECT x[1] BETWEEN lo[1] AND hi[1] AND x[2] BETWEEN lo[2] AND hi[2] AND x[3] BETWEEN lo[3] AND hi[3] AND x[4] BETWEEN lo[4] AND hi[4]
          AND x[5] BETWEEN lo[5] AND hi[5] AND (x[6] IS NULL OR x[6] BETWEEN lo[6] AND hi[6]) $$;

-- Random ranges, kept where the true count is in one of four classes: for 10,000 rows 51 to 100, 101 to 200, 201 to 300 and 301
-- to 400. Their ends are random in the unit cube; for Adult, which is skewed, they are those of random rows, give or take half
-- a unit, and for its two capital columns from below 0 to a random value of the domain.
CREATE TABLE query (name text, class int, lo float8[], hi float8[], truth int);
CREATE FUNCTION make_queries(wanted int, scale float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    s record;
    counting text;
    l float8[];
    h float8[];
    n int;
    c int;
    have int[];
BEGIN
    FOR s IN SELECT d.*, (SELECT max(id) FROM row r WHERE r.name = d.name) AS rows, CASE source WHEN 'adult' THEN lo ELSE '{0,0,0,0,0}' END AS lo, CASE source WHEN 'adult' THEN hi ELSE '{1,1,1,1,1}' END AS hi
             FROM dataset d JOIN domain USING (name) LOOP
        have := '{0,0,0,0}';
        counting := format('SELECT count(*) FROM %I WHERE %s', s.source,
            (SELECT string_agg(format('%I BETWEEN $1[%s] AND $2[%s]', col, i, i), ' AND ') FROM unnest(s.columns) WITH ORDINALITY AS u(col, i)));
        FOR tries IN 1..60000 LOOP
            EXIT WHEN wanted <= ALL (have);
            SELECT array_agg(CASE WHEN edge THEN dl ELSE dl + least(p, q) * (dh - dl) END ORDER BY i), array_agg(dl + greatest(p, q) * (dh - dl) ORDER BY i)
                INTO l, h FROM unnest(s.lo, s.hi, s.from_edge) WITH ORDINALITY AS u(dl, dh, edge, i), LATERAL (SELECT random() + 0 * i, random()) r(p, q);
            IF s.source = 'adult' THEN
                SELECT array_agg(CASE WHEN edge THEN -0.5 ELSE least(p, q) END ORDER BY i), array_agg(CASE WHEN edge THEN h[i] ELSE greatest(p, q) END ORDER BY i)
                    INTO l, h
                    FROM (SELECT edge, i, (SELECT x[i] FROM row WHERE name = s.name AND id = a) + random() - 0.5 AS p,
                                 (SELECT x[i] FROM row WHERE name = s.name AND id = b) + random() - 0.5 AS q
                          FROM (SELECT edge, i, 1 + floor(random() * s.rows)::int AS a, 1 + floor(random() * s.rows)::int AS b
                                FROM unnest(s.from_edge) WITH ORDINALITY AS u(edge, i) OFFSET 0) ends) picked;
            END IF;
            EXECUTE counting INTO n USING l, h;
            c := CASE WHEN n > 50 * scale THEN width_bucket(n - 0.5, ARRAY[0, 100 * scale, 200 * scale, 300 * scale, 400 * scale]) END;
            CONTINUE WHEN c IS NULL OR c > 4 OR have[c] >= wanted;
            have[c] := have[c] + 1;
            INSERT INTO query VALUES (s.name, c, l, h, n);
        END LOOP;
    END LOOP;
END $$;
SELECT make_queries(:queries, :rows / 10000.0);

CREATE TABLE release (id int, z float8[], spread float8[], label text);
CREATE TABLE error (name text, method text, k int, class int, error float8, bias float8);
CREATE TABLE accuracy (name text, method text, k int, accuracy float8);

-- One release, from the rows that a condition selects. Condensation has no spread.
CREATE FUNCTION make_release(s dataset, method text, k int, rows text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    source text := format('SELECT * FROM %I WHERE %s', s.source, rows);
BEGIN
    TRUNCATE release;
    IF method = 'condensation' THEN
        INSERT INTO release SELECT r.id::int, z, array_fill(0::float8, ARRAY[cardinality(z)]), w.label
            FROM kanon.condense(source, 'id', s.columns, k, 7) r JOIN row w ON w.name = s.name AND w.id = r.id::int;
    ELSE
        INSERT INTO release SELECT r.id::int, z, spread, w.label
            FROM kanon.uncertain(source, 'id', s.columns, k, CASE method WHEN 'uniform' THEN 'uniform' ELSE 'gaussian' END, method = 'local', seed => 7) r
            JOIN row w ON w.name = s.name AND w.id = r.id::int;
    END IF;
END $$;

CREATE FUNCTION try_queries(s dataset, method text, level int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM make_release(s, CASE method WHEN 'naive' THEN 'gaussian' ELSE method END, level, 'true');
    INSERT INTO error
        SELECT s.name, method, level, class, avg(abs(truth - estimate) / truth * 100), avg((estimate - truth) / truth * 100)
        FROM query q JOIN domain d USING (name),
             LATERAL (SELECT CASE WHEN method IN ('naive', 'condensation') THEN (SELECT count(*) FROM release WHERE inside(z, q.lo, q.hi))::float8
                             ELSE kanon.uncertain_count('release', CASE method WHEN 'uniform' THEN 'uniform' ELSE 'gaussian' END, q.lo, q.hi, d.lo, d.hi) END) e(estimate)
        WHERE name = s.name AND (level = 10 OR class = 2) GROUP BY class;
END $$;

-- The last rows are tested, the others published. Condensation is done class by class, as its authors do.
CREATE FUNCTION try_classes(s dataset, method text, level int, tests int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    first_test int := (SELECT max(id) - tests FROM row WHERE name = s.name);
    l text;
BEGIN
    CREATE TEMP TABLE published (z float8[], spread float8[], label text) ON COMMIT DROP;
    IF method = 'nearest neighbour' THEN
        INSERT INTO published SELECT x, array_fill(0::float8, ARRAY[cardinality(x)]), label FROM row WHERE name = s.name AND id <= first_test;
    ELSIF method = 'condensation' THEN
        FOR l IN SELECT DISTINCT label FROM row WHERE name = s.name LOOP
            PERFORM make_release(s, method, level, format('id <= %s AND label = %L', first_test, l));
            INSERT INTO published SELECT z, spread, label FROM release;
        END LOOP;
    ELSE
        PERFORM make_release(s, method, level, format('id <= %s', first_test));
        INSERT INTO published SELECT z, spread, label FROM release;
    END IF;
    INSERT INTO accuracy
        SELECT s.name, method, level, avg((kanon.uncertain_classify('published', CASE method WHEN 'uniform' THEN 'uniform' ELSE 'gaussian' END, x) = label)::int) * 100
        FROM row WHERE name = s.name AND id > first_test;
    DROP TABLE published;
END $$;

-- The results, a column per method.
CREATE FUNCTION shown(float8) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$ SELECT round($1::numeric, 1) $$;
CREATE VIEW errors AS
    SELECT name AS data, class, k, shown(max(error) FILTER (WHERE method = 'uniform')) AS uniform, shown(max(error) FILTER (WHERE method = 'gaussian')) AS gaussian,
           shown(max(error) FILTER (WHERE method = 'local')) AS local_gaussian, shown(max(error) FILTER (WHERE method = 'naive')) AS naive,
           shown(max(error) FILTER (WHERE method = 'condensation')) AS condensation
    FROM error GROUP BY name, class, k;
CREATE VIEW biases AS
    SELECT name AS data, class, k, shown(max(bias) FILTER (WHERE method = 'uniform')) AS uniform, shown(max(bias) FILTER (WHERE method = 'gaussian')) AS gaussian,
           shown(max(bias) FILTER (WHERE method = 'local')) AS local_gaussian, shown(max(bias) FILTER (WHERE method = 'naive')) AS naive,
           shown(max(bias) FILTER (WHERE method = 'condensation')) AS condensation
    FROM error GROUP BY name, class, k;
CREATE VIEW accuracies AS
    SELECT name AS data, k, shown(max(accuracy) FILTER (WHERE method = 'uniform')) AS uniform, shown(max(accuracy) FILTER (WHERE method = 'gaussian')) AS gaussian,
           shown(max(accuracy) FILTER (WHERE method = 'local')) AS local_gaussian, shown(max(accuracy) FILTER (WHERE method = 'condensation')) AS condensation,
           shown(max(accuracy) FILTER (WHERE method = 'nearest neighbour')) AS nearest_neighbour
    FROM accuracy GROUP BY name, k;
