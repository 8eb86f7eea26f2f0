\set age random_gaussian(0, 99, 2.5)
\set zip random_zipfian(1, 20000, 1.1)
\set sex random(0, 1)
\set education random_gaussian(0, 15, 3)
\set occupation random(0, 13)
INSERT INTO TABLE VALUES (nextval('ids'), :age, lpad((:zip * 7919 % 100000)::text, 5, '0'), (ARRAY ['m', 'f'])[:sex + 1], 'education ' || :education, 'occupation ' || :occupation, 'disease ' || :age % 7, :zip);
