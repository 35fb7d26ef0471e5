-- Whether nothing is in hand and nothing waits; gives 1 or 0.
-- KEYS stream
local summary = unless_absent(redis.pcall('XPENDING', KEYS[1], GROUP)) or {0}
local waiting = redis.call('XRANGE', KEYS[1], '(' .. last_delivered(KEYS[1]), '+', 'COUNT', 1)
return (summary[1] == 0 and #waiting == 0) and 1 or 0
