-- A claim that one value of an axis comes close to the best of all others. It is held against each of them rather than
-- against the one that looks best: the best of several figures is partly the luckiest.
local doubts = require "gpubench.expect.doubts"
local estimate = require "gpubench.expect.estimate"
local groups = require "gpubench.expect.groups"

local best = {}

-- How good `one` is as a share of `other`.
local function share_of(claim, one, other)
  if claim.better == "higher" then return estimate.ratio(one, other) end
  return estimate.ratio(other, one)
end

local function make_judge(claim)
  local least = 1 - claim.tolerance
  return function(items)
    local chosen
    for _, item in ipairs(items) do
      if item.x == claim.value then chosen = item end
    end
    if not chosen then return "not measurable here", string.format("no %s at %s %s", claim.y, claim.x, claim.value) end
    if #items < 2 then return "not measurable here", "no other value of " .. claim.x end
    local verdict, worst, share = "confirmed", nil, nil
    for _, item in ipairs(items) do
      if item.y.low <= 0 then
        return "inconclusive",
          doubts.of("no_figure", string.format("%s is not above zero at %s %s", claim.y, claim.x, item.x))
      end
      if item ~= chosen then
        local one = share_of(claim, chosen.y, item.y)
        if one.high < least then
          verdict = "refuted"
        elseif one.low < least and verdict == "confirmed" then
          verdict = "inconclusive"
        end
        if not share or one.value < share.value then worst, share = item, one end
      end
    end
    local reason = string.format("%s at %s %s, %s at %s: %s of it", estimate.show_interval(claim.y, chosen.y), claim.x,
      chosen.x, estimate.show_interval(claim.y, worst.y), worst.x, estimate.show_interval("share", share))
    return verdict, doubts.reason(verdict, "bound", reason),
      { x = chosen.x, first = worst.x, of = chosen.y, over = worst.y, share = share }
  end
end

function best.judge(claim, rows, axes)
  return groups.judge(claim, rows, axes, make_judge(claim))
end

return best
