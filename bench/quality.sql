-- The cost of looking at a relation: k_anonymity and violations beside the GROUP BY that they need, and quality, audit
-- and report of an A-view beside reading the view.
INSERT INTO query VALUES
    ('grouped', 'SELECT age, education, occupation, count(*) FROM few GROUP BY 1, 2, 3'),
    ('k_anonymity', 'SELECT * FROM kanon.k_anonymity(''few'', ''{age,education,occupation}'')'),
    ('violations', 'SELECT * FROM kanon.violations(''few'', ''{age,education,occupation}'', 2)'),
    ('grouped with salary', 'SELECT age, education, occupation, salary, count(*) FROM few GROUP BY 1, 2, 3, 4'),
    ('k_anonymity with a sensitive column', 'SELECT * FROM kanon.k_anonymity(''few'', ''{age,education,occupation}'', ''salary'')'),
    ('whole view', 'SELECT * FROM view_few'),
    ('quality', 'SELECT * FROM kanon.quality(''view_few'')'),
    ('audit', 'SELECT * FROM kanon.audit(''view_few'')'),
    ('linkage', 'SELECT * FROM kanon.linkage(''view_few'', ''few'', ''{age,education,occupation}'')'),
    ('report', 'SELECT kanon.report(''view_few'')');
CALL measure(1);
SELECT put('quality', name || ' / GROUP BY', ms(name) / ms(base), 'x', '<= 1.3')
FROM (VALUES ('k_anonymity', 'grouped'), ('violations', 'grouped'), ('k_anonymity with a sensitive column', 'grouped with salary')) AS v (name, base);
SELECT put('quality', name || ' / reading the view', ms(name) / ms('whole view'), 'x') FROM unnest('{quality,audit,linkage,report}'::text[]) AS name;
