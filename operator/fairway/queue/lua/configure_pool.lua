-- Makes a pool or changes its settings.
-- keys: meta (the one script for which it need not exist)
-- args: epoch (random; taken only by a new pool), lease µs, suspended 0|1, max workers lost, result ttl ms,
--       dead letter ttl ms, algorithm fair|fifo, events kept
-- reads: meta, turns; writes: meta, idle, inbox:<worker>
-- answer: 1; refuses POOL_BEING_REMOVED
-- cost: O(1). A change of algorithm is one too: both indexes are always kept.
if redis.call('HGET', META, 'removing') then
  refuse('POOL_BEING_REMOVED', 'the pool is being removed; end that first')
end
redis.call('HSETNX', META, 'epoch', ARGV[1])
redis.call('HSET', META, 'lease', ARGV[2], 'suspended', ARGV[3], 'max_workers_lost', ARGV[4],
  'result_ttl_ms', ARGV[5], 'dead_letter_ttl_ms', ARGV[6], 'algorithm', ARGV[7], 'events_kept', ARGV[8])
open_pool()
if not pool.suspended and redis.call('ZCARD', key('turns')) > 0 then
  wake()
end
return 1
