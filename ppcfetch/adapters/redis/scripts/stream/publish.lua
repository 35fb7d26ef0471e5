-- Ring for jobs that have no live message; gives how many messages were added.
-- KEYS live, interactive, bulk   ARGV (job, pool, payload)...
local streams = {interactive = KEYS[2], bulk = KEYS[3]}
local added = 0
for i = 1, #ARGV, 3 do
  local job, pool, payload = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local stream, id = message_of(KEYS[1], streams, job)
  if not (stream and rings(stream, id)) then
    -- Added first: when memory is full the step ends here and nothing has changed.
    local new = redis.call('XADD', streams[pool], '*', 'd', payload)
    redis.call('HSET', KEYS[1], job, pool .. '|' .. new)
    -- Nobody will ever be given the old entry, so it would only count as waiting.
    if stream then remove(stream, id) end
    added = added + 1
  end
end
return added
