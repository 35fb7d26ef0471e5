-- Claim our own pending entries behind an id; nil when the name is another's.
-- KEYS name, stream   ARGV incarnation, lease ms, consumer, after, count
if not holds_name(KEYS[1], ARGV[1], ARGV[2]) then return false end
local found, count = {}, tonumber(ARGV[5])
walk(KEYS[2], ARGV[3], 0, ARGV[4], function(id)
  found[#found + 1] = claim(KEYS[2], ARGV[3], 0, id)
  return #found >= count
end)
return found
