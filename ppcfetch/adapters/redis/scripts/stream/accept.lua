-- Keep what a blocking read brought, as far as it is still ours; nil when the name is another's.
-- KEYS name, stream   ARGV incarnation, lease ms, consumer, (id, deliveries)...
if not holds_name(KEYS[1], ARGV[1], ARGV[2]) then return false end
local kept = {}
for i = 4, #ARGV, 2 do
  local id = ARGV[i]
  if bears(KEYS[2], id, ARGV[3], ARGV[i + 1]) and fields(KEYS[2], id) then
    redis.call('XCLAIM', KEYS[2], GROUP, ARGV[3], 0, id, 'JUSTID')
    kept[#kept + 1] = id
  end
end
return kept
