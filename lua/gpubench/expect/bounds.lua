-- Claims on the size of a figure: at_least, at_most, ratio, equal, agree.
local doubts = require "gpubench.expect.doubts"
local estimate = require "gpubench.expect.estimate"
local groups = require "gpubench.expect.groups"
local ratio = require "gpubench.expect.ratio"

local bounds = {}

-- Where an interval lies in regard to the bounds: verdict and, where one is in doubt or broken, that bound.
local function compare(figure, at_least, at_most)
  if at_least and figure.high < at_least then return "refuted", at_least end
  if at_most and figure.low > at_most then return "refuted", at_most end
  if at_least and figure.low < at_least then return "inconclusive", at_least end
  if at_most and figure.high > at_most then return "inconclusive", at_most end
  return "confirmed"
end

local severity = { confirmed = 1, inconclusive = 2, refuted = 3 }

-- Every row of the group is held against the bounds; the worst one decides.
function bounds.judge(claim, rows, axes)
  return groups.judge(claim, rows, axes, function(items)
    local worst, reason, figure
    for _, item in ipairs(items) do
      local verdict, bound = compare(item.y, claim.at_least, claim.at_most)
      if not worst or severity[verdict] > severity[worst] then
        worst, figure = verdict, item.y
        reason = claim.y .. " is " .. estimate.show_interval(claim.y, item.y)
        if bound then reason = reason .. ", the bound " .. estimate.show(claim.y, bound) end
      end
    end
    return worst, doubts.reason(worst, "bound", reason), { of = figure }
  end)
end

function bounds.judge_ratio(claim, rows, axes)
  return groups.judge(claim, rows, axes, function(items)
    local figure, of, over = ratio.of(claim, items)
    if not figure then return of, over end
    local verdict = compare(figure, claim.at_least, claim.at_most)
    return verdict, doubts.reason(verdict, "bound", "the ratio is " .. estimate.show_interval("ratio", figure)),
      ratio.finding(over, of)
  end)
end

-- Of a time as of a rate: how many times as fast it is.
function bounds.judge_faster(claim, rows, axes)
  return groups.judge(claim, rows, axes, function(items)
    local figure, of, over = ratio.of(claim, items)
    if not figure then return of, over end
    if claim.better == "lower" then
      if of.y.low <= 0 then return "inconclusive", claim.y .. " is not above zero at " .. ratio.describe(claim.of) end
      figure = estimate.ratio(over.y, of.y)
    end
    local finding = ratio.finding(over, of)
    finding.times = figure
    return (compare(figure, claim.at_least)),
      "it is " .. estimate.show_interval("ratio", figure) .. " times as fast", finding
  end)
end

-- The values of x, for a figure that is the same at all of them.
local function enumerated(items)
  local values = {}
  for index, item in ipairs(items) do values[index] = tostring(item.x) end
  return table.concat(values, ", ", 1, #values - 1) .. " and " .. values[#values]
end

-- Along x all figures agree within the tolerance (a share of the smallest).
function bounds.judge_equal(claim, rows, axes)
  return groups.judge(claim, rows, axes, function(items)
    if #items < 2 then return "not measurable here", "fewer than two values of " .. claim.x end
    local least, most = items[1], items[1]
    for _, item in ipairs(items) do
      if item.y.value < least.y.value then least = item end
      if item.y.value > most.y.value then most = item end
    end
    local allowed = claim.tolerance * estimate.size(least.y)
    local reason = string.format("%s at %s %s", estimate.show_interval(claim.y, least.y), claim.x,
      least == most and enumerated(items) or least.x)
    if least ~= most then
      reason = string.format("%s, %s at %s", reason, estimate.show_interval(claim.y, most.y), most.x)
    end
    local apart = estimate.difference(most.y, least.y)
    if apart.high <= allowed then return "confirmed", reason, { of = least.y } end
    if apart.low > allowed then return "refuted", reason end
    return "inconclusive", doubts.of("bound", reason), { of = least.y }
  end)
end

-- In every row both figures agree within the tolerance (a share of the second).
function bounds.judge_agree(claim, rows, axes)
  return groups.judge(claim, rows, axes, function(items)
    local worst, reason
    for _, item in ipairs(items) do
      local other = estimate.of(item.row, claim.with)
      if not other then return "inconclusive", doubts.of("no_figure", "a row has no " .. claim.with) end
      local allowed = claim.tolerance * estimate.size(other)
      local verdict = compare(estimate.difference(item.y, other), -allowed, allowed)
      if not worst or severity[verdict] > severity[worst] then
        worst = verdict
        reason = string.format("%s is %s, %s is %s", claim.y, estimate.show_interval(claim.y, item.y), claim.with,
          estimate.show_interval(claim.with, other))
      end
    end
    return worst, doubts.reason(worst, "bound", reason)
  end)
end

return bounds
