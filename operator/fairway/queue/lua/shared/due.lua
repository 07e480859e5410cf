-- What comes due by itself: leases that ran out, backoffs that are over, leftovers. Each step is bounded; lease
-- does a little of it on every call, so that it goes on without an operator.

local WORKER_GONE_AFTER = 60000000
local LOST = 'the worker was lost: its lease ran out'

-- A lost worker does not count against the job, unless too many were lost with it. It is charged up to the
-- last sign of life.
local function expire_one(id)
  local job = load_job(id)
  if not job or not job.lease then
    redis.call('ZREM', key('leases'), id)
    return
  end
  local tenant = load_tenant(job.tenant)
  end_attempt(job, tenant, num(job.beat) - num(job.leased), 'CRASH', LOST)
  local lost = num(job.crash) + 1
  if job.cancel then
    finish_cancelled(job)
  elseif lost >= pool.max_workers_lost then
    bury(job, 'CRASH', LOST, int(lost) .. ' workers were lost while running it')
  else
    enqueue(job, true)
    emit('retry', id, job.tenant, 'Queued', 'class', 'CRASH', 'error', LOST, 'attempt', job.number)
  end
  save_tenant(tenant)
  offer(tenant)
end

local function promote_one(id)
  local job = load_job(id)
  redis.call('ZREM', key('delayed'), id)
  if not job then
    return
  end
  enqueue(job, false)
  emit('promote', id, job.tenant, 'Queued')
  local tenant = load_tenant(job.tenant)
  save_tenant(tenant)
  offer(tenant)
end

local function collect_one(id)
  redis.call('ZREM', key('dead'), id)
  redis.call('DEL', key('job:' .. id))
end

-- Applies `step` to what is due in a sorted set of times, at most `limit`; answers how many.
local function each_due(set, until_time, limit, step)
  local due = redis.call('ZRANGEBYSCORE', key(set), '-inf', int(until_time), 'LIMIT', 0, limit)
  for _, member in ipairs(due) do
    step(member)
  end
  return #due
end

-- Answers how many leases expired, jobs were promoted, and leftovers collected. Cost: O(limit · log n).
local function sweep_due(limit)
  local expired = each_due('leases', pool.now, limit, expire_one)
  local promoted = each_due('delayed', pool.now, limit, promote_one)
  local collected = each_due('dead', pool.now, limit, collect_one)
  local gone = pool.now - math.max(WORKER_GONE_AFTER, 3 * pool.lease)
  collected = collected + each_due('workers', gone, limit, drop_worker)
  return expired, promoted, collected
end

-- In how many ms the next lease runs out or backoff is over; -1: nothing will.
local function next_due_ms()
  local due = -1
  for _, set in ipairs({'leases', 'delayed'}) do
    local first = redis.call('ZRANGE', key(set), 0, 0, 'WITHSCORES')
    if first[1] then
      local after = math.max(0, math.ceil((num(first[2]) - pool.now) / 1000))
      due = due < 0 and after or math.min(due, after)
    end
  end
  return int(due)
end
