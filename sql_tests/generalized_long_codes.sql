-- Codes of digits with too many digits for a bigint.  Masked ones are ranges of numbers, as short ones are.
SELECT kanon.create_prefix_dgh('long', 22);
SELECT kanon.create_prefix_dgh('short', 18);

-- 12 and 20 masked digits: the numbers from 12000... to 12999....
SELECT kanon.generalize('long', '1234567890123456789012', 20) AS masked \gset
SELECT :'masked' AS masked;
SELECT kanon.generalize('long', '1234567890123456789012', 20) = 1299999999999999999999 AS last,
	kanon.generalize('long', '1234567890123456789012', 20) = 1300000000000000000000 AS after_the_last,
	kanon.generalize('long', '1234567890123456789012', 20) = 1200000000000000000000 AS first,
	kanon.generalize('long', '1234567890123456789012', 20) = 1199999999999999999999 AS before_the_first;
-- Ends that no double tells apart.
SELECT kanon.generalize('long', '1234567890123456789012', 2) = 1234567890123456789000 AS first,
	kanon.generalize('long', '1234567890123456789012', 2) = 1234567890123456788999 AS before_the_first;

-- Half of the numbers are asked for, none of them, all of them; and the same of short codes.
SELECT lo, hi, kanon.coverage(kanon.generalize('long', '1234567890123456789012', 20), lo, hi)
FROM (VALUES (1200000000000000000000, 1250000000000000000000), (1300000000000000000000, 1350000000000000000000),
	(1000000000000000000000, 2000000000000000000000)) AS asked (lo, hi);
SELECT lo, hi, kanon.coverage(kanon.generalize('short', '123456789012345678', 16), lo, hi)
FROM (VALUES (120000000000000000, 125000000000000000), (130000000000000000, 135000000000000000),
	(100000000000000000, 200000000000000000)) AS asked (lo, hi);

-- Not digits alone: no range.
SELECT kanon.generalize('long', '1x34567890123456789012', 20) = 1250000000000000000000 AS digits,
	kanon.generalize('long', '1x34567890123456789012', 20) = '1x99999999999999999999' AS code,
	kanon.coverage(kanon.generalize('long', '1x34567890123456789012', 20), 1, 2);
