-- Count one call and give {0, clean}, or count nothing and give {ms to wait first, 0}.
-- Clean is 1 when there is nothing that a success could mend.
-- KEYS pace   ARGV rate a second or 0 for none, burst, reserve kept from us, trial ms
local state, now = load(KEYS[1])
local rate, burst, reserve, trial_ms = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local rest = remaining(state, now)
if rest > 0 then return {math.ceil(rest), 0} end

local is_trial = state.rest > 0
if is_trial and state.trial > 0 then
  local left = state.trial + trial_ms - now
  if left > 0 then return {math.ceil(left), 0} end
end

if rate > 0 then
  local allowed = rate * state.factor
  -- A new bucket, also one after a loss, holds one call and not a burst.
  if state.at == 0 then state.at = now end
  state.tokens = math.min(burst, state.tokens + (now - state.at) / 1000 * allowed)
  state.at = now
  local missing = reserve + 1 - state.tokens
  if missing > 0 then
    store(KEYS[1], state)
    return {math.ceil(missing / allowed * 1000), 0}
  end
  state.tokens = state.tokens - 1
end
if is_trial then state.trial = now end
if rate > 0 or is_trial then store(KEYS[1], state) end
local is_clean = not is_trial and state.failures == 0 and state.factor >= 1
return {0, is_clean and 1 or 0}
