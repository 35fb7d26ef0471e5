-- Free a consumer name if it is ours.
-- KEYS name   ARGV incarnation
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
