-- Claims on the course of a figure along an axis: increasing, decreasing, knee.
local doubts = require "gpubench.expect.doubts"
local estimate = require "gpubench.expect.estimate"
local groups = require "gpubench.expect.groups"
local ratio = require "gpubench.expect.ratio"

local order = {}

-- How much the figure rises from a to b; a falling claim is the rising claim about the negated figure.
local function rise(a, b, direction)
  return direction > 0 and estimate.difference(b.y, a.y) or estimate.difference(a.y, b.y)
end

-- What each value of x adds to the one before: { { x, times }, ... }; nil where a figure is not above zero.
local function steps_of(items)
  local steps = {}
  for index = 2, #items do
    local times = ratio.finding(items[index - 1], items[index]).times
    if not times then return nil end
    steps[index - 1] = { x = items[index].x, times = times }
  end
  return steps
end

local function step_text(claim, a, b)
  local figure = claim.of and "ratio" or claim.y
  return string.format("from %s to %s between %s %s and %s", estimate.show_interval(figure, a.y),
    estimate.show_interval(figure, b.y), claim.x, a.x, b.x)
end

-- The knee is the first item from which the figure reaches a share of its best, which no share of a negative figure is.
local function find_knee(items, share)
  local best = items[1]
  for _, item in ipairs(items) do
    if item.y.value > best.y.value then best = item end
  end
  for index, item in ipairs(items) do
    if item == best or item.y.value >= share * best.y.value then return index, best end
  end
end

local default_share = 0.9
order.default_share = default_share

local function course(claim, items)
  if claim.of then items = ratio.course(claim, items) end
  if claim.until_knee and #items > 0 then
    return table.move(items, 1, (find_knee(items, default_share)), 1, {})
  end
  return items
end

-- Without a tolerance every step must rise beyond the intervals. With one (a share), steps may stand still or fall by
-- as much, and the last figure must lie above the first.
local function monotonic(claim, direction)
  local rises, falls = "rises", "falls"
  if direction < 0 then rises, falls = falls, rises end
  return function(items)
    items = course(claim, items)
    if #items == 1 and claim.until_knee then
      return "inconclusive", doubts.of("last_value", "the knee is at the first " .. claim.x)
    end
    if #items < 2 then return "not measurable here", "fewer than two values of " .. claim.x end
    local finding = ratio.finding(items[1], items[#items])
    finding.steps = steps_of(items)
    local doubt
    for index = 2, #items do
      local a, b = items[index - 1], items[index]
      local risen = rise(a, b, direction)
      local allowed = estimate.size(a.y) * (claim.tolerance or 0)
      if risen.high < -allowed then return "refuted", falls .. " " .. step_text(claim, a, b), finding end
      if not claim.tolerance and risen.low <= 0 then
        doubt = doubt or "the intervals overlap " .. step_text(claim, a, b)
      end
    end
    local first, last = items[1], items[#items]
    local risen = rise(first, last, direction)
    if risen.high < 0 then return "refuted", falls .. " " .. step_text(claim, first, last), finding end
    if risen.low <= 0 then doubt = doubt or "the intervals overlap " .. step_text(claim, first, last) end
    if doubt then return "inconclusive", doubts.of("overlap", doubt), finding end
    return "confirmed", rises .. " " .. step_text(claim, first, last), finding
  end
end

function order.judge(direction)
  return function(claim, rows, axes) return groups.judge(claim, rows, axes, monotonic(claim, direction)) end
end

-- Whether the item's figure is surely at least the share of every other one.
local function is_surely(item, share, items)
  for _, other in ipairs(items) do
    if other ~= item and not (other.y.low > 0 and estimate.ratio(item.y, other.y).low >= share) then return false end
  end
  return true
end

-- A knee is known once x goes beyond it, and a figure before the last is surely as large as the share of the best.
local function knee(claim)
  return function(items)
    if #items < 3 then return "not measurable here", "fewer than three values of " .. claim.x end
    local index, best = find_knee(items, claim.share)
    local text = string.format("knee at %s %s with %s; best %s at %s", claim.x, items[index].x,
      estimate.show_interval(claim.y, items[index].y), estimate.show_interval(claim.y, best.y), best.x)
    local finding = index > 1 and ratio.finding(items[1], items[index]) or nil
    if index == #items then
      return "inconclusive", doubts.of("last_value", "still rising at the largest " .. claim.x .. ": " .. text), finding
    end
    for before = index, #items - 1 do
      if is_surely(items[before], claim.share, items) then
        return "confirmed", text, finding
      end
    end
    return "inconclusive", doubts.of("overlap", "the intervals overlap: " .. text), finding
  end
end

function order.judge_knee(claim, rows, axes)
  return groups.judge(claim, rows, axes, knee(claim))
end

return order
