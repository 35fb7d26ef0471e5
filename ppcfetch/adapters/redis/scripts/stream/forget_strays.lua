-- Forget live messages that are in no stream any more, a part of the hash a step; gives the
-- cursor to go on from, 0 at the end.
-- KEYS live, interactive, bulk   ARGV cursor, count
local streams = {interactive = KEYS[2], bulk = KEYS[3]}
local found = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
for i = 1, #found[2], 2 do
  local stream, id = message_of(KEYS[1], streams, found[2][i])
  if not (stream and fields(stream, id)) then redis.call('HDEL', KEYS[1], found[2][i]) end
end
return found[1]
