-- Removes a pool and its jobs, a bounded part on each call. From the first call on the pool is unknown to every
-- other script. Finished jobs are not listed anywhere: they go when their time to live is over.
-- keys: meta
-- args: none
-- reads and writes: every key of the pool
-- answer: 1: call again; 0: it is gone; refuses UNKNOWN_POOL
-- cost: O(PAGE · log n)
local PAGE = 500

local function drop_jobs(set)
  local popped = redis.call('ZPOPMIN', key(set), PAGE)
  for i = 1, #popped, 2 do
    redis.call('DEL', key('job:' .. popped[i]))
  end
  return #popped > 0
end

local function drop_some_jobs()
  for _, set in ipairs({'ready', 'delayed', 'leases', 'dead'}) do
    if drop_jobs(set) then
      return true
    end
  end
  return false
end

local function drop_some_workers()
  local names = redis.call('ZRANGE', key('workers'), 0, PAGE - 1)
  for _, name in ipairs(names) do
    drop_worker(name)
  end
  return #names > 0
end

local function drop_some_tenants()
  local names = redis.call('SPOP', key('tenants'), PAGE)
  for _, name in ipairs(names) do
    redis.call('DEL', key('tenant:' .. name))
    redis.call('UNLINK', key('queue:' .. name))
  end
  return #names > 0
end

if redis.call('EXISTS', META) == 0 then
  refuse('UNKNOWN_POOL', NO_POOL)
end
redis.call('HSET', META, 'removing', '1')
if drop_some_jobs() or drop_some_workers() or drop_some_tenants() then
  return 1
end
redis.call('UNLINK', key('turns'), key('heads'), key('idle'), key('objects'), key('events'), META)
return 0
