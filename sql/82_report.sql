--
-- The report: one HTML page without external resources.
--
-- All names and values pass through kanon.report_text.  Charts are SVG.  There is no
-- script.
--

CREATE FUNCTION kanon.report_text(value text) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT replace(replace(replace(replace(replace(coalesce(value, ''), '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), '''', '&#39;')
$$;
COMMENT ON FUNCTION kanon.report_text IS 'a text escaped for HTML';

CREATE FUNCTION kanon.report_percent(share float8) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN share IS NULL THEN '–' WHEN share > 0 AND share < 0.001 THEN '< 0.1 %' WHEN share < 1 AND share >= 0.995 THEN '> 99 %'
        ELSE trim_scale(round((100 * share)::numeric, CASE WHEN share < 0.1 THEN 1 ELSE 0 END)) || ' %' END
$$;
COMMENT ON FUNCTION kanon.report_percent IS 'a share in percent, in readable form';

CREATE FUNCTION kanon.report_number(value float8) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN value IS NULL THEN '–' WHEN value = trunc(value) OR abs(value) >= 100
        THEN replace(trim(to_char(value, '999G999G999G999G990')), ',', ' ') ELSE trim_scale(round(value::numeric, 2))::text END
$$;
COMMENT ON FUNCTION kanon.report_number IS 'a number in readable form';

-- Shorten a label to the space that a chart has for it.
CREATE FUNCTION kanon.report_label(label text) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT kanon.report_text(CASE WHEN length(label) > 24 THEN left(label, 23) || '…' ELSE label END)
$$;
COMMENT ON FUNCTION kanon.report_label IS 'a label of a chart';

-- Horizontal bars, one per label: shares from 0 to 1.
CREATE FUNCTION kanon.report_rows(labels text[], shares float8[], colour text) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('<svg class="chart" viewBox="0 0 440 %s" role="img">', greatest(cardinality(labels), 1) * 24 + 4)
        || coalesce(string_agg(format(
            '<g><title>%1$s: %2$s</title><text x="166" y="%3$s" text-anchor="end" class="label">%4$s</text>'
            '<rect x="174" y="%5$s" width="200" height="14" class="track"/>'
            '<rect x="174" y="%5$s" width="%6$s" height="14" class="%7$s"/><text x="380" y="%3$s" class="number">%2$s</text></g>',
            kanon.report_text(b.label), kanon.report_percent(b.share), b.place * 24 - 6, kanon.report_label(b.label), b.place * 24 - 17,
            round((200 * least(b.share, 1))::numeric, 1), colour), '' ORDER BY b.place), '')
        || '</svg>'
    FROM unnest(labels, shares) WITH ORDINALITY AS b (label, share, place)
$$;
COMMENT ON FUNCTION kanon.report_rows IS 'a chart of horizontal bars';

-- Two bars per label, scaled so that the longest fills the width.
CREATE FUNCTION kanon.report_pairs(labels text[], before float8[], after float8[]) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('<svg class="chart" viewBox="0 0 440 %s" role="img">', greatest(cardinality(labels), 1) * 30 + 4)
        || coalesce(string_agg(format(
            '<g><title>%1$s: before %2$s, after %3$s</title><text x="166" y="%4$s" text-anchor="end" class="label">%5$s</text>'
            '<rect x="174" y="%6$s" width="%7$s" height="9" class="before"/><text x="%8$s" y="%9$s" class="small">%2$s</text>'
            '<rect x="174" y="%10$s" width="%11$s" height="9" class="after"/><text x="%12$s" y="%13$s" class="small">%3$s</text></g>',
            kanon.report_text(b.label), kanon.report_percent(b.before), kanon.report_percent(b.after), b.place * 30 - 11, kanon.report_label(b.label),
            b.place * 30 - 25, w.before, w.before + 179, b.place * 30 - 17, b.place * 30 - 15, w.after, w.after + 179, b.place * 30 - 6), '' ORDER BY b.place), '')
        || '</svg>'
    FROM unnest(labels, before, after) WITH ORDINALITY AS b (label, before, after, place),
        (SELECT greatest(max(x), 1e-9) AS most FROM unnest(before || after) x) AS m,
        LATERAL (SELECT round((200 * b.before / m.most)::numeric, 1) AS before, round((200 * b.after / m.most)::numeric, 1) AS after) AS w
$$;
COMMENT ON FUNCTION kanon.report_pairs IS 'a chart of pairs of bars, before and after';

-- Vertical bars, for a distribution.
CREATE FUNCTION kanon.report_columns(labels text[], shares float8[], marked boolean[]) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT '<svg class="chart" viewBox="0 0 420 190" role="img"><line x1="10" y1="150.5" x2="410" y2="150.5" class="axis"/>'
        || coalesce(string_agg(format(
            '<g><title>%1$s: %2$s</title><rect x="%3$s" y="%4$s" width="%5$s" height="%6$s" class="%7$s"/>'
            '<text x="%8$s" y="%9$s" text-anchor="middle" class="number">%10$s</text>'
            '<text x="%8$s" y="168" text-anchor="middle" class="label">%1$s</text></g>',
            kanon.report_text(b.label), kanon.report_percent(b.share), round((10 + (b.place - 1) * w.width + 0.12 * w.width)::numeric, 1),
            round((150 - h.height)::numeric, 1), round((0.76 * w.width)::numeric, 1), round(h.height::numeric, 1),
            CASE WHEN b.mark THEN 'bad' ELSE 'after' END, round((10 + (b.place - 0.5) * w.width)::numeric, 1),
            round((144 - h.height)::numeric, 1), CASE WHEN b.share > 0 THEN kanon.report_percent(b.share) ELSE '' END), '' ORDER BY b.place), '')
        || '<text x="210" y="186" text-anchor="middle" class="label">people in a group</text></svg>'
    FROM unnest(labels, shares, marked) WITH ORDINALITY AS b (label, share, mark, place),
        (SELECT 400.0 / greatest(cardinality(labels), 1) AS width, greatest(max(s), 1e-9) AS most FROM unnest(shares) s) AS w,
        LATERAL (SELECT 120 * b.share / w.most AS height) AS h
$$;
COMMENT ON FUNCTION kanon.report_columns IS 'a chart of vertical bars';

CREATE FUNCTION kanon.report_tile(title text, value text, note text, class text DEFAULT '') RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('<div class="tile %s"><div class="what">%s</div><div class="value">%s</div><div class="note">%s</div></div>', class, title, value, note)
$$;
COMMENT ON FUNCTION kanon.report_tile IS 'a figure with its title, as HTML';

-- The policy of the view, in words.
CREATE FUNCTION kanon.report_policy(view regclass) RETURNS text
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT '<ul class="policy">' || string_agg(format('<li>%s</li>', kanon.report_text(line)), '' ORDER BY place) || '</ul>'
    FROM regexp_split_to_table(kanon.policy(view), E'\n') WITH ORDINALITY AS p (line, place)
$$;
COMMENT ON FUNCTION kanon.report_policy IS 'the result of kanon.policy for an A-view, as HTML';

CREATE FUNCTION kanon.report_findings(findings kanon.finding[]) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce('<table class="findings"><thead><tr><th>Severity</th><th>Finding</th><th>Advice</th></tr></thead><tbody>'
        || string_agg(format('<tr><td><span class="badge %1$s">%1$s</span></td><td><b>%2$s</b><br/>%3$s%4$s</td><td>%5$s</td></tr>',
            f.severity, kanon.report_text(f.subject), kanon.report_text(f.measure),
            CASE WHEN f.value IS NULL THEN '' ELSE ': ' || CASE WHEN f.measure ~ 'risk|share|^loss|^distinction|^separation'
                THEN kanon.report_percent(f.value) ELSE kanon.report_number(f.value) END END,
            kanon.report_text(f.advice)), '' ORDER BY array_position(ARRAY['critical', 'warning', 'info'], f.severity), f.topic, f.place)
        || '</tbody></table>', '<p class="good">Nothing needs to be done.</p>')
    FROM unnest(findings) WITH ORDINALITY AS f (topic, subject, measure, value, severity, advice, place)
    WHERE f.advice IS NOT NULL
$$;
COMMENT ON FUNCTION kanon.report_findings IS 'the findings of an audit that have advice, as HTML';

-- How often the values of a column occur, before and after.  If there are many values, count their generalizations.
CREATE FUNCTION kanon.report_values(hierarchy text, labels text[], counts bigint[], boxes kanon.generalized[], box_counts bigint[]) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    most constant integer := 12;
    level integer := 0;
    chart text;
BEGIN
    IF hierarchy IS NOT NULL AND cardinality(labels) > most THEN
        SELECT coalesce(min(x.level) FILTER (WHERE x.different <= most), max(x.level)) INTO level
        FROM (SELECT p.level, count(DISTINCT p.value) AS different, bool_and(p.value::text = '*') AS root
            FROM unnest(labels) AS v (value), LATERAL kanon.dgh_path(hierarchy, v.value) p WHERE v.value IS NOT NULL GROUP BY p.level) x
        WHERE NOT x.root;
    END IF;
    -- A value that the hierarchy does not contain has no generalization except *, and is counted as it is.
    WITH node AS (SELECT v.*, CASE WHEN hierarchy IS NOT NULL THEN kanon.generalize(hierarchy, v.value, coalesce(level, 0)) END AS node
        FROM unnest(labels, counts) AS v (value, n)),
    raw AS (SELECT CASE WHEN x.known THEN node.node::text ELSE node.value END AS label, CASE WHEN x.known THEN node.node END AS place, x.known, sum(node.n) AS n
        FROM node, LATERAL (SELECT node.value IS NOT NULL AND node.node IS NOT NULL AND node.node::text <> '*' AS known) AS x GROUP BY 1, 2, 3),
    bin AS (SELECT raw.*, row_number() OVER (ORDER BY raw.label IS NULL, raw.n DESC, raw.label) AS rank FROM raw),
    shown AS (SELECT b.value, b.n, b.value::text = '*' AS hidden FROM unnest(boxes, box_counts) AS b (value, n)),
    total AS (SELECT nullif(sum(raw.n), 0)::float8 AS n FROM raw),
    bars AS (
        SELECT 1 AS part, bin.place, bin.rank, coalesce(bin.label, 'NULL') AS label, bin.n / total.n AS before,
            (SELECT coalesce(sum(s.n * CASE WHEN bin.known AND s.value IS NOT NULL THEN coalesce(kanon.coverage(s.value, bin.label), 0)
                ELSE (s.value::text IS NOT DISTINCT FROM bin.label)::integer END), 0) FROM shown s WHERE s.hidden IS NOT TRUE) / total.n AS after
        FROM bin, total WHERE bin.rank <= most
        UNION ALL
        SELECT 2, NULL, NULL, format('%s others', count(*)), sum(bin.n) / total.n, NULL FROM bin, total WHERE bin.rank > most GROUP BY total.n
        UNION ALL
        SELECT 3, NULL, NULL, 'hidden', 0, sum(s.n) / total.n FROM shown s, total WHERE s.hidden GROUP BY total.n),
    filled AS (SELECT b.*, coalesce(b.after, greatest(0, 1 - sum(b.after) OVER ())) AS rest FROM bars b)
    SELECT kanon.report_pairs(array_agg(f.label ORDER BY f.part, f.place, f.rank), array_agg(f.before ORDER BY f.part, f.place, f.rank),
        array_agg(f.rest ORDER BY f.part, f.place, f.rank)) INTO chart FROM filled f;
    RETURN chart;
END
$$;
COMMENT ON FUNCTION kanon.report_values IS 'a chart of the values of a column, before and after';

CREATE FUNCTION kanon.report_charts(view regclass, required integer) RETURNS text
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    quasi name[] := ARRAY(SELECT c."column" FROM kanon.aview_columns(view) c WHERE c.role = 'quasi');
    hierarchies text[] := ARRAY(SELECT c.dgh FROM kanon.aview_columns(view) c WHERE c.role = 'quasi');
    bounds bigint[] := '{1,2,5,10,20,50,100}';
    names text[] := '{1,2–4,5–9,10–19,20–49,50–99,100+}';
    sizes text;
    suppression text;
    losses text;
    pairs text;
BEGIN
    WITH t AS MATERIALIZED (SELECT * FROM kanon.tally(view)),
    g AS MATERIALIZED (SELECT * FROM t WHERE t."column" IS NULL),
    binned AS (SELECT b.place, coalesce(sum(g.people) FILTER (WHERE g.fate <> 'suppressed'), 0)
            / nullif((SELECT sum(g.people) FROM g WHERE g.fate <> 'suppressed'), 0)::float8 AS share
        FROM generate_subscripts(bounds, 1) AS b (place) LEFT JOIN g ON width_bucket(g.people, bounds) = b.place GROUP BY b.place),
    lost AS (SELECT q.place, q.name::text AS name, sum(g.rows * g.loss[q.place]) / nullif(sum(g.rows), 0) AS loss
        FROM unnest(quasi) WITH ORDINALITY AS q (name, place), g GROUP BY q.place, q.name),
    after AS (SELECT q.place, array_agg(b.value) AS boxes, array_agg(b.n) AS counts FROM unnest(quasi) WITH ORDINALITY AS q (name, place),
        LATERAL (SELECT g.box[q.place] AS value, sum(g.rows)::bigint AS n FROM g GROUP BY 1) b GROUP BY q.place),
    before AS (SELECT t."column" AS name, array_agg(t.value) AS labels, array_agg(t.rows) AS counts FROM t WHERE t."column" IS NOT NULL GROUP BY 1),
    pair AS (SELECT q.place, format('<figure><h3>%s</h3>%s</figure>', kanon.report_text(q.name::text),
            kanon.report_values(hierarchies[q.place], b.labels, b.counts, a.boxes, a.counts)) AS html
        FROM unnest(quasi) WITH ORDINALITY AS q (name, place) JOIN after a ON a.place = q.place JOIN before b ON b.name = q.name)
    SELECT (SELECT kanon.report_columns(names, array_agg(coalesce(b.share, 0) ORDER BY b.place),
                array_agg(CASE WHEN b.place < cardinality(bounds) THEN bounds[b.place + 1] <= required ELSE false END ORDER BY b.place)) FROM binned b),
        (SELECT kanon.report_rows(ARRAY['published', 'suppressed'], ARRAY[1 - s.share, s.share], 'after')
            FROM (SELECT coalesce(sum(g.rows) FILTER (WHERE g.fate = 'suppressed'), 0) / nullif(sum(g.rows), 0)::float8 AS share FROM g) s),
        (SELECT kanon.report_rows(array_agg(l.name ORDER BY l.place), array_agg(l.loss ORDER BY l.place), 'loss') FROM lost l),
        (SELECT string_agg(p.html, '' ORDER BY p.place) FROM pair p)
    INTO sizes, suppression, losses, pairs;
    RETURN format('<section><h2>Sizes of the groups</h2><div class="two"><figure><figcaption>Share of people by the size of their group</figcaption>%s</figure>'
        '<div><figure><figcaption>Rows that show something about people, and rows that do not</figcaption>%s</figure>'
        '<figure><figcaption>Information lost per quasi-identifier (0 %%: shown exactly, 100 %%: not shown at all)</figcaption>%s</figure></div></div></section>',
        sizes, suppression, coalesce(losses, '')) ||
        coalesce(format('<section><h2>Values before and after</h2><p><span class="key before"></span> in the tables <span class="key after"></span> in the view. Shares of all rows; an interval or a node counts evenly for all values that it stands for.</p><div class="two">%s</div></section>', pairs), '');
END
$$;
COMMENT ON FUNCTION kanon.report_charts IS 'the charts of a report, as HTML';

CREATE FUNCTION kanon.report_risks(findings kanon.finding[], threshold float8) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('<section><h2>Risk of re-identification</h2><div class="two"><figure><figcaption>Chance that a row is linked to the right person</figcaption>%s</figure>'
        '<div><p><b>Prosecutor</b>: an attacker who knows that a person is in the data. <b>Journalist</b>: an attacker who does not know that, and looks for any person. '
        '<b>Marketer</b>: an attacker who links as many people as possible; the share of right links. People <i>at risk</i> are in groups where the chance is above %s.</p>'
        '<p>People who are alone with their quasi-identifiers: <b>%s</b> before, <b>%s</b> after.</p></div></div></section>',
        kanon.report_rows(array_agg(replace(replace(replace(f.measure, ' risk, maximum', ', at most'), ' risk, average', ', average'), 'share of people', 'people') ORDER BY f.place) FILTER (WHERE f.topic = 'risk'),
            array_agg(f.value ORDER BY f.place) FILTER (WHERE f.topic = 'risk'), 'risk'),
        kanon.report_percent(threshold),
        kanon.report_number(max(f.value) FILTER (WHERE f.measure = 'people alone before')),
        kanon.report_number(max(f.value) FILTER (WHERE f.measure = 'people alone after')))
    FROM unnest(findings) WITH ORDINALITY AS f (topic, subject, measure, value, severity, advice, place)
$$;
COMMENT ON FUNCTION kanon.report_risks IS 'the risks of a report, as HTML';

CREATE FUNCTION kanon.report_style() RETURNS text
    LANGUAGE sql IMMUTABLE AS $style$ SELECT $css$
:root{--ink:#1d2733;--soft:#5b6876;--line:#dfe4ea;--paper:#fff;--ground:#f4f6f8;--blue:#2f6f9f;--grey:#a9b4c0;--amber:#c77d0a;--red:#b3362b;--green:#2e7d4f}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,"DejaVu Sans",sans-serif}
main{max-width:1080px;margin:0 auto;padding:24px}
header{padding:8px 0 0}
h1{font-size:28px;line-height:1.2;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:19px;margin:0 0 12px}
h3{font-size:15px;margin:0 0 4px;overflow-wrap:anywhere}
p{margin:0 0 12px}
.sub{color:var(--soft);margin:0}
section{background:var(--paper);border:1px solid var(--line);border-radius:10px;padding:20px 24px;margin:16px 0}
.verdict{border-radius:10px;padding:14px 24px;margin:16px 0;color:#fff;font-size:18px;overflow-wrap:anywhere}
.verdict.ok{background:var(--green)}.verdict.warning,.verdict.info{background:var(--amber)}.verdict.critical{background:var(--red)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:16px 0}
.tile{background:var(--paper);border:1px solid var(--line);border-radius:10px;padding:12px 16px}
.tile .what{color:var(--soft);font-size:13px}.tile .value{font-size:26px;font-weight:600;line-height:1.3}.tile .note{color:var(--soft);font-size:13px}
.two{display:grid;grid-template-columns:1fr 1fr;gap:24px;align-items:start}
figure{margin:0 0 12px}
figcaption{color:var(--soft);font-size:13px;margin-bottom:6px}
.chart{width:100%;max-width:520px;height:auto;display:block}
.chart text{font-size:12px;fill:var(--ink)}.chart .label{fill:var(--soft)}
.chart .small{font-size:9px;fill:var(--soft)}.key{display:inline-block;width:14px;height:10px;border-radius:2px;margin:0 2px 0 10px}.key.before{background:var(--grey);margin-left:0}.key.after{background:var(--blue)}
.track{fill:#eef1f4}.axis{stroke:var(--grey)}.before{fill:var(--grey)}.after{fill:var(--blue)}.loss{fill:#7a6aa8}.risk{fill:var(--amber)}.bad{fill:var(--red)}
table{border-collapse:collapse;width:100%;font-size:14px}
th{text-align:left;color:var(--soft);font-weight:600;border-bottom:2px solid var(--line);padding:6px 12px 6px 0}
td{border-bottom:1px solid var(--line);padding:8px 12px 8px 0;vertical-align:top;overflow-wrap:anywhere}
td.n,th.n{text-align:right}
th{white-space:nowrap}
.badge{display:inline-block;white-space:nowrap;border-radius:9px;padding:1px 9px;color:#fff;font-size:12px;font-weight:600}
.badge.critical{background:var(--red)}.badge.warning{background:var(--amber)}.badge.info{background:var(--grey);color:var(--ink)}.badge.ok{background:var(--green)}
.policy{margin:0;padding-left:20px}.policy li{margin:0 0 6px;overflow-wrap:anywhere}
.good{color:var(--green)}
footer{color:var(--soft);font-size:13px;padding:0 0 24px}
@media(max-width:720px){main{padding:12px}section{padding:16px}.two{grid-template-columns:1fr;gap:8px}.findings thead{display:none}.findings td:first-child{margin-bottom:2px}.findings td{display:block;border:0;padding:2px 0}.findings tr{display:block;border-bottom:1px solid var(--line);padding:10px 0}.wide{overflow-x:auto}}
@media print{@page{margin:14mm}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}body{background:#fff;font-size:11px}table{font-size:10.5px}td{padding:4px 10px 4px 0}.verdict{font-size:14px;padding:9px 16px}h2{font-size:15px;margin-bottom:8px}.tile{padding:7px 12px}.tile .value{font-size:19px}.tile .what,.tile .note,figcaption,footer{font-size:10px}section p{break-after:avoid}main{max-width:none;padding:0}h1{font-size:22px}section{border:0;border-top:1px solid var(--line);border-radius:0;padding:12px 0;margin:0}.tiles{grid-template-columns:repeat(3,1fr)}figure,tr,.tile,.verdict{break-inside:avoid}h2,h3{break-after:avoid}}
$css$ $style$;
COMMENT ON FUNCTION kanon.report_style IS 'the style sheet of a report';

-- The columns of the view in a table.
CREATE FUNCTION kanon.report_table(view regclass, findings kanon.finding[]) RETURNS text
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT '<section><h2>The columns</h2><div class="wide"><table><thead><tr><th>Column</th><th>Role</th><th>Hierarchy</th><th class="n">Loss</th><th class="n">Distinction</th><th class="n">Separation</th></tr></thead><tbody>'
        || string_agg(format('<tr><td><b>%s</b></td><td>%s</td><td>%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td></tr>',
            kanon.report_text(c."column"), CASE c.role WHEN 'id' THEN 'identifier' WHEN 'quasi' THEN 'quasi-identifier' WHEN 'sensitive' THEN 'sensitive' ELSE 'as it is' END,
            kanon.report_text(c.dgh), coalesce(f.loss, ''), coalesce(f.distinction, ''), coalesce(f.separation, '')), '' ORDER BY c.place)
        || '</tbody></table></div><p class="sub">Distinction: different values per row. Separation: the share of pairs of rows that the column tells apart. Both are computed from the tables.</p></section>'
    FROM (SELECT row_number() OVER () AS place, x.* FROM kanon.aview_columns(view) x) AS c
    LEFT JOIN LATERAL (
        SELECT kanon.report_percent(max(u.value) FILTER (WHERE u.measure = 'loss')) AS loss,
            kanon.report_percent(max(u.value) FILTER (WHERE u.measure IN ('distinction', 'share of different values'))) AS distinction,
            kanon.report_percent(max(u.value) FILTER (WHERE u.measure = 'separation')) AS separation
        FROM unnest(findings) u WHERE u.topic IN ('column', 'undeclared') AND u.subject = c."column" HAVING count(*) > 0) AS f ON true
$$;
COMMENT ON FUNCTION kanon.report_table IS 'the columns of an A-view in a table, as HTML';

CREATE FUNCTION kanon.report_verdict(findings kanon.finding[], groups bigint, smallest bigint, required integer) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('<div class="verdict %s">%s</div>', w.worst, CASE
        WHEN required < 2 THEN 'This view does not hide rows among others: its k is below 2.'
        WHEN required IS NULL AND groups > 0 THEN format('Each data owner''s k holds; the smallest group has %s people.', smallest)
            || CASE WHEN w.worst = 'critical' AND w.what IS NOT NULL THEN format(' But another finding is critical: %s.', w.what) ELSE '' END
        WHEN groups = 0 THEN 'Nothing is published: all rows are suppressed, or there are none.'
        WHEN smallest < required THEN format('k = %s does not hold: the smallest group has %s people.', required, smallest)
        WHEN w.worst = 'critical' THEN format('k = %s holds, but another finding is critical: %s.', required, w.what)
        WHEN w.worst = 'warning' THEN format('k = %s holds: every person is one of at least %s people. %s listed below.', required, smallest,
            CASE w.many WHEN 1 THEN 'One warning is' ELSE format('%s warnings are', w.many) END)
        ELSE format('k = %s holds: every person is one of at least %s people.', required, smallest) END)
    -- Beside a person who is alone, or a critical finding, nothing is green.
    FROM (SELECT CASE WHEN groups > 0 AND smallest < 2 THEN 'critical' ELSE coalesce((array_agg(f.severity ORDER BY f.rank))[1], 'ok') END AS worst,
            (array_agg(kanon.report_text(f.subject || ' ' || f.measure) ORDER BY f.rank))[1] AS what, count(*) FILTER (WHERE f.severity = 'warning') AS many
        FROM (SELECT u.*, array_position(ARRAY['critical', 'warning'], u.severity) AS rank FROM unnest(findings) u) f WHERE f.rank IS NOT NULL) AS w
$$;
COMMENT ON FUNCTION kanon.report_verdict IS 'the first sentence of a report, as HTML';

CREATE FUNCTION kanon.report(view regclass, threshold float8 DEFAULT 0.2, population regclass DEFAULT NULL) RETURNS text
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    q record;
    findings kanon.finding[];
    guarantee record;
    personal boolean;
    title text := kanon.report_text(view::text);
BEGIN
    SELECT * INTO q FROM kanon.quality(view);
    findings := ARRAY(SELECT f FROM kanon.audit(view, threshold, population) f);
    SELECT * INTO guarantee FROM kanon.aview_guarantee(view);
    personal := EXISTS (SELECT FROM kanon.aview_profile(view) p WHERE p.k IS NOT NULL);
    RETURN concat('<!DOCTYPE html>', E'\n<html lang="en"><head><meta charset="utf-8"/><meta name="viewport" content="width=device-width, initial-scale=1"/>',
        format('<title>Privacy report: %s</title><style>', title), kanon.report_style(), '</style></head><body><main>',
        format('<header><h1>Privacy report: %s</h1><p class="sub">Anonymization view in database %s, %s</p></header>',
            title, kanon.report_text(current_database()), to_char(now(), 'FMDD FMMonth YYYY, HH24:MI')),
        kanon.report_verdict(findings, q.groups, q.min_group, CASE WHEN personal THEN NULL ELSE coalesce(guarantee.k, 0) END),
        '<div class="tiles">',
        kanon.report_tile('Rows', kanon.report_number(q.rows), format('in %s groups', kanon.report_number(q.groups))),
        kanon.report_tile('Smallest group', kanon.report_number(q.min_group), CASE WHEN personal THEN 'people; each data owner has a k' ELSE format('people; k is %s', coalesce(guarantee.k::text, 'not set')) END),
        kanon.report_tile('Average group', kanon.report_number(round(q.avg_group::numeric, 1)::float8), 'people'),
        kanon.report_tile('Highest risk', kanon.report_percent(1.0 / nullif(q.min_group, 0)), 'of re-identification'),
        kanon.report_tile('Suppressed', kanon.report_percent(q.suppressed / nullif(q.rows, 0)::float8), format('%s rows', kanon.report_number(q.suppressed))),
        kanon.report_tile('Information lost', kanon.report_percent(q.ncp), 'certainty penalty'),
        '</div>',
        '<section><h2>Policy of this view</h2>', kanon.report_policy(view), '</section>',
        '<section><h2>Findings and advice</h2>', kanon.report_findings(findings), '</section>',
        kanon.report_risks(findings, threshold),
        kanon.report_charts(view, guarantee.k),
        kanon.report_table(view, findings),
        '<section><h2>Limits</h2><p>k-anonymity hides which row belongs to a person. It does not hide that a person is in the data. '
        'It does not protect against an attacker who knows more than the quasi-identifiers. Two views or two releases of the same people can be intersected. '
        'The numbers are those of the rows when this page was made. The page quotes raw values and is meant for readers who may see them.</p></section>',
        '<footer>Made by kanon inside PostgreSQL. This page has no external resources.</footer></main></body></html>', E'\n');
END
$$;
COMMENT ON FUNCTION kanon.report IS
    'an HTML page about an A-view: its policy in words, risks, charts, and advice; for the view''s owner';
