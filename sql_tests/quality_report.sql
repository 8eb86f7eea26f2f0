-- The page: whole, well-formed, without anything from elsewhere, and safe against labels that are HTML.
\set dir `echo "$PG_ABS_SRCDIR"`
\set people :dir '/data/people.sql'
\i :people
\set SHOW_CONTEXT never
SET ROLE :"owner";
CREATE FUNCTION page(view regclass) RETURNS TABLE (xml boolean, alone boolean, charts boolean, planted boolean)
	LANGUAGE sql AS $$
	SELECT xml_is_well_formed_document(replace(html, '<!DOCTYPE html>', '')),
		html !~* '<script|<link|<img|<iframe|@import|url\(|https?:|<[^>]*\s(src|href|on\w+)=',
		html LIKE '%<svg%', html ~ '<b>x</b>|<i>evil' FROM kanon.report(view) html
$$;
SELECT * FROM page('people');

-- Names of the view, the columns, the hierarchy, its labels, the values and the roles.
CREATE TABLE "t<b>x</b>" ("who""><script>alert(1)</script>" text, "<i>evil</i>" text, "it's & <b>x</b>" text,
	"</style><script>" text, "</svg>" text);
INSERT INTO "t<b>x</b>" SELECT i,
	(ARRAY['<script>alert(2)</script>', '" onload="alert(3)', '</title><b>x</b>', '&lt;'])[1 + i % 4],
	'<i>evil' || i % 3, '<b>x</b>' || i % 2, ']]>' || i FROM generate_series(1, 40) i;
SELECT kanon.create_dgh('h<script>');
INSERT INTO kanon.dgh_edge VALUES ('h<script>', '<script>alert(2)</script>', '<b>x</b>'),
	('h<script>', '" onload="alert(3)', '<b>x</b>'), ('h<script>', '&lt;', '<img src=x>');
SELECT kanon.create_anonymization_view('"v</h1><script>"', 'SELECT * FROM "t<b>x</b>"',
	id => ARRAY['who"><script>alert(1)</script>'],
	quasi_ids => '{"<i>evil</i>": "h<script>", "it''s & <b>x</b>": null}', sensitive => '{"</style><script>": null}',
	k => 3, other => '{*}');
SELECT * FROM page('"v</h1><script>"');
SELECT count(*) > 3 AS "findings with markup in them" FROM kanon.audit('"v</h1><script>"') WHERE subject ~ '[<>]'
	AND advice IS NOT NULL;
-- Markup in names and values is escaped.
SELECT html LIKE '%<title>Privacy report: %&lt;/h1&gt;&lt;script&gt;%' AS title,
	html LIKE '%it&#39;s &amp; &lt;b&gt;x&lt;/b&gt;%' AS "column", html LIKE '%hierarchy h&lt;script&gt;%' AS hierarchy
	FROM kanon.report('"v</h1><script>"') html;
SELECT kanon.report_text('<a href="x">it''s & that</a>'), kanon.report_text(NULL);
SELECT kanon.report_percent(x), kanon.report_number(x)
	FROM unnest('{0,0.0004,0.05,0.123,0.999,1,12345.678,1234567,NULL}'::float8[]) x;

-- Views of which there is little to say.
CREATE TABLE nobody (name text, age integer);
SELECT kanon.create_anonymization_view('empty', 'SELECT * FROM nobody', id => '{name}', quasi_ids => '{"age": "ages"}',
	k => 2);
SELECT * FROM page('empty');
SELECT kanon.create_anonymization_view('no_quasi', 'SELECT name, ward FROM person', id => '{name}', k => 2,
    other => '{ward}');
SELECT xml, alone FROM page('no_quasi');
SELECT kanon.create_anonymization_view('suppressed', 'SELECT * FROM person', id => '{name}',
	quasi_ids => '{"age": "ages"}', k => 1000, other => '{*}');
SELECT * FROM page('suppressed');

-- The verdict agrees with the measures.
SELECT v, (regexp_match(kanon.report(v::regclass), '<div class="verdict (\w+)">([^<]*)<'))[1:2]
	FROM unnest('{people,empty,no_quasi,suppressed}'::text[]) v;
SELECT kanon.alter_anonymization_view('people', k => 5);
GRANT SELECT ON people, person TO :"analyst";
SELECT replace((regexp_match(kanon.report('people'), '<div class="verdict (\w+)">([^<]*)<'))[2], current_database(),
	'test');
REVOKE SELECT ON person FROM :"analyst";

-- Progress lines, when asked for.
SET kanon.show_progress = on;
SELECT rows FROM kanon.quality('people');
SELECT k FROM kanon.k_anonymity('person', '{ward}');
SELECT kanon.refresh_sequence('people');
SELECT count(*) FROM kanon.mondrian('SELECT row_number() OVER () AS id, ward FROM person', 'id', '{"ward": null}', 10);
RESET kanon.show_progress;
SELECT count(*) FROM kanon.progress;
\set end :dir '/data/people_end.sql'
\i :end
