-- Puts a job into its tenant's queue, once: a known id changes nothing.
-- keys: meta
-- args: id, tenant, account, type, body, estimate µs, timeout ms, retry rules (JSON), origin ('' for none)
-- reads: tenant:<t>; writes: job:<id>, queue:<t>, ready, tenant:<t>, turns, heads, objects, events, idle,
--        inbox:<worker>
-- answer: {phase, position in the tenant's queue from 1 (0: not in it), duplicate 0|1}; refuses UNKNOWN_TENANT
-- cost: O(log tenants + log waiting jobs)
open_pool()
local id, tenant_name, account, type_name, body, estimate, timeout, retry, origin = unpack(ARGV)
local known = redis.call('HMGET', key('job:' .. id), 'state', 'tenant')
if known[1] then
  local rank = redis.call('ZRANK', key('queue:' .. known[2]), id)
  return {known[1], rank and int(rank + 1) or '0', '1'}
end
local tenant = load_tenant(tenant_name)
if not tenant then
  refuse('UNKNOWN_TENANT', 'tenant ' .. tenant_name .. ' is not known to this pool')
end
local arrival = redis.call('HINCRBY', META, 'arrival', 1)
redis.call('HSET', key('job:' .. id), 'tenant', tenant_name, 'account', account, 'type', type_name, 'body', body,
  'estimate', estimate, 'timeout', timeout, 'retry', retry, 'origin', origin, 'arrival', int(arrival),
  'created', int(pool.now))
if origin ~= '' then
  redis.call('HSET', key('objects'), id, origin)
end
enqueue({id = id, tenant = tenant_name, arrival = arrival}, false)
emit('submit', id, tenant_name, 'Queued', 'account', account, 'type', type_name, 'origin', origin)
save_tenant(tenant)
offer(tenant)
local rank = redis.call('ZRANK', key('queue:' .. tenant_name), id)
return {'Queued', int(rank + 1), '0'}
