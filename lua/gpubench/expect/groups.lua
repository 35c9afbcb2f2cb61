-- Sorts a run's rows for a claim: those that it is about, in groups of equal settings, each in the order of x; then
-- makes one verdict of the groups' verdicts.
local estimate = require "gpubench.expect.estimate"

local groups = {}

local function matches(row, wanted)
  for column, value in pairs(wanted or {}) do
    if row[column] ~= value then return false end
  end
  return true
end
groups.matches = matches

-- Why a column has no figures: what the rows say of themselves, else the plain fact.
local function why_not_measurable(rows, column)
  local reasons, seen = {}, {}
  for _, row in ipairs(rows) do
    local reason = row.status ~= "ok" and (row.status .. (row.detail and ": " .. row.detail or ""))
    if reason and not seen[reason] then
      seen[reason] = true
      reasons[#reasons + 1] = reason
    end
  end
  if #rows == 0 then return "no point matches" end
  return #reasons > 0 and table.concat(reasons, "; ") or "no row has " .. column
end

-- Position of every value of an axis, so that names keep the order that the script gave them.
local function order_of(axes, x)
  local order = {}
  for _, axis in ipairs(axes) do
    if axis.name == x then
      for index, value in ipairs(axis.values) do order[value] = type(value) == "number" and value or index end
    end
  end
  return order
end

local function setting_of(row, axes, x)
  local parts = {}
  for _, axis in ipairs(axes) do
    if axis.name ~= x then parts[#parts + 1] = axis.name .. "=" .. tostring(row[axis.name]) end
  end
  return table.concat(parts, " ")
end

-- claim: { x, y, where }. Returns an array of { setting, items = { { x, y = estimate, row }, ... } }, or nil and the
-- reason.
function groups.split(claim, rows, axes)
  local about, list, by_setting = {}, {}, {}
  for _, row in ipairs(rows) do
    if matches(row, claim.where) then about[#about + 1] = row end
  end
  for _, row in ipairs(about) do
    local figure = row.status == "ok" and estimate.of(row, claim.y)
    if figure then
      local setting = setting_of(row, axes, claim.x)
      if not by_setting[setting] then
        by_setting[setting] = { setting = setting, items = {} }
        list[#list + 1] = by_setting[setting]
      end
      table.insert(by_setting[setting].items, { x = claim.x and row[claim.x], y = figure, row = row })
    end
  end
  if #list == 0 then return nil, why_not_measurable(about, claim.y) end
  if not claim.x then return list end
  local order = order_of(axes, claim.x)
  for _, group in ipairs(list) do
    table.sort(group.items, function(a, b) return (order[a.x] or a.x) < (order[b.x] or b.x) end)
  end
  return list
end

-- Intervals hold for what was measured; whether that was steady, the rows say themselves.
local function doubts(list)
  local unreliable, total = 0, 0
  for _, group in ipairs(list) do
    for _, item in ipairs(group.items) do
      total = total + 1
      if item.row.quality and item.row.quality ~= "ok" then unreliable = unreliable + 1 end
    end
  end
  return unreliable == 0 and "" or string.format("; %d of %d rows unreliable", unreliable, total)
end

-- A reader wants examples, the table has the rest.
local most_reasons = 3

local severity = { ["not measurable here"] = 0, confirmed = 1, inconclusive = 2, refuted = 3 }

-- judge(items) -> verdict, reason; the worst verdict counts, with the reasons of the groups that have it.
function groups.judge(claim, rows, axes, judge)
  local list, reason = groups.split(claim, rows, axes)
  if not list then return "not measurable here", reason end
  local worst, reasons = nil, {}
  for _, group in ipairs(list) do
    local verdict, why = judge(group.items, group)
    if #list > 1 or group.setting ~= "" then why = why .. (group.setting ~= "" and " at " .. group.setting or "") end
    if not worst or severity[verdict] > severity[worst] then
      worst, reasons = verdict, {}
    end
    if verdict == worst then reasons[#reasons + 1] = why end
  end
  local more = #reasons - most_reasons
  local text = table.concat(reasons, "; ", 1, math.min(#reasons, most_reasons))
  return worst, text .. (more > 0 and string.format("; and %d more", more) or "") .. doubts(list)
end

return groups
