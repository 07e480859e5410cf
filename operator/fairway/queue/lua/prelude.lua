-- In front of every script: the pool's settings, the one clock, whole numbers, refusals and events.
--
-- KEYS[1] is always the pool's `meta`, a hash that must exist: a script can so never run on a Redis that does
-- not hold the pool. All other keys are made from its prefix `fw:{pool}:`, whose hash tag puts them all into
-- the same slot of a cluster, and within reach of an ACL user limited to the pool. All times are whole
-- microseconds unless a name ends in _ms.

local META = KEYS[1]
local PREFIX = string.sub(META, 1, -5)
local NO_POOL = 'pool ' .. (string.match(META, '{(.*)}') or META) .. ' is not known to the queue'

local pool = {}  -- filled by open_pool()

local function key(name)
  return PREFIX .. name
end

-- Lua's own tostring and .. write 16-digit numbers with an exponent, and so spoil them.
local function int(number)
  return string.format('%.0f', number)
end

local function num(text)
  return tonumber(text) or 0
end

local function ms(us)
  return int(math.floor(us / 1000))
end

-- Ends the script; nothing may have been written before.
local function refuse(code, sentence)
  error({err = 'FAIRWAY ' .. code .. ' ' .. sentence})
end

-- Redis' clock, which never falls from one script to the next. The field `clock` replaces it in tests.
local function read_clock(clock, last)
  local now = tonumber(clock)
  if not now then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
  end
  return math.max(now, num(last))
end

-- Checks that the pool exists, and reads its settings and clock. Cost: O(1).
local function open_pool()
  local read = redis.call('HMGET', META, 'epoch', 'removing', 'clock', 'last', 'lease', 'suspended',
    'max_workers_lost', 'result_ttl_ms', 'dead_letter_ttl_ms', 'algorithm', 'events_kept', 'v')
  if not read[1] or read[2] then
    refuse('UNKNOWN_POOL', NO_POOL)
  end
  pool.now = read_clock(read[3], read[4])
  if pool.now > num(read[4]) then
    redis.call('HSET', META, 'last', int(pool.now))
  end
  pool.lease = num(read[5])
  pool.suspended = read[6] == '1'
  pool.max_workers_lost = num(read[7])
  pool.result_ttl_ms = num(read[8])
  pool.dead_letter_ttl_ms = num(read[9])
  pool.fifo = read[10] == 'fifo'
  pool.events_kept = num(read[11])
  pool.v = num(read[12])
end

-- Appends to the pool's event stream. The entry's id is the event's number, so that a reader sees a gap in it;
-- `phase` is the job's phase after the event, further names and values may follow. Cost: O(1).
local function emit(verb, id, tenant, phase, ...)
  local number = redis.call('HINCRBY', META, 'event', 1)
  redis.call('XADD', key('events'), 'MAXLEN', '~', pool.events_kept, int(number) .. '-0',
    'verb', verb, 'job', id, 'tenant', tenant, 'at', ms(pool.now), 'phase', phase, ...)
end
