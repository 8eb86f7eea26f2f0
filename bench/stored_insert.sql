\set row random(1, ROWS)
INSERT INTO TABLE SELECT nextval('ids'), age, education, marital, occupation, workclass, race, salary, other FROM many WHERE id = :row;
