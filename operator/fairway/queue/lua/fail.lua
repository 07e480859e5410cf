-- Ends an attempt badly, and does what was decided by policy: another attempt later, or the dead letters. A job
-- that was asked to cancel ends as cancelled, whatever was decided.
-- keys: meta
-- args: id, lease, class, error, error for the event, ran µs, retry|bury, delay ms, reason
-- reads: job:<id>; writes: job:<id>, leases, delayed, dead, queue:<t>, ready, tenant:<t>, turns, heads,
--        worker:<w>, objects, events, idle, inbox:<w>
-- answer: {lost|retry|buried|cancelled, time of the next attempt ms (0: none), reason}
-- cost: O(log n)
local function retry(job, class, err, delay)
  local due = pool.now + delay * 1000
  local phase = 'Queued'
  if delay > 0 then
    phase = 'Scheduled'
    redis.call('ZADD', key('delayed'), int(due), job.id)
    redis.call('HSET', key('job:' .. job.id), 'state', phase, 'due', int(due))
  else
    enqueue(job, false)
  end
  emit('retry', job.id, job.tenant, phase, 'class', class, 'error', err, 'attempt', job.number, 'due', ms(due))
  return {'retry', ms(due), ''}
end

open_pool()
local id, lease, class, err, event_err, ran, verdict, delay, reason = unpack(ARGV)
local job, before = fenced(id, lease, 'fail')
if not job then
  return before and cjson.decode(before) or {'lost', '0', ''}
end
local tenant = load_tenant(job.tenant)
end_attempt(job, tenant, num(ran), class, err)
local answer
if job.cancel then
  finish_cancelled(job)
  answer = {'cancelled', '0', ''}
elseif verdict == 'bury' then
  bury(job, class, event_err, reason)
  answer = {'buried', '0', reason}
else
  answer = retry(job, class, event_err, num(delay))
end
save_tenant(tenant)
offer(tenant)
remember(job, lease, 'fail', cjson.encode(answer))
return answer
