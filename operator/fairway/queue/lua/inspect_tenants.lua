-- A page of a pool's tenants.
-- keys: meta
-- args: cursor (0 to begin), page size
-- reads: tenants, tenant:<t>, queue:<t>; writes: none
-- answer: {next cursor (0: that was all), {{name, weight, queued, running, used µs}…}}; a tenant may come twice
-- cost: O(page)
open_pool()
local scanned = redis.call('SSCAN', key('tenants'), ARGV[1], 'COUNT', ARGV[2])
local tenants = {}
for i, name in ipairs(scanned[2]) do
  local tenant = load_tenant(name)
  local queued = redis.call('ZCARD', key('queue:' .. name))
  tenants[i] = {name, int(tenant.weight), int(queued), int(tenant.running), int(tenant.used)}
end
return {scanned[1], tenants}
