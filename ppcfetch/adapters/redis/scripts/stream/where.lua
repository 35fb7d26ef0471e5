-- Where a job's live message is: {pool|id, owner, idle ms, deliveries}, owner '' while it waits;
-- nil when nothing rings for the job.
-- KEYS live, interactive, bulk   ARGV job
local streams = {interactive = KEYS[2], bulk = KEYS[3]}
local stream, id = message_of(KEYS[1], streams, ARGV[1])
if not (stream and rings(stream, id)) then return false end
local entry = pending(stream, id) or {owner = '', idle = 0, deliveries = 0}
return {redis.call('HGET', KEYS[1], ARGV[1]), entry.owner, entry.idle, entry.deliveries}
