-- Take a free consumer name, or keep our own a lease longer; gives 1, or 0 when another's.
-- KEYS name   ARGV incarnation, lease ms
if not holds_name(KEYS[1], ARGV[1], ARGV[2]) then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
