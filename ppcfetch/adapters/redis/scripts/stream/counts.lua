-- Count one pool: {undelivered, in hand, oldest waiting ms or -1, read but in no hand}. Never by `lag`, which is wrong
-- or absent after deletions; what was read already is counted instead, since it is little.
-- KEYS stream
local last = last_delivered(KEYS[1])
local read, start = 0, '-'
repeat
  local entries = redis.call('XRANGE', KEYS[1], start, last, 'COUNT', PAGE)
  read = read + #entries
  start = entries[1] and '(' .. entries[#entries][1]
until #entries < PAGE
local summary = unless_absent(redis.pcall('XPENDING', KEYS[1], GROUP)) or {0}
local first = redis.call('XRANGE', KEYS[1], '(' .. last, '+', 'COUNT', 1)[1]
local oldest = -1
if first then
  local now = redis.call('TIME')
  local age = now[1] * 1000 + math.floor(now[2] / 1000) - string.match(first[1], '^%d+')
  oldest = math.max(age, 0)
end
return {redis.call('XLEN', KEYS[1]) - read, summary[1], oldest, math.max(read - summary[1], 0)}
