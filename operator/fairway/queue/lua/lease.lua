-- Gives a worker up to `slots` jobs: of the eligible tenants the one with the smallest counter, of its jobs the
-- one with the smallest order key, as often as there are slots.
-- keys: meta
-- args: worker, node, slots, token (random; lease ids are made of it, and a repeated call is known by it)
-- reads: turns, heads, queue:<t>, job:<id>; writes: those, tenant:<t>, ready, leases, workers, worker:<w>, idle,
--        inbox:<w>, events, meta; and what a small sweep writes
-- answer: {jobs, each as names and values, ms until something comes due (-1: nothing), lease ms, max workers lost}
-- cost: O(slots · (log tenants + log waiting jobs)), and a sweep of SWEEP_LIMIT
local SWEEP_LIMIT = 20
local LEASE_FIELDS = {'tenant', 'account', 'type', 'body', 'lease', 'number', 'timeout', 'retry', 'leased',
  'created', 'app', 'crash', 'timeouts', 'resource', 'dependency'}

local function as_answer(id)
  local read = redis.call('HMGET', key('job:' .. id), unpack(LEASE_FIELDS))
  local answer = {'id', id}
  for i, field in ipairs(LEASE_FIELDS) do
    if read[i] then
      answer[#answer + 1] = field
      answer[#answer + 1] = read[i]
    end
  end
  return answer
end

local function next_tenant()
  local index = pool.fifo and 'heads' or 'turns'
  local first = redis.call('ZRANGE', key(index), 0, 0)[1]
  return first and load_tenant(pool.fifo and first or tenant_of(first))
end

-- Virtual time follows the smallest counter, before its charge; in fifo nobody is charged for the order.
local function charge_estimate(tenant, estimate)
  if pool.fifo then
    charge(tenant, estimate, 0)
    return 0
  end
  if tenant.c > pool.v then
    pool.v = tenant.c
    redis.call('HSET', META, 'v', int(pool.v))
  end
  charge(tenant, estimate, tenant.weight)
  return tenant.weight
end

local function dispatch(tenant, worker, node, lease)
  local id = redis.call('ZPOPMIN', key('queue:' .. tenant.name))[1]
  redis.call('ZREM', key('ready'), id)
  local job = load_job(id)
  local weight = charge_estimate(tenant, num(job.estimate))
  local number = num(job.number) + 1
  local now = int(pool.now)
  redis.call('HSET', key('job:' .. id), 'state', 'Running', 'number', number, 'lease', lease, 'worker', worker,
    'node', node, 'leased', now, 'beat', now, 'charged', int(num(job.estimate)), 'weight', weight)
  if not job.started then
    redis.call('HSET', key('job:' .. id), 'started', now)
  end
  redis.call('ZADD', key('leases'), int(pool.now + pool.lease), id)
  tenant.running = tenant.running + 1
  save_tenant(tenant)
  emit('lease', id, tenant.name, 'Running', 'worker', worker, 'node', node, 'attempt', number)
  return id
end

local function take(worker, node, slots, token)
  local taken = {}
  while #taken < slots and not pool.suspended do
    local tenant = next_tenant()
    if not tenant then
      break
    end
    taken[#taken + 1] = dispatch(tenant, worker, node, token .. '-' .. (#taken + 1))
  end
  return taken
end

-- What the same call took, as far as it is still held by it.
local function taken_before(worker, token)
  local last = redis.call('HMGET', key('worker:' .. worker), 'token', 'taken')
  if last[1] ~= token then
    return nil
  end
  local held = {}
  for i, id in ipairs(cjson.decode(last[2])) do
    if redis.call('HGET', key('job:' .. id), 'lease') == token .. '-' .. i then
      held[#held + 1] = id
    end
  end
  return held
end

open_pool()
local worker, node, slots, token = ARGV[1], ARGV[2], num(ARGV[3]), ARGV[4]
-- 1. A call whose answer was lost gets the same answer.
local taken = taken_before(worker, token)
if not taken then
  -- 2. Work off a little of what came due.
  sweep_due(SWEEP_LIMIT)
  -- 3. Take.
  taken = take(worker, node, slots, token)
  touch_worker(worker, node)
  local busy = redis.call('HINCRBY', key('worker:' .. worker), 'busy', #taken)
  redis.call('HSET', key('worker:' .. worker), 'slots', busy - #taken + slots, 'token', token,
    'taken', #taken > 0 and cjson.encode(taken) or '[]')
end
-- 4. With nothing to do it idles; with work left over somebody else is woken.
if #taken == 0 and slots > 0 then
  redis.call('ZADD', key('idle'), int(pool.now), worker)
else
  redis.call('ZREM', key('idle'), worker)
  if not pool.suspended and redis.call('ZCARD', key('turns')) > 0 then
    wake()
  end
end
local jobs = {}
for i, id in ipairs(taken) do
  jobs[i] = as_answer(id)
end
return {jobs, next_due_ms(), ms(pool.lease), int(pool.max_workers_lost)}
