-- Numbers that look random and are the same with every PostgreSQL: setseed() and random() give other numbers from
-- PostgreSQL 15 on. For tests whose expected output depends on the numbers.
\set ECHO none
-- seed_random(seed): start the sequence of this session anew.
CREATE FUNCTION seed_random(seed integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('kanon_test.random', (abs(seed::bigint) * 7919 % 2147483398 + 1)::text, false);
END
$$;

-- next_random(): return the next number of the sequence, at least 0 and less than 1, with all 53 bits of a double. It
-- is
-- taken from two steps of the "minimal standard" generator, Park and Miller's with the factor 48271.
CREATE FUNCTION next_random() RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
	high bigint := current_setting('kanon_test.random')::bigint * 48271 % 2147483647;
	low bigint := high * 48271 % 2147483647;
BEGIN
	PERFORM set_config('kanon_test.random', low::text, false);
	RETURN (high * 4194304 + low % 4194304) / 9007199254740992.0::double precision;
END
$$;
\set ECHO all
