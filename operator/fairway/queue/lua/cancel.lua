-- Cancels a job: a waiting one is gone at once, a running one is marked and its worker told. A lease that is
-- being made now is either before this (then it is running) or after (then the job is no longer there).
-- keys: meta
-- args: id, reason
-- reads: job:<id>; writes: job:<id>, queue:<t>, ready, delayed, tenant:<t>, turns, heads, objects, events,
--        inbox:<worker>
-- answer: cancelled, asked, finished or unknown
-- cost: O(log n)
local function ask(job, reason)
  if not job.cancel then
    redis.call('HSET', key('job:' .. job.id), 'cancel', int(pool.now), 'reason', reason)
    emit('cancel', job.id, job.tenant, 'Running', 'reason', reason, 'worker', job.worker)
  end
  tell(job.worker, 'cancel:' .. job.id)
  return 'asked'
end

open_pool()
local id, reason = ARGV[1], ARGV[2]
local job = load_job(id)
if not job then
  return 'unknown'
end
if job.lease then
  return ask(job, reason)
end
if job.state ~= 'Queued' and job.state ~= 'Scheduled' then
  return job.state == 'Cancelled' and 'cancelled' or 'finished'
end
redis.call('ZREM', key('queue:' .. job.tenant), id)
redis.call('ZREM', key('ready'), id)
redis.call('ZREM', key('delayed'), id)
job.reason = reason
redis.call('HSET', key('job:' .. id), 'cancel', int(pool.now), 'reason', reason)
finish_cancelled(job)
save_tenant(load_tenant(job.tenant))
return 'cancelled'
