-- A worker's answer to a cancel: it has stopped the job.
-- keys: meta
-- args: id, lease, ran µs
-- reads: job:<id>; writes: job:<id>, leases, tenant:<t>, turns, heads, worker:<w>, objects, events, idle,
--        inbox:<w>
-- answer: 1; 0: the lease is not the current one, nothing changed
-- cost: O(log n)
open_pool()
local id, lease, ran = ARGV[1], ARGV[2], num(ARGV[3])
local job, before = fenced(id, lease, 'cancelled')
if not job then
  return num(before)
end
local tenant = load_tenant(job.tenant)
end_attempt(job, tenant, ran, 'CANCELLED', '')
finish_cancelled(job)
if save_tenant(tenant) then
  offer(tenant)
end
remember(job, lease, 'cancelled', '1')
return 1
