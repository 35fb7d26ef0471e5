-- A call failed: give the ms that nobody may call, or -1 when calls may go on.
-- KEYS pace   ARGV 1 when we were told to slow down, ms that were asked for, first rest ms,
--   longest rest ms, failures in a row that open the breaker, least part of the rate
local state, now = load(KEYS[1])
local is_told, asked = ARGV[1] == '1', tonumber(ARGV[2])
local rest = remaining(state, now)
local is_trial = state.rest > 0
state.failures = is_told and 0 or state.failures + 1

if rest > 0 then
  -- Calls that were under way when it opened are one event, but may know of a longer rest.
  if asked > rest then state.opened, state.rest = now, asked end
elseif is_told or is_trial or asked > 0 or state.failures >= tonumber(ARGV[5]) then
  local own = math.min(tonumber(ARGV[3]) * 2 ^ math.min(state.opens, 30), tonumber(ARGV[4]))
  state.opened, state.rest, state.trial = now, math.max(own, asked), 0
  state.opens = state.opens + 1
  if is_told then state.factor = math.max(state.factor / 2, tonumber(ARGV[6])) end
end
store(KEYS[1], state)
rest = remaining(state, now)
return rest > 0 and math.ceil(rest) or -1
