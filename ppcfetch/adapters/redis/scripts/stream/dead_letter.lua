-- Add a dead letter, then end the delivery, if its token is still ours; gives 1 or 0.
-- KEYS live, interactive, bulk, dead
-- ARGV pool, id, consumer, deliveries, job or '', raw, reason, most kept
local streams = {interactive = KEYS[2], bulk = KEYS[3]}
local pool, id, job = ARGV[1], ARGV[2], ARGV[5]
local stream = streams[pool]
if not bears(stream, id, ARGV[3], ARGV[4]) then return 0 end
local now = redis.call('TIME')
local at_ms = now[1] .. string.format('%03d', math.floor(now[2] / 1000))
-- Added first: when memory is full the step ends here and the delivery is kept.
redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[8], '*', 'job', job, 'raw', ARGV[6],
  'reason', ARGV[7], 'pool', pool, 'message', id, 'deliveries', ARGV[4], 'at_ms', at_ms)
remove(stream, id)
forget(KEYS[1], job, pool, id)
return 1
