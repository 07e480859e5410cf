-- Makes a tenant known to a pool, or changes its weight, suspension or cap.
-- keys: meta
-- args: tenant, weight, suspended 0|1, cap on jobs in flight ('' for none)
-- reads: tenant:<name>, queue:<name>; writes: tenants, tenant:<name>, turns, heads, idle, inbox:<worker>
-- answer: 1
-- cost: O(log tenants)
open_pool()
local name, weight, suspended, cap = unpack(ARGV)
local before = load_tenant(name)
redis.call('SADD', key('tenants'), name)
redis.call('HSET', key('tenant:' .. name), 'weight', weight, 'suspended', suspended, 'cap', cap)
local tenant = load_tenant(name)
if before and before.weight ~= tenant.weight then
  tenant.rem = 0  -- less than a microsecond of the counter, in parts of the old weight
end
if save_tenant(tenant) then
  offer(tenant)
end
return 1
