-- The example of the paper (Figures 1 to 3): Bill is removed, Justin is hidden.
-- Age is the quasi-identifier: with Gender and Zipcode beside it no p and d at all make all of the paper's statements
-- true (doc/outliers.md). Bill's two billions are 1, so that d = 0.00003 is an income of about 60,000.
SET client_min_messages = warning;
CREATE TABLE figure_1 (id int, name text, age int, gender text, zipcode int, income numeric);
INSERT INTO figure_1 VALUES
    (1, 'Alice', 20, 'F', 06006, 20000), (2, 'Bob', 20, 'M', 06011, 25000), (3, 'Justin', 20, 'M', 06013, 120000),
    (4, 'Carol', 30, 'F', 06001, 30000), (5, 'Allan', 30, 'M', 06010, 50000), (6, 'Bill', 30, 'M', 06022, 2000000000),
    (7, 'Ben', 40, 'M', 06004, 100000), (8, 'Susan', 40, 'F', 06002, 110000), (9, 'David', 40, 'M', 06003, 130000);
CREATE TABLE figure_2a AS SELECT id, age / 10 - 1 AS grp FROM figure_1;
CREATE TABLE figure_2b AS SELECT id, (income >= 100000)::int + 1 AS grp FROM figure_1 WHERE name <> 'Bill';
CREATE TABLE figure_3 AS SELECT id, CASE WHEN id IN (1, 5, 7, 8) THEN 1 ELSE 2 END AS grp FROM figure_1
    WHERE name <> 'Bill';
\set figure_1 '''figure_1'', ''id'', ''{"age": null}'', ''income'''

SELECT name, kind FROM kanon.outliers(:figure_1, 0.85, 0.00003) o JOIN figure_1 f ON f.id = o.id::int ORDER BY f.id;

-- Figure 2 (a): Justin's group has 120K, and Bill's 2 billion, with which all corners are outliers; both are found.
SELECT * FROM kanon.is_plain(:figure_1, 'figure_2a', 3, 0.85, 0.00003);
SELECT name, grp, presence, association FROM kanon.distinguishability(:figure_1, 'figure_2a', 0.85, 0.00003) o
    JOIN figure_1 f ON f.id = o.id::int;

-- Figure 2 (b): no one of age 20 has 100K or more, so Justin is there. Of the outliers Bill is as old as this group,
-- too, but gone.
SELECT * FROM kanon.is_plain(:figure_1, 'figure_2b', 4, 0.85, 0.00003);
SELECT name, grp, presence, association FROM kanon.distinguishability(:figure_1, 'figure_2b', 0.85, 0.00003) o
    JOIN figure_1 f ON f.id = o.id::int;
-- Where Bill is not in the table to begin with, d is on another scale, and Justin the only one.
\set without_bill '''SELECT * FROM figure_1 WHERE name <> $$Bill$$'', ''id'', ''{"age": null}'', ''income'''
SELECT name, kind FROM kanon.outliers(:without_bill, 0.85, 0.4) o JOIN figure_1 f ON f.id = o.id::int;
SELECT * FROM kanon.is_plain(:without_bill, 'figure_2b', 4, 0.85, 0.4);
SELECT name, grp, presence, association FROM kanon.distinguishability(:without_bill, 'figure_2b', 0.85, 0.4) o
    JOIN figure_1 f ON f.id = o.id::int;

-- Figure 3 is plain, and no outlier is found.
SELECT * FROM kanon.is_plain(:figure_1, 'figure_3', 4, 0.85, 0.00003);
SELECT * FROM kanon.distinguishability(:figure_1, 'figure_3', 0.85, 0.00003);
SELECT * FROM kanon.is_plain(:without_bill, 'figure_3', 4, 0.85, 0.4);
SELECT * FROM kanon.distinguishability(:without_bill, 'figure_3', 0.85, 0.4);

-- Our own release removes Bill and has Justin in a plain group, with every method.
SELECT method, name, r.removed, r.grp IS NULL AS no_group, r.box IS NULL AS no_box,
       (SELECT bool_and(plain) FROM kanon.is_plain(:figure_1,
           format('SELECT * FROM kanon.plain_k(%L, %L, %L, %L, 3, 0.85, 0.00003, method => %L)', 'figure_1', 'id',
           '{"age": null}', 'income', method), 3, 0.85, 0.00003)) AS plain,
       (SELECT count(*) FROM kanon.distinguishability(:figure_1,
           format('SELECT * FROM kanon.plain_k(%L, %L, %L, %L, 3, 0.85, 0.00003, method => %L)', 'figure_1', 'id',
           '{"age": null}', 'income', method), 0.85, 0.00003)) AS found
FROM unnest(ARRAY['expc', 'gnof', 'gof']) AS method, kanon.plain_k(:figure_1, 3, 0.85, 0.00003, method => method) AS r
    JOIN figure_1 f ON f.id = r.id::int
WHERE name IN ('Justin', 'Bill') OR r.removed IS NOT NULL ORDER BY method, f.id;
SELECT name, grp, box, sensitive FROM kanon.plain_k(:figure_1, 3, 0.85, 0.00003) AS r
    JOIN figure_1 f ON f.id = r.id::int ORDER BY grp, f.id;

-- Information loss: a group of ages 20 to 40 in 20 to 40 loses all of it, single ages nothing, Bill's removed row
-- everything.
SELECT kanon.information_loss('figure_1', 'id', '{"age": null}', 'figure_2a') AS figure_2a,
       kanon.information_loss('figure_1', 'id', '{"age": null}',
           'SELECT id, 1 AS grp FROM figure_1 WHERE age < 40') AS younger,
       kanon.information_loss('figure_1', 'id', '{"age": null}', 'figure_3') AS figure_3;
