-- Gives a job back unfinished, to the front of its tenant's queue, without counting the attempt. One that was
-- asked to cancel ends as cancelled instead.
-- keys: meta
-- args: id, lease, ran µs
-- reads: job:<id>; writes: job:<id>, leases, queue:<t>, ready, tenant:<t>, turns, heads, worker:<w>, objects,
--        events, idle, inbox:<w>
-- answer: 1; 0: the lease is not the current one, nothing changed
-- cost: O(log n)
open_pool()
local id, lease, ran = ARGV[1], ARGV[2], num(ARGV[3])
local job, before = fenced(id, lease, 'release')
if not job then
  return num(before)
end
local tenant = load_tenant(job.tenant)
end_attempt(job, tenant, ran, 'RELEASED', '')
if job.cancel then
  finish_cancelled(job)
else
  enqueue(job, true)
  emit('release', id, job.tenant, 'Queued', 'worker', job.worker, 'attempt', job.number)
end
save_tenant(tenant)
offer(tenant)
remember(job, lease, 'release', '1')
return 1
