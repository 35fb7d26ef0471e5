-- Count one call over the egress that may be asked first: give {0, its number, clean, askers}.
-- Or count nothing: give {ms to wait first, 0, 0, askers}.
-- Clean is 1 when no egress has anything that a success could mend.
-- KEYS all egresses' own, askers, the egresses   ARGV rate a second or 0 for none, burst, reserve
--   kept from bulk, share kept for bulk, 1 for bulk, trial ms, the asker, where to begin looking
local rate, burst, reserve, share = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local is_bulk, trial_ms, first = ARGV[5] == '1', tonumber(ARGV[6]), tonumber(ARGV[8])
local EXACT = 0.00001  -- tokens are stored with six digits
local SEEN_EVERY, SEEN_FOR = 5, 3600

-- What has come since the last filling: the share first into what is kept for bulk, and what finds
-- no room there into the bucket. Nothing that bulk leaves is lost for those who wait.
local function fill(state, now)
  if state.at == 0 then state.at = now end
  local come = (now - state.at) / 1000 * rate * state.factor
  local kept = math.min(come * share, math.max(1 - state.kept, 0))
  state.kept = state.kept + kept
  state.tokens = math.min(burst, state.tokens + come - kept)
  state.at = now
end

-- How long until the bucket has a call for us.
local function lacking(state)
  local missing = (is_bulk and reserve or 0) + 1 - state.tokens
  if missing <= EXACT then return 0 end
  local room = math.max(1 - state.kept, 0)
  local needed = math.min(missing / (1 - share), missing + room)
  if is_bulk then needed = room <= EXACT and 0 or math.min(needed, room / share) end
  return needed / (rate * state.factor) * 1000
end

local function take(state)
  if is_bulk and state.kept >= 1 - EXACT then
    state.kept = math.max(state.kept - 1, 0)
  else
    state.tokens = math.max(state.tokens - 1, 0)
  end
end

-- How many processes asked lately, this one among them.
local function askers(now)
  local seconds = math.floor(now / 1000)
  local seen = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[7]) or 0)
  if math.abs(seconds - seen) >= SEEN_EVERY then
    redis.call('ZADD', KEYS[2], seconds, ARGV[7])
    redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', seconds - SEEN_FOR)
    redis.call('EXPIRE', KEYS[2], SEEN_FOR)
  end
  return redis.call('ZCARD', KEYS[2])
end

local count = #KEYS - 2
local shortest, chosen, chosen_key, number, rank
local is_clean = tonumber(redis.call('HGET', KEYS[1], 'failures') or 0) == 0
for step = 0, count - 1 do
  local n = (first + step) % count
  local key = KEYS[n + 3]
  local state, now = load(key)
  local wait = shut(state, now, trial_ms)
  if rate > 0 and wait == 0 then
    local is_new = state.at == 0
    fill(state, now)
    wait = lacking(state)
    -- Also one that was never used has to fill: else it stays behind the others for ever.
    if is_new then store(key, state) end
  end
  if state.rest > 0 or state.failures > 0 or state.factor < 1 then is_clean = false end
  -- One that was rested goes first: somebody has to find out.
  local own = state.rest > 0 and math.huge or state.tokens
  if wait == 0 and (not chosen or own > rank) then
    chosen, chosen_key, number, rank = state, key, n, own
  end
  shortest = math.min(shortest or wait, wait)
end

if not chosen then return {math.ceil(shortest), 0, 0, askers(now_ms())} end
if rate > 0 then take(chosen) end
if chosen.rest > 0 then chosen.trial = now_ms() end
if rate > 0 or chosen.rest > 0 then store(chosen_key, chosen) end
return {0, number, is_clean and 1 or 0, askers(now_ms())}
