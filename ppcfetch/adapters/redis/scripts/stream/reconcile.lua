-- Claim our own entries that no slot holds and that are idle for a lease: an answer was lost.
-- The counter rises, so that two processes of one name cannot bear the same token.
-- KEYS name, stream   ARGV incarnation, lease ms, consumer, count, in hand...
if not holds_name(KEYS[1], ARGV[1], ARGV[2]) then return false end
local in_hand = {}
for i = 5, #ARGV do in_hand[ARGV[i]] = true end
local found, count = {}, tonumber(ARGV[4])
walk(KEYS[2], ARGV[3], ARGV[2], '0', function(id)
  if not in_hand[id] then found[#found + 1] = claim(KEYS[2], ARGV[3], ARGV[2], id) end
  return #found >= count
end)
return found
