-- Delete entries at or before last-delivered-id that nobody has pending, a bounded number a step.
-- Gives how many, and the id to go on behind: 0-0 when there is nothing more.
-- KEYS stream   ARGV after, count
local deleted, last = 0, last_delivered(KEYS[1])
local start = ARGV[1] == '0-0' and '-' or '(' .. ARGV[1]
local entries = redis.call('XRANGE', KEYS[1], start, last, 'COUNT', ARGV[2])
for _, entry in ipairs(entries) do
  if not pending(KEYS[1], entry[1]) then
    redis.call('XDEL', KEYS[1], entry[1])
    deleted = deleted + 1
  end
end
local is_end = #entries < tonumber(ARGV[2])
return {deleted, is_end and '0-0' or entries[#entries][1]}
