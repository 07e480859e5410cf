-- A page of the unfinished jobs that were born from objects.
-- keys: meta
-- args: cursor (0 to begin), page size
-- reads: objects; writes: none
-- answer: {next cursor (0: that was all), {id, origin, …}}; a job may come twice
-- cost: O(page)
open_pool()
return redis.call('HSCAN', key('objects'), ARGV[1], 'COUNT', ARGV[2])
