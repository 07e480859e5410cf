-- Ends a job well. One that was asked to cancel but got done first is done.
-- keys: meta
-- args: id, lease, ran µs, has result 0|1, result
-- reads: job:<id>; writes: job:<id>, leases, tenant:<t>, turns, heads, worker:<w>, objects, events, idle,
--        inbox:<w>
-- answer: 1; 0: the lease is not the current one, nothing changed
-- cost: O(log n)
open_pool()
local id, lease, ran, has_result, result = ARGV[1], ARGV[2], num(ARGV[3]), ARGV[4] == '1', ARGV[5]
local job, before = fenced(id, lease, 'complete')
if not job then
  return num(before)
end
local tenant = load_tenant(job.tenant)
end_attempt(job, tenant, ran, 'OK', '')
if has_result then
  redis.call('HSET', key('job:' .. id), 'result', result)
end
finish(job, 'Succeeded')
emit('complete', id, job.tenant, 'Succeeded', 'worker', job.worker, 'attempt', job.number)
if save_tenant(tenant) then
  offer(tenant)
end
remember(job, lease, 'complete', '1')
return 1
