-- Claims that `--set` made meaningless: about values that are not measured, or about a course of too few. They are left
-- out, and the first and the last value that are measured are compared instead.
local check = require "gpubench.check"
local claim = require "gpubench.expect.claim"
local doubts = require "gpubench.expect.doubts"
local estimate = require "gpubench.expect.estimate"
local groups = require "gpubench.expect.groups"
local ratio = require "gpubench.expect.ratio"
local gb = require "gpubench.native"
local native = gb._native

local left_out = {}

-- The least values of x with which a claim of the kind can be judged.
local least_values = { knee = 3, increasing = 2, decreasing = 2, crossover = 2, equal = 2, best = 2 }

local function has_value(axis, value)
  for _, one in ipairs(axis.values) do
    if one == value then return true end
  end
  return false
end

local function values_in_range(one, axis)
  local count = 0
  for _, value in ipairs(axis.values) do
    local is_number = type(value) == "number"
    local is_out = is_number and (one.from and value < one.from or one.to and value > one.to)
    count = count + (is_out and 0 or 1)
  end
  return count
end

-- Whether the claim can be judged on the values that the axis has now.
local function fits(one, axis)
  for _, name in ipairs(one.axes or {}) do
    if name == axis.name then return false end
  end
  for _, option in ipairs { "where", "of", "over" } do
    local wanted = one[option] and one[option][axis.name]
    if wanted ~= nil and not has_value(axis, wanted) then return false end
  end
  if one.x ~= axis.name then return true end
  if one.kind == "best" and not has_value(axis, one.value) then return false end
  return values_in_range(one, axis) >= (least_values[one.kind] or 1)
end

local function is_known(figure)
  local noise = estimate.noise
  return figure.low > 1 or figure.high < 1 or figure.low >= 1 - noise and figure.high <= 1 + noise
end

local function judge(one, rows, axes)
  return groups.judge(one, rows, axes, function(items)
    local figure, of, over = ratio.of(one, items)
    if not figure then return of, over end
    local verdict = is_known(figure) and "confirmed" or "inconclusive"
    return verdict, doubts.reason(verdict, "overlap", "the ratio is " .. estimate.show_interval("ratio", figure)),
      ratio.finding(over, of)
  end)
end

-- The figure y with the axis' last value against that with its first.
local function comparison(y, axis)
  local of, over = { [axis.name] = axis.values[#axis.values] }, { [axis.name] = axis.values[1] }
  local heading = native.results.heading
  local of_text, over_text = ratio.in_words(of), ratio.in_words(over)
  return claim.new {
    kind = "compared", judge = judge, y = y, of = of, over = over, of_text = of_text, over_text = over_text,
    text = string.format("%s of %s compared with that of %s", y, ratio.describe(of), ratio.describe(over)),
    words = string.format("%s with %s compared with that with %s", heading(y), of_text, over_text),
    answer = string.format("%s with %s is {times} that with %s", heading(y), of_text, over_text),
  }
end

-- overrides: axis name -> texts, of --set. Returns the claims that are judged, and a sentence about those that are left
-- out; the list as it is, and nil, where all fit.
function left_out.split(claims, axes, overrides)
  local kept, figures, axes_of, count = {}, {}, {}, 0
  for _, one in ipairs(claims) do
    local unfit
    for _, axis in ipairs(axes) do
      if overrides[axis.name] and not fits(one, axis) then unfit = unfit or axis end
    end
    if unfit then
      count = count + 1
      axes_of[unfit.name] = unfit
      if one.y then figures[unfit.name .. "\0" .. one.y] = { y = one.y, axis = unfit } end
    else
      kept[#kept + 1] = one
    end
  end
  if count == 0 then return claims, nil end
  for _, key in ipairs(check.sorted_keys(figures)) do
    local one = figures[key]
    if #one.axis.values > 1 then kept[#kept + 1] = comparison(one.y, one.axis) end
  end
  return kept,
    string.format("%s %s about other values of %s than --set gives, and left out", gb.format.count(count, "claim"),
    count == 1 and "is" or "are", table.concat(check.sorted_keys(axes_of), " and "))
end

return left_out
