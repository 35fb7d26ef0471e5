-- Set entries to idle 0, each only if it bears our token; gives their ids. Never with FORCE,
-- which would put an acknowledged entry back, and with JUSTID, which leaves the counter alone.
-- KEYS stream   ARGV (id, consumer, deliveries)...
local renewed = {}
for i = 1, #ARGV, 3 do
  local id, consumer = ARGV[i], ARGV[i + 1]
  if bears(KEYS[1], id, consumer, ARGV[i + 2]) and fields(KEYS[1], id) then
    redis.call('XCLAIM', KEYS[1], GROUP, consumer, 0, id, 'JUSTID')
    renewed[#renewed + 1] = id
  end
end
return renewed
