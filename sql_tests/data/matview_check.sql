-- Conditions that hold for every materialized view at every moment, read from the stored tables and the base table
-- alone.
\set ECHO none
-- broken(view, base): return the faults of the stored groups of view number 1, a line each; no line if there are none.
CREATE FUNCTION broken(base text, k integer) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY SELECT format('group %s says %s, has %s', g_id, g_size, count(m_group))
		FROM kanon.groups_1 LEFT JOIN kanon.members_1 ON m_group = g_id GROUP BY g_id,
			g_size HAVING g_size <> count(m_group) OR g_size < k;
	RETURN QUERY SELECT format('member %s has no group %s', c1, m_group) FROM kanon.members_1
		WHERE m_group NOT IN (SELECT g_id FROM kanon.groups_1);
	RETURN QUERY SELECT format('member %s is not in its cell', m.c1) FROM kanon.members_1 m
		JOIN kanon.groups_1 g ON g_id = m_group
		WHERE NOT (coalesce(m.c2::text, '') = coalesce(g.c2::text, '') OR kanon.avlike(g.c2, m.c2) OR g.c2::text = '*')
			OR NOT (coalesce(m.c3, '') = coalesce(g.c3::text, '') OR kanon.avlike(g.c3, m.c3) OR g.c3::text = '*');
	RETURN QUERY SELECT format('member %s is published below its floor', c1) FROM kanon.members_1
		JOIN kanon.groups_1 ON g_id = m_group WHERE g_step < m_floor;
	RETURN QUERY EXECUTE format('SELECT ''lost or changed: '' || b::text FROM (SELECT * FROM %s EXCEPT SELECT c1, c2, '
		'c3, c4, c5 FROM kanon.members_1) b', base);
	RETURN QUERY EXECUTE format('SELECT ''left over: '' || b::text FROM (SELECT c1, c2, c3, c4, c5 FROM '
		'kanon.members_1 EXCEPT SELECT * FROM %s) b', base);
	RETURN QUERY SELECT format('%s rows wait beside groups', count(*)) FROM kanon.members_1 WHERE m_group IS NULL
		AND EXISTS (SELECT FROM kanon.groups_1) HAVING count(*) > 0;
	RETURN QUERY SELECT format('%s cells have two groups', count(*))
		FROM (SELECT FROM kanon.groups_1 GROUP BY g_key HAVING count(*) > 1) q HAVING count(*) > 0;
END
$$;
\set ECHO all
