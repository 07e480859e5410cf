-- Renews all leases of a worker, and tells what is asked of each job. A job past its estimate is charged for it
-- now, so that a tenant cannot run long on a short estimate.
-- keys: meta
-- args: worker, node, then job id and lease id of each job
-- reads: job:<id>; writes: job:<id>, leases, tenant:<t>, turns, workers, worker:<w>; and what a small sweep writes
-- answer: for each job in the order asked: continue, cancel or lost
-- cost: O(jobs · log n), and a sweep of SWEEP_LIMIT

local function charge_overrun(job)
  local over = pool.now - num(job.leased) - num(job.charged)
  if over <= 0 then
    return
  end
  local tenant = load_tenant(job.tenant)
  charge(tenant, over, num(job.weight))
  save_tenant(tenant)
  redis.call('HSET', key('job:' .. job.id), 'charged', int(num(job.charged) + over))
end

local function renew(id, lease)
  local job = load_job(id)
  if not job or job.lease ~= lease then
    return 'lost'
  end
  redis.call('ZADD', key('leases'), int(pool.now + pool.lease), id)
  redis.call('HSET', key('job:' .. id), 'beat', int(pool.now))
  charge_overrun(job)
  return job.cancel and 'cancel' or 'continue'
end

local SWEEP_LIMIT = 20
open_pool()
touch_worker(ARGV[1], ARGV[2])
local asks = {}
for i = 3, #ARGV, 2 do
  asks[#asks + 1] = renew(ARGV[i], ARGV[i + 1])
end
-- After the renewals: a late heartbeat still saves its leases.
sweep_due(SWEEP_LIMIT)
return asks
