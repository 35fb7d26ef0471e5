-- Put before every step of the pace. One hash an egress:
--   tokens, kept, at  the bucket, what of the pace is kept for bulk, and when both were last filled
--   factor            the part of the full rate that may be used, 1 when all is well
--   opened, rest      when the breaker opened and for how long; rest 0 while it is closed
--   trial             when the one call was let through that tries whether it may close
--   opens, failures   how often it opened, and how many calls went unanswered, in a row
--   why               what it was rested for last, until all is well; the only text
-- One for all egresses: failures, the calls in a row that nobody had an answer to.
-- Times are milliseconds by the clock of Redis, which may also be set back.
local A_DAY_MS = 86400000
local DEFAULTS = {tokens = 1, kept = 1, at = 0, factor = 1, opened = 0, rest = 0, trial = 0, opens = 0, failures = 0}

local instant

-- One instant for the whole step, as Redis sees it.
local function now_ms()
  if not instant then
    local now = redis.call('TIME')
    instant = now[1] * 1000 + now[2] / 1000
  end
  return instant
end

local function store(key, state)
  local flat = {}
  for name in pairs(DEFAULTS) do
    flat[#flat + 1] = name
    flat[#flat + 1] = string.format('%.6f', state[name])
  end
  redis.call('HSET', key, unpack(flat))
  redis.call('PEXPIRE', key, math.max(A_DAY_MS, 2 * math.ceil(state.rest)))
end

-- What is noted, and now. An instant that lies ahead was noted before the clock was set back: left
-- so, a rest would last until the clock has caught up.
local function load(key)
  local state, now, is_ahead = {}, now_ms(), false
  for name, value in pairs(DEFAULTS) do state[name] = value end
  local stored = redis.call('HGETALL', key)
  for i = 1, #stored, 2 do
    if DEFAULTS[stored[i]] then state[stored[i]] = tonumber(stored[i + 1]) end
  end
  for _, name in ipairs({'at', 'opened', 'trial'}) do
    if state[name] > now then state[name], is_ahead = now, true end
  end
  if is_ahead then store(key, state) end
  return state, now
end

-- How long nobody may call.
local function remaining(state, now)
  return math.max(state.opened + state.rest - now, 0)
end

-- How long nobody may call, or another has to finish the call that tries.
local function shut(state, now, trial_ms)
  local rest = remaining(state, now)
  if rest > 0 or state.rest == 0 or state.trial == 0 then return rest end
  return math.max(state.trial + trial_ms - now, 0)
end
