-- Ring for jobs that have no live message; gives how many messages were added. One that waits at
-- the door of another pool than the job's is replaced: a job that a person waits for must not stay
-- behind all of bulk.
-- KEYS live, interactive, bulk   ARGV (job, pool, payload)...
local streams = {interactive = KEYS[2], bulk = KEYS[3]}
local added = 0
for i = 1, #ARGV, 3 do
  local job, pool, payload = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local stream, id = message_of(KEYS[1], streams, job)
  local misplaced = stream ~= streams[pool] and not (stream and pending(stream, id))
  if misplaced or not rings(stream, id) then
    -- Added first: when memory is full the step ends here and nothing has changed.
    local new = redis.call('XADD', streams[pool], '*', 'd', payload)
    redis.call('HSET', KEYS[1], job, pool .. '|' .. new)
    -- Nobody should, or ever will, be given the old entry.
    if stream then remove(stream, id) end
    added = added + 1
  end
end
return added
