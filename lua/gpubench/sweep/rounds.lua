-- Measures the points that claims compare side by side. Each round calls `run` once for every point of a group, in
-- order and then in reverse, so that a drift of the machine meets all points alike. The points' budget is shared by the
-- rounds.
local gb = require "gpubench.native"
local processes = require "gpubench.sweep.processes"
local native = gb._native
local options = native.options

local rounds = {}

-- With twelve rounds the interval leaves out the two smallest and the two largest: two disturbed ones widen nothing.
rounds.most = 12
-- A point's rounds may take this many times its budget, most of which are set-up and warm-up. The least number of
-- rounds may take so long with the smallest budget too: a row without them decides nothing.
local times_budget, least_limit_s = 25, 20
-- Of measuring in one round: less is dominated by the first steps.
local least_budget_s = 0.05

function rounds.budget_s(count)
  return math.max(options.budget_s / count, math.min(least_budget_s, options.budget_s))
end

-- How long a point may take in all, in seconds.
function rounds.limit_s()
  return math.min(math.max(times_budget * options.budget_s, least_limit_s), options.timeout_s or math.huge)
end

-- How many rounds of a call that takes so long fit; 1 where fewer than the least do.
function rounds.fitting(seconds)
  local call_s, least = math.max(seconds, 1e-9), native.statistics.least_for_interval
  local fit = math.min(times_budget * options.budget_s, rounds.limit_s()) // call_s
  if fit < least then fit = call_s * least <= rounds.limit_s() and least or 1 end
  return math.tointeger(math.min(fit, rounds.most))
end

-- What process 0 found, for all: a table of integers. Concluded like a point: a process that is ahead and fails in the
-- next point must not end what others still do here.
local function from_first(numbers)
  if processes.count == 1 then return numbers end
  return native.processes.conclude({ numbers = numbers })[1].numbers
end

local Group = {}
Group.__index = Group

-- points: numbers of points. fixed: how many rounds there are, whatever they take; nil: as many as fit. is_untimed: no
-- claim is about their times, and what is learned or counted does not wait for a calm machine. Of each point, `calm`
-- counts the rounds that nothing disturbed.
function rounds.group(points, fixed, is_untimed)
  local list = {}
  for index, number in ipairs(points) do list[index] = { number = number, calm = 0, seconds = 0 } end
  return setmetatable({ points = list, fixed = fixed, planned = fixed or rounds.most, round = 0,
    is_untimed = is_untimed }, Group)
end

local function is_open(point)
  return not point.failed and not point.too_long
end

-- The points of the next round, in its order.
function Group:next_round()
  self.round = self.round + 1
  local list = {}
  for _, point in ipairs(self.points) do
    if is_open(point) then table.insert(list, self.round % 2 == 1 and #list + 1 or 1, point) end
  end
  return list
end

-- After the first round: how many more fit. A point of which too few fit takes part in no claim about time.
function Group:plan()
  if self.fixed then return end
  local planned, too_long = rounds.most, {}
  for index, point in ipairs(self.points) do
    local fit = rounds.fitting(point.seconds)
    if is_open(point) and fit == 1 then
      too_long[#too_long + 1] = index
    elseif is_open(point) then
      planned = math.min(planned, fit)
    end
  end
  local agreed = from_first { planned, table.unpack(too_long) }
  self.planned = agreed[1]
  for k = 2, #agreed do
    local point = self.points[agreed[k]]
    local limit_s = rounds.limit_s()
    point.too_long = string.format("%s a call of run: %d rounds do not fit into %s (%s)",
      gb.format.seconds(point.seconds),
      native.statistics.least_for_interval, gb.format.seconds(limit_s),
        limit_s == options.timeout_s and "--timeout" or "--budget")
  end
end

local function lacks_rounds(point)
  return is_open(point) and point.calm < native.statistics.least_for_interval
end

-- Whether another round is worth its time. Disturbed ones are repeated when the machine is calm again, as many as were
-- planned at most; calm() waits for that.
function Group:has_next_round(calm)
  local open, lacking = false, false
  for _, point in ipairs(self.points) do
    open = open or is_open(point)
    lacking = lacking or lacks_rounds(point)
  end
  if not open then return false end
  if self.round < self.planned then return true end
  if self.planned == 1 or self.is_untimed or not lacking or self.round >= 2 * self.planned then return false end
  return from_first({ calm() and 1 or 0 })[1] == 1
end

return rounds
