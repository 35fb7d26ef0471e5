-- Put before every step. Works on Redis 6.2, 7, 8 and Valkey 8, 9.
local GROUP = 'workers'
local PAGE = 100

-- The reply, or nil when the group or the stream is not there; other errors end the step.
local function unless_absent(reply)
  if not reply.err then return reply end
  if string.find(reply.err, 'NOGROUP', 1, true) or string.find(reply.err, 'no such key', 1, true) then
    return nil
  end
  error(reply.err)
end

-- Whether id a lies behind id b. As text, since a Lua number holds only 53 bits of each half.
local function behind(a, b)
  local function more(x, y) return #x > #y or (#x == #y and x > y) end
  local a_ms, a_seq = string.match(a, '^(%d+)-(%d+)$')
  local b_ms, b_seq = string.match(b, '^(%d+)-(%d+)$')
  return more(a_ms, b_ms) or (a_ms == b_ms and more(a_seq, b_seq))
end

-- The owner, idle time and delivery counter of a pending entry, or nil.
local function pending(stream, id)
  local rows = unless_absent(redis.pcall('XPENDING', stream, GROUP, id, id, 1))
  if not rows or not rows[1] then return nil end
  return {owner = rows[1][2], idle = rows[1][3], deliveries = rows[1][4]}
end

-- Whether a pending entry bears a token: the name alone would pass for a sleeper's successor.
local function bears(stream, id, consumer, deliveries)
  local entry = pending(stream, id)
  return entry ~= nil and entry.owner == consumer and entry.deliveries == tonumber(deliveries)
end

-- The fields of an entry, or nil when it was deleted or trimmed.
local function fields(stream, id)
  local found = redis.call('XRANGE', stream, id, id, 'COUNT', 1)
  return found[1] and found[1][2]
end

-- How far the group has read; a group that is not there will be made at 0. Asked once a step,
-- since no step reads and a step may look at hundreds of entries.
local read_up_to = {}
local function last_delivered(stream)
  if read_up_to[stream] then return read_up_to[stream] end
  read_up_to[stream] = '0-0'
  for _, group in ipairs(unless_absent(redis.pcall('XINFO', 'GROUPS', stream)) or {}) do
    local facts = {}
    for i = 1, #group, 2 do facts[group[i]] = group[i + 1] end
    if facts['name'] == GROUP then read_up_to[stream] = facts['last-delivered-id'] end
  end
  return read_up_to[stream]
end

-- Whether the entry reaches somebody: it exists, and is in a hand or will be handed out.
local function rings(stream, id)
  return fields(stream, id) ~= nil
    and (pending(stream, id) ~= nil or behind(id, last_delivered(stream)))
end

-- Where the hash says that a job's message is: its stream and id, or nil.
local function message_of(live, streams, job)
  local value = redis.call('HGET', live, job)
  if not value then return nil end
  local pool, id = string.match(value, '^(%a+)|(%d+%-%d+)$')
  return streams[pool], id
end

-- Forget a job's message, unless the hash names another one by now.
local function forget(live, job, pool, id)
  if redis.call('HGET', live, job) == pool .. '|' .. id then redis.call('HDEL', live, job) end
end

-- Take an entry out of the group and the stream.
local function remove(stream, id)
  redis.call('XACK', stream, GROUP, id)
  redis.call('XDEL', stream, id)
end

-- Whether the name is ours; a free one is taken back, as its keeper would.
local function holds_name(key, incarnation, lease_ms)
  local bearer = redis.call('GET', key)
  if not bearer then redis.call('SET', key, incarnation, 'PX', lease_ms) end
  return not bearer or bearer == incarnation
end

-- Claim one entry under a new counter: {id, counter, fields}, or nil when it was not to be had.
-- One whose payload is gone is acknowledged away: 6.2 would hand it out for ever.
local function claim(stream, consumer, min_idle, id)
  local entry = pending(stream, id)
  if not entry then return nil end
  if not fields(stream, id) then
    redis.call('XACK', stream, GROUP, id)
    return nil
  end
  local claimed = redis.call('XCLAIM', stream, GROUP, consumer, min_idle, id)
  return claimed[1] and {id, entry.deliveries + 1, claimed[1][2]} or nil
end

-- Show pending entries behind an id to `visit`, in order, to the end or until it says true.
local function walk(stream, consumer, min_idle, after, visit)
  local start, rows = '(' .. after, nil
  repeat
    local command = {'XPENDING', stream, GROUP, 'IDLE', min_idle, start, '+', PAGE, consumer}
    rows = unless_absent(redis.pcall(unpack(command))) or {}
    for _, row in ipairs(rows) do
      if visit(row[1], row[2], row[4]) then return end
      start = '(' .. row[1]
    end
  until #rows < PAGE
end

