-- Remove a consumer that holds nothing, has been idle long enough and whose name is free:
-- removing one that holds entries would leave these in no hand for ever.
-- Gives 1, 0 when unknown, -1 when it holds some, -2 when its name is borne, -3 when too fresh.
-- KEYS stream, name   ARGV consumer, idle ms
for _, row in ipairs(unless_absent(redis.pcall('XINFO', 'CONSUMERS', KEYS[1], GROUP)) or {}) do
  local facts = {}
  for i = 1, #row, 2 do facts[row[i]] = row[i + 1] end
  if facts['name'] == ARGV[1] then
    if facts['pending'] > 0 then return -1 end
    if redis.call('EXISTS', KEYS[2]) == 1 then return -2 end
    if facts['idle'] < tonumber(ARGV[2]) then return -3 end
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], GROUP, ARGV[1])
    return 1
  end
end
return 0
