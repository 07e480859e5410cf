-- One bounded pass of what comes due by itself: leases that ran out, backoffs that are over, dead letters past
-- their retention, workers not heard of.
-- keys: meta
-- args: none
-- reads and writes: leases, delayed, dead, workers, and what the jobs in them touch
-- answer: {expired, promoted, collected, more 0|1}
-- cost: O(SWEEP_LIMIT · log n)
local SWEEP_LIMIT = 200
open_pool()
local expired, promoted, collected = sweep_due(SWEEP_LIMIT)
local more = math.max(expired, promoted, collected) >= SWEEP_LIMIT and 1 or 0
return {expired, promoted, collected, more}
