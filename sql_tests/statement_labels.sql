-- Labels in INSERT INTO DGH: words as they are, anything in single quotes.
DO LANGUAGE kanon $$ CREATE DGH d $$;
CREATE FUNCTION labels(code text) RETURNS text LANGUAGE plpgsql AS $f$
DECLARE
	made text;
BEGIN
	EXECUTE format('DO LANGUAGE kanon %L', 'INSERT INTO DGH d ' || code);
	SELECT string_agg(format('<%s> <%s>', child, parent), ' ' ORDER BY child) INTO made FROM kanon.dgh_edge
		WHERE dgh = 'd';
	DELETE FROM kanon.dgh_edge WHERE dgh = 'd';
	RETURN made;
EXCEPTION WHEN syntax_error THEN
	RETURN SQLERRM;
END $f$;

SELECT code, labels(code) FROM (VALUES
	('ulcer, stomach-disease'), ('Ulcer, STOMACH'), ('88512, 88***'), ('88***, *'), ('1970, 1970-74'), ('<20, young'),
	('>=65, old'),
	('007, 0.50'), ('-1, +1'), ('1e3, .5'), ('a/b, a|b'), ('a-b-, -c'), ('select, with'), ('on, "off"'),
	('müller, œuvre'), ('a\b, \n'),
	('a, b, c, d'), ('(a, b)'), ('( a,b ),(c,d)'), ('(''a'', b), (c, ''d'')'), ('20%, $5'), ('a.b, c:d'),
	('{x}, [20..30)'),
	('''it''''s'', ''a, b; (c)'''), (''' '', ''  x'''), ('''a''''''''b'', c'), ('''[20,30)'', ''*'''),
	('''/* no */'', ''-- comment'''),
	('a /* no */, -- comment
b'), ('a--b
, c'), ('a/*b*/, c/*d'), ('a/, b'), ('a
,
b'),
	('a'), ('a,'), ('a, b,'), ('a, b, c'), (', b'), ('a b, c'), ('a, b c'), ('(a, b'), ('(a)'), ('(a, b, c)'),
	('(a, b) (c, d)'), ('(a, b), c, d'),
	('a, b, (c, d)'), ('a, b)'), ('''a, b'), ('a, ''b'), ('"a", b'), ('a, "b'), ('E''x'', y'), ('''a''''b'''' , c'),
	('''a'' ''b'', c'), ('VALUES (a, b)'), ('')
) AS t (code);

-- Whether a label is valid is for the hierarchy to judge.
\set SHOW_CONTEXT never
DO LANGUAGE kanon $$ INSERT INTO DGH d '', b $$;
\echo :SQLSTATE
DO LANGUAGE kanon $$ INSERT INTO DGH d *, b $$;
\echo :SQLSTATE
DO LANGUAGE kanon $$ INSERT INTO DGH d (a, b), (b, c), (c, a) $$;
\echo :SQLSTATE
DO LANGUAGE kanon $$ INSERT INTO DGH d (a, b), (a, c) $$;
\echo :SQLSTATE
DO LANGUAGE kanon $$ INSERT INTO DGH d a, a $$;
\echo :SQLSTATE
SELECT kanon.create_prefix_dgh('p', 5);
DO LANGUAGE kanon $$ INSERT INTO DGH p a, b $$;
\echo :SQLSTATE
DO LANGUAGE kanon $$ INSERT INTO DGH nowhere a, b $$;
\echo :SQLSTATE
SELECT count(*) FROM kanon.dgh_edge;

-- A large one, in a single statement.
SELECT format('DO LANGUAGE kanon %L', 'INSERT INTO DGH d '
	|| string_agg(format('(leaf-%s, node-%s)', i, i / 100), ', ')) FROM generate_series(1, 20000) i
\gset
\set ECHO none
:format;
\set ECHO all
SELECT count(*), count(DISTINCT parent) FROM kanon.dgh_edge;
SELECT * FROM kanon.dgh_path('d', 'leaf-4711');
