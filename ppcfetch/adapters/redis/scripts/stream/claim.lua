-- Take over entries that are still idle for a lease: of two rescuers one wins.
-- KEYS name, stream   ARGV incarnation, lease ms, consumer, id...
if not holds_name(KEYS[1], ARGV[1], ARGV[2]) then return false end
local found = {}
for i = 4, #ARGV do
  found[#found + 1] = claim(KEYS[2], ARGV[3], ARGV[2], ARGV[i])
end
return found
