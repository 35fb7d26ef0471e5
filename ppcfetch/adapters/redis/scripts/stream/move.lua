-- Publish deliveries again in a pool and end the old ones, if their token is still ours.
-- KEYS live, interactive, bulk   ARGV target, (pool, id, consumer, deliveries, job or '', payload)...
local streams = {interactive = KEYS[2], bulk = KEYS[3]}
local target = ARGV[1]
local moved = 0
for i = 2, #ARGV, 6 do
  local pool, id, job = ARGV[i], ARGV[i + 1], ARGV[i + 4]
  local stream = streams[pool]
  if bears(stream, id, ARGV[i + 2], ARGV[i + 3]) then
    local other_stream, other = message_of(KEYS[1], streams, job)
    local is_other = other_stream and not (other_stream == stream and other == id)
    if not (is_other and rings(other_stream, other)) then
      -- Added first: when memory is full the step ends here and nothing has changed.
      local new = redis.call('XADD', streams[target], '*', 'd', ARGV[i + 5])
      if job ~= '' then redis.call('HSET', KEYS[1], job, target .. '|' .. new) end
    end
    remove(stream, id)
    moved = moved + 1
  end
end
return moved
