-- The results of outliers.sh.
\echo Figures 8 to 10: seconds of the processor; removal is not comparable, its outliers come from a table
SELECT data, rows, method, round((global + local + expansion + residue)::numeric / 1000, 2) AS total, round(global::numeric / 1000, 2) AS global_outliers,
    round(local::numeric / 1000, 2) AS local_outliers, round(expansion::numeric / 1000, 2) AS expansion, round(residue::numeric / 1000, 2) AS residue
FROM result ORDER BY data DESC, rows, total;
\echo Figures 11 and 13: rows of a group, rows removed, information loss of a row (of 7), and of the rows that are published
SELECT r.data, r.rows, r.method, (SELECT count(*) FROM outlier o WHERE (o.data, o.rows) = (r.data, r.rows)) AS outliers, s.groups, round(s.grouped / nullif(s.groups, 0)::numeric, 1) AS size, r.rows - s.grouped AS removed,
    round(loss::numeric, 3) AS loss, round(((loss * r.rows - 7 * (r.rows - s.grouped)) / nullif(s.grouped, 0))::numeric, 3) AS published_loss
FROM result r JOIN data USING (data), LATERAL (SELECT count(DISTINCT grp) AS groups, count(grp) AS grouped FROM release e WHERE (e.data, e.rows, e.method) = (r.data, r.rows, r.method)) AS s,
    kanon.information_loss(format('SELECT * FROM %I WHERE id <= %s', r.data, r.rows), 'id', quasi_ids::jsonb, format('SELECT id, grp FROM release WHERE data = %L AND rows = %s AND method = %L', r.data, r.rows, r.method)) AS loss
ORDER BY r.data DESC, r.rows, loss;
\echo Groups checked by is_plain, at most 20 of each release
SELECT r.data, r.rows, r.method, count(*) AS groups, bool_and(plain) AS all_plain
FROM result r JOIN data USING (data), kanon.is_plain(format('SELECT * FROM %I WHERE id <= %s', r.data, r.rows), 'id', quasi_ids::jsonb, sensitive,
        format('SELECT id, grp FROM release WHERE data = %L AND rows = %s AND method = %L AND grp %% greatest(%s / 20, 1) = 0', r.data, r.rows, r.method, r.groups), 15, 0.8, 0.85)
WHERE r.method NOT LIKE 'removal%' GROUP BY r.data, r.rows, r.method ORDER BY r.data DESC, r.rows, r.method;
