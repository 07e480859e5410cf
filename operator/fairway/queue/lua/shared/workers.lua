-- Workers: who is there, who idles, and how they are told.
--
-- `workers` (sorted set): names by the time they were last heard of. `worker:<name>` (hash): node, slots, busy,
-- and its last lease call (token, jobs). `idle` (sorted set): workers that wait for work, by the time they began
-- to. `inbox:<name>` (list): what a worker blocks on; messages are `wake` and `cancel:<job id>`.

local INBOX_MS = 600000
local FRESH = 45000000  -- an idle worker renews its place more often, else it may be gone
local WAKE_AT_MOST = 3

local function touch_worker(name, node)
  redis.call('ZADD', key('workers'), int(pool.now), name)
  redis.call('HSET', key('worker:' .. name), 'node', node)
end

local function drop_worker(name)
  redis.call('ZREM', key('workers'), name)
  redis.call('ZREM', key('idle'), name)
  redis.call('DEL', key('worker:' .. name), key('inbox:' .. name))
end

-- A worker that was dropped in the meantime must not come back as half a record.
local function add_busy(name, change)
  if redis.call('EXISTS', key('worker:' .. name)) == 1 then
    redis.call('HINCRBY', key('worker:' .. name), 'busy', change)
  end
end

local function tell(name, message)
  redis.call('RPUSH', key('inbox:' .. name), message)
  redis.call('PEXPIRE', key('inbox:' .. name), INBOX_MS)
end

-- Wakes the worker that began to idle last: the likeliest to be alive. One that has not renewed its place is
-- woken too, but not relied on. Cost: O(log workers).
local function wake()
  for _ = 1, WAKE_AT_MOST do
    local idle = redis.call('ZPOPMAX', key('idle'))
    if not idle[1] then
      return
    end
    tell(idle[1], 'wake')
    if num(idle[2]) > pool.now - FRESH then
      return
    end
  end
end

-- Wakes a worker if this tenant's job could be dispatched to it now.
local function offer(tenant)
  if tenant.member ~= '' and not pool.suspended then
    wake()
  end
end
