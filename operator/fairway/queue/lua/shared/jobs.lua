-- Jobs: what is the same whichever verb ends an attempt, puts a job back, or finishes it.
--
-- `job:<id>` (hash): everything of one job. `ready` (sorted set): all ready jobs by the time they became so.
-- `delayed`: jobs that wait for their next attempt, by its time. `leases`: running jobs by the end of their
-- lease. `dead`: dead letters by the end of their retention. `objects` (hash): unfinished jobs born from
-- objects, with their origin.

local ATTEMPTS_KEPT = 50
local SHORTEST_TTL_MS = 1000  -- with 0 the job would be gone before its last fields are written
-- An order key is the job's arrival number, from here up; the same number without it is the front lane.
local BACK = 4503599627370496  -- 2^52
local COUNTERS = {APP = 'app', POISON = 'app', CRASH = 'crash', TIMEOUT = 'timeouts', RESOURCE = 'resource',
  DEPENDENCY = 'dependency'}
local JOB_FIELDS = {'tenant', 'state', 'number', 'arrival', 'estimate', 'lease', 'worker', 'node', 'leased',
  'charged', 'weight', 'beat', 'slot', 'log', 'cancel', 'reason', 'done', 'done_verb', 'done_answer', 'origin',
  'started', 'crash'}

local function load_job(id)
  local read = redis.call('HMGET', key('job:' .. id), unpack(JOB_FIELDS))
  if not read[1] then
    return nil
  end
  local job = {id = id}
  for i, field in ipairs(JOB_FIELDS) do
    job[field] = read[i]
  end
  return job
end

-- Answers the job if `lease` is its current lease. Else nil, and what the same call answered before if it was
-- this lease that ended the attempt: a call whose answer was lost may be repeated.
local function fenced(id, lease, verb)
  local job = load_job(id)
  if not job then
    return nil, nil
  end
  if job.lease == lease then
    return job, nil
  end
  if job.done == lease and job.done_verb == verb then
    return nil, job.done_answer
  end
  return nil, nil
end

local function remember(job, lease, verb, answer)
  redis.call('HSET', key('job:' .. job.id), 'done', lease, 'done_verb', verb, 'done_answer', answer)
end

local function logged(job, class, err)
  local record = cjson.encode({job.number, job.worker, job.node, ms(num(job.leased)), ms(pool.now), class, err})
  local log = job.log and (job.log .. '\n' .. record) or record
  if num(job.number) > ATTEMPTS_KEPT then
    log = string.sub(log, (string.find(log, '\n', 1, true) or 0) + 1)
  end
  return log
end

-- Ends a running attempt: settles its charge to what it really took, never more than Redis saw, and frees its
-- place. The tenant is not written back yet. Cost: O(log running jobs).
local function end_attempt(job, tenant, ran, class, err)
  local actual = math.max(0, math.min(ran, pool.now - num(job.leased)))
  charge(tenant, actual - num(job.charged), num(job.weight))
  tenant.used = tenant.used + actual
  tenant.running = tenant.running - 1
  redis.call('ZREM', key('leases'), job.id)
  add_busy(job.worker, -1)
  redis.call('HSET', key('job:' .. job.id), 'slot', int(num(job.slot) + actual), 'log', logged(job, class, err))
  redis.call('HDEL', key('job:' .. job.id), 'lease', 'leased', 'charged', 'weight', 'beat')
  if COUNTERS[class] then
    redis.call('HINCRBY', key('job:' .. job.id), COUNTERS[class], 1)
  end
end

-- Puts a job into its tenant's queue: in front of all that never ran, or where its arrival puts it. The caller
-- writes the tenant back. Cost: O(log waiting jobs).
local function enqueue(job, front)
  local order = num(job.arrival) + (front and 0 or BACK)
  redis.call('ZADD', key('queue:' .. job.tenant), int(order), job.id)
  redis.call('ZADD', key('ready'), int(pool.now), job.id)
  redis.call('HSET', key('job:' .. job.id), 'state', 'Queued')
  redis.call('HDEL', key('job:' .. job.id), 'progress', 'message', 'due')
end

-- The end of a job that is kept for its result only: its body is not needed again.
local function finish(job, phase)
  redis.call('HSET', key('job:' .. job.id), 'state', phase, 'finished', int(pool.now))
  redis.call('HDEL', key('job:' .. job.id), 'body', 'due')
  redis.call('PEXPIRE', key('job:' .. job.id), math.max(pool.result_ttl_ms, SHORTEST_TTL_MS))
  redis.call('HDEL', key('objects'), job.id)
end

local function finish_cancelled(job)
  finish(job, 'Cancelled')
  emit('cancel', job.id, job.tenant, 'Cancelled', 'reason', job.reason or '')
end

-- Puts a job with the dead letters; it keeps its body.
local function bury(job, class, err, reason)
  redis.call('HSET', key('job:' .. job.id), 'state', 'DeadLettered', 'finished', int(pool.now), 'reason', reason)
  redis.call('ZADD', key('dead'), int(pool.now + pool.dead_letter_ttl_ms * 1000), job.id)
  redis.call('HDEL', key('objects'), job.id)
  emit('bury', job.id, job.tenant, 'DeadLettered', 'class', class, 'error', err, 'reason', reason)
end
