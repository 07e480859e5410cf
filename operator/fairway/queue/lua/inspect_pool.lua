-- A pool's counts and workers.
-- keys: meta
-- args: none
-- reads: ready, delayed, leases, dead, workers, worker:<w>; writes: none
-- answer: {{queued, delayed, running, dead lettered, age of the oldest ready job ms},
--          {{name, node, slots, busy}…}}
-- cost: O(workers), whatever the number of jobs
open_pool()
local oldest = redis.call('ZRANGE', key('ready'), 0, 0, 'WITHSCORES')
local age = oldest[1] and ms(pool.now - num(oldest[2])) or '0'
local counts = {}
for i, set in ipairs({'ready', 'delayed', 'leases', 'dead'}) do
  counts[i] = int(redis.call('ZCARD', key(set)))
end
counts[5] = age
local workers = {}
for i, name in ipairs(redis.call('ZRANGE', key('workers'), 0, -1)) do
  local read = redis.call('HMGET', key('worker:' .. name), 'node', 'slots', 'busy')
  workers[i] = {name, read[1] or '', read[2] or '0', read[3] or '0'}
end
return {counts, workers}
