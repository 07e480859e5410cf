-- Records how far a running job is. The event comes at most once a second for a job: readers want the latest.
-- keys: meta
-- args: id, lease, fraction, message
-- reads: job:<id>; writes: job:<id>, events
-- answer: 1; 0: the lease is not the current one, nothing changed
-- cost: O(1)
local EVENT_EVERY = 1000000
open_pool()
local id, lease, fraction, message = unpack(ARGV)
local read = redis.call('HMGET', key('job:' .. id), 'lease', 'tenant', 'told')
if read[1] ~= lease then
  return 0
end
redis.call('HSET', key('job:' .. id), 'progress', fraction, 'message', message)
if pool.now - num(read[3]) >= EVENT_EVERY then
  redis.call('HSET', key('job:' .. id), 'told', int(pool.now))
  emit('progress', id, read[2], 'Running', 'progress', fraction, 'message', message)
end
return 1
