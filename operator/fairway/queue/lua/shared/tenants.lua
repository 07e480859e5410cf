-- Tenants: their ledger, and the two indexes that tell whose turn it is.
--
-- `tenant:<name>` (hash): weight, suspended, cap, running; c (the counter that orders tenants: charges divided
-- by weight, `rem` carries the remainder), u (all charges, open estimates included), used (ended attempts
-- only), member (its entry in `turns`, empty when it is not eligible).
-- `queue:<name>` (sorted set): its ready jobs by order key.
-- `turns` (sorted set): eligible tenants by c. An entry starts with its head's order key, so that ties go by
-- arrival and never by name. `heads` (sorted set): the same tenants by that key alone, for fifo.

local ORDER_DIGITS = 16

local function load_tenant(name)
  local read = redis.call('HMGET', key('tenant:' .. name),
    'weight', 'suspended', 'cap', 'running', 'c', 'rem', 'u', 'used', 'member')
  if not read[1] then
    return nil
  end
  return {
    name = name, weight = num(read[1]), suspended = read[2] == '1', cap = tonumber(read[3]),
    running = num(read[4]), c = num(read[5]), rem = num(read[6]), u = num(read[7]), used = num(read[8]),
    member = read[9] or '',
  }
end

-- Charges slot-time, or gives it back when negative, at the weight the lease was made with. Weight 0 is a
-- lease of a fifo pool: it is in the ledger but moves nobody in the order.
local function charge(tenant, us, weight)
  tenant.u = tenant.u + us
  if weight == tenant.weight then
    local sum = tenant.rem + us
    local whole = math.floor(sum / weight)
    tenant.rem = sum - whole * weight
    tenant.c = tenant.c + whole
  elseif weight > 0 then
    tenant.c = tenant.c + math.floor(us / weight)
  end
end

local function member_of(tenant, order)
  return string.format('%0' .. ORDER_DIGITS .. '.0f', order) .. ':' .. tenant.name
end

local function tenant_of(member)
  return string.sub(member, ORDER_DIGITS + 2)
end

-- Writes a tenant back, in or out of the indexes as it is eligible now. One that enters is lifted to the
-- pool's virtual time: it brings no credit from the time it did not wait. Answers whether it entered.
-- Cost: O(log tenants).
local function save_tenant(tenant)
  local head = redis.call('ZRANGE', key('queue:' .. tenant.name), 0, 0, 'WITHSCORES')
  local eligible = head[1] and not tenant.suspended and (not tenant.cap or tenant.running < tenant.cap)
  local before, entered = tenant.member, false
  if eligible then
    tenant.member = member_of(tenant, num(head[2]))
    if before == '' then
      entered = true
      if tenant.c < pool.v then
        tenant.c, tenant.rem = pool.v, 0
      end
    end
    redis.call('ZADD', key('turns'), int(tenant.c), tenant.member)
    redis.call('ZADD', key('heads'), head[2], tenant.name)
  else
    tenant.member = ''
    redis.call('ZREM', key('heads'), tenant.name)
  end
  if before ~= '' and before ~= tenant.member then
    redis.call('ZREM', key('turns'), before)
  end
  redis.call('HSET', key('tenant:' .. tenant.name), 'running', tenant.running, 'c', int(tenant.c),
    'rem', int(tenant.rem), 'u', int(tenant.u), 'used', int(tenant.used), 'member', tenant.member)
  return entered
end
