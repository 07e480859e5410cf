-- Everything of some jobs but their bodies.
-- keys: meta
-- args: job ids, at most a hundred at a time
-- reads: job:<id>, queue:<t>; writes: none
-- answer: for each id names and values, with `position` in the tenant's queue (from 1); empty when unknown
-- cost: O(ids · log waiting jobs)
local INSPECT_FIELDS = {'tenant', 'account', 'type', 'state', 'log', 'lease', 'leased', 'worker', 'node', 'number',
  'result', 'created', 'started', 'finished', 'slot', 'progress', 'message', 'origin', 'cancel', 'reason', 'due'}
open_pool()
local jobs = {}
for i, id in ipairs(ARGV) do
  local read = redis.call('HMGET', key('job:' .. id), unpack(INSPECT_FIELDS))
  local job = {}
  if read[1] then
    for j, field in ipairs(INSPECT_FIELDS) do
      if read[j] then
        job[#job + 1] = field
        job[#job + 1] = read[j]
      end
    end
    local rank = redis.call('ZRANK', key('queue:' .. read[1]), id)
    if rank then
      job[#job + 1] = 'position'
      job[#job + 1] = int(rank + 1)
    end
  end
  jobs[i] = job
end
return jobs
