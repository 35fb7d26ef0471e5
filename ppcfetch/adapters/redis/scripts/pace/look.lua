-- Give for each egress {ms that it rests, 1 while one call may try, parts in a million of the full
-- rate, why}; changes nothing but instants that lie ahead.
-- KEYS the egresses
local found = {}
for n, key in ipairs(KEYS) do
  local state, now = load(key)
  local rest = remaining(state, now)
  local is_trying = rest == 0 and state.rest > 0
  local why = redis.call('HGET', key, 'why') or ''
  found[n] = {math.ceil(rest), is_trying and 1 or 0, math.floor(state.factor * 1000000 + 0.5), why}
end
return found
