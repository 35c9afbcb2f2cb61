-- The ratio of a figure in two rows of a group, by itself or along x.
local check = require "gpubench.check"
local doubts = require "gpubench.expect.doubts"
local estimate = require "gpubench.expect.estimate"
local figure_text = require "gpubench.expect.figure_text"
local groups = require "gpubench.expect.groups"

local ratio = {}

local function one_item(items, wanted, x)
  local match
  for _, item in ipairs(items) do
    if item.x == x and groups.matches(item.row, wanted) then
      if match then return nil, "several rows match" end
      match = item
    end
  end
  return match, not match and "no row matches" or nil
end

function ratio.describe(wanted)
  local parts = {}
  for name, value in pairs(wanted) do parts[#parts + 1] = name .. "=" .. tostring(value) end
  table.sort(parts)
  return table.concat(parts, " ")
end

-- As tables and charts name the columns: "batch size 64, width 128".
function ratio.in_words(wanted)
  return figure_text.setting_text(wanted, check.sorted_keys(wanted))
end

-- The figure of the row that matches claim.of over that of the row that matches claim.over, both at x; nil, a verdict
-- and the reason when there is none.
function ratio.of(claim, items, x)
  local of, why_of = one_item(items, claim.of, x)
  local over, why_over = one_item(items, claim.over, x)
  if not of then return nil, "not measurable here", why_of .. " " .. ratio.describe(claim.of) end
  if not over then return nil, "not measurable here", why_over .. " " .. ratio.describe(claim.over) end
  if over.y.low <= 0 then
    return nil, "inconclusive",
      doubts.of("no_figure", claim.y .. " is not above zero at " .. ratio.describe(claim.over))
  end
  return estimate.ratio(of.y, over.y), of, over
end

-- What a claim found between two items, for its answer (expect/answer.lua): the figure of the second, `of`, against
-- that of the first, `over`.
function ratio.finding(over, of)
  return {
    first = over.x, x = of.x, over = over.y, of = of.y,
    times = over.y.low > 0 and of.y.low > 0 and estimate.ratio(of.y, over.y) or nil,
  }
end

-- The items of a course of ratios: one for every x that has both rows.
function ratio.course(claim, items)
  local list = {}
  for index, item in ipairs(items) do
    if index == 1 or items[index - 1].x ~= item.x then
      local y = ratio.of(claim, items, item.x)
      if y then list[#list + 1] = { x = item.x, y = y } end
    end
  end
  return list
end

return ratio
