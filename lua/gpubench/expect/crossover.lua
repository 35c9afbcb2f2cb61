-- A claim on where two courses cross: one figure is above the other at small x and below it at large x.
local doubts = require "gpubench.expect.doubts"
local estimate = require "gpubench.expect.estimate"
local groups = require "gpubench.expect.groups"
local ratio = require "gpubench.expect.ratio"

local crossover = {}

local function is_above(item) return item.y.low > 1 end
local function is_below(item) return item.y.high < 1 end

local function text_at(claim, item)
  return string.format("%s at %s %s", estimate.show_interval("ratio", item.y), claim.x, item.x)
end

-- The crossing lies between the last x that is surely above and the first that is surely below; what lies between is of
-- overlapping intervals.
local function make_judge(claim)
  return function(items)
    local course = ratio.course(claim, items)
    if #course == 0 then
      local _, verdict, reason = ratio.of(claim, items, items[1].x)
      return verdict, reason
    end
    if #course < 2 then return "not measurable here", "fewer than two values of " .. claim.x end
    local first, last = course[1], course[#course]
    local above, below
    for index, item in ipairs(course) do
      if is_above(item) then above = index end
      if is_below(item) then below = below or index end
    end
    if is_below(first) then
      return "refuted", string.format("below at the smallest %s already: ratio %s", claim.x, text_at(claim, first))
    end
    if above and below and above > below then
      return "refuted", string.format("crosses more than once: ratio %s, %s", text_at(claim, course[below]),
        text_at(claim, course[above]))
    end
    if not below then
      return "inconclusive", doubts.of("last_value",
        string.format("not below up to the largest %s: ratio %s", claim.x, text_at(claim, last)))
    end
    if not above then
      return "inconclusive", doubts.of("overlap", "the intervals overlap before: ratio " .. text_at(claim, first))
    end
    return "confirmed", string.format("between %s %s and %s: ratio %s, %s", claim.x, course[above].x, course[below].x,
      text_at(claim, course[above]), text_at(claim, course[below])), { first = course[above].x, x = course[below].x }
  end
end

function crossover.judge(claim, rows, axes)
  return groups.judge(claim, rows, axes, make_judge(claim))
end

return crossover
