-- Look at messages behind an id that wait or are in a hand: {{id, owner or '', deliveries, fields}...}
-- and the id to go on behind, 0-0 at the end. Looks at so many entries at most.
-- KEYS stream   ARGV after, count
local last, found, after = last_delivered(KEYS[1]), {}, ARGV[1]
local entries = redis.call('XRANGE', KEYS[1], '(' .. after, '+', 'COUNT', ARGV[2])
for _, entry in ipairs(entries) do
  after = entry[1]
  if behind(after, last) then
    found[#found + 1] = {after, '', 0, entry[2]}
  else
    local held = pending(KEYS[1], after)
    if held then found[#found + 1] = {after, held.owner, held.deliveries, entry[2]} end
  end
end
return {found, #entries < tonumber(ARGV[2]) and '0-0' or after}
