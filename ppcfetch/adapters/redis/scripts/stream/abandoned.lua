-- Look at others' entries that are idle for a lease, behind an id, without claiming.
-- KEYS stream   ARGV lease ms, our consumer, after, count
local found, count = {}, tonumber(ARGV[4])
walk(KEYS[1], nil, ARGV[1], ARGV[3], function(id, owner, deliveries)
  if owner == ARGV[2] then return false end
  local payload = fields(KEYS[1], id)
  if payload then
    found[#found + 1] = {id, deliveries, payload, owner}
  else
    -- Nobody can work on it any more; left pending it would be looked at for ever.
    redis.call('XACK', KEYS[1], GROUP, id)
  end
  return #found >= count
end)
return found
