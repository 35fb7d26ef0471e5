-- End deliveries whose token is still ours; gives how many.
-- KEYS live, interactive, bulk   ARGV (pool, id, consumer, deliveries, job or '')...
local streams = {interactive = KEYS[2], bulk = KEYS[3]}
local settled = 0
for i = 1, #ARGV, 5 do
  local pool, id, job = ARGV[i], ARGV[i + 1], ARGV[i + 4]
  local stream = streams[pool]
  if bears(stream, id, ARGV[i + 2], ARGV[i + 3]) then
    remove(stream, id)
    forget(KEYS[1], job, pool, id)
    settled = settled + 1
  end
end
return settled
