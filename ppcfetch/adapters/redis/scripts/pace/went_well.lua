-- A call was answered: close the breaker and give a little of the rate back.
-- KEYS all egresses' own, the egress   ARGV part of the rate to give back
local state, now = load(KEYS[2])
-- The answer to a call from before the breaker opened says nothing about now.
if remaining(state, now) > 0 then return 0 end
redis.call('DEL', KEYS[1])
state.rest, state.trial, state.opens, state.failures = 0, 0, 0, 0
state.factor = math.min(1, state.factor + tonumber(ARGV[1]))
store(KEYS[2], state)
if state.factor >= 1 then redis.call('HDEL', KEYS[2], 'why') end
return 1
