-- A call failed: give {ms until some egress may call, ms that this one rests}, or {-1, 0} when
-- calls over this one may go on.
-- KEYS all egresses' own, the egress, the others   ARGV how it failed (told to slow down, broken
--   way, or no answer), ms that were asked for, first rest ms, longest rest ms, failures in a row
--   that open the breaker, least part of the rate, trial ms, why, in words
local state, now = load(KEYS[2])
local is_told, is_broken, asked = ARGV[1] == 'told', ARGV[1] == 'broken', tonumber(ARGV[2])
local rest = remaining(state, now)
local is_trial = state.rest > 0
local unanswered = 0
if is_told then
  state.failures = 0
  redis.call('DEL', KEYS[1])
elseif not is_broken then
  state.failures = state.failures + 1
  -- An archive that is away has to be noticed before a job has tried every way out.
  unanswered = redis.call('HINCRBY', KEYS[1], 'failures', 1)
  redis.call('PEXPIRE', KEYS[1], A_DAY_MS)
end

if rest > 0 then
  -- Calls that were under way when it opened are one event, but may know of a longer rest.
  if asked > rest then state.opened, state.rest = now, asked end
elseif is_told or is_broken or is_trial or asked > 0
  or math.max(state.failures, unanswered) >= tonumber(ARGV[5]) then
  local own = math.min(tonumber(ARGV[3]) * 2 ^ math.min(state.opens, 30), tonumber(ARGV[4]))
  state.opened, state.rest, state.trial = now, math.max(own, asked), 0
  state.opens = state.opens + 1
  if is_told then state.factor = math.max(state.factor / 2, tonumber(ARGV[6])) end
end
store(KEYS[2], state)
rest = remaining(state, now)
if rest == 0 then return {-1, 0} end

redis.call('HSET', KEYS[2], 'why', ARGV[8])
local shortest = rest
for n = 3, #KEYS do
  shortest = math.min(shortest, shut(load(KEYS[n]), now, tonumber(ARGV[7])))
end
return {math.ceil(shortest), math.ceil(rest)}
