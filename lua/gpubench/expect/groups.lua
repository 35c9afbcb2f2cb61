-- Sorts a run's rows for a claim: those that it is about, in groups of equal settings, each in the order of x; then
-- makes one verdict of the groups' verdicts. A claim is confirmed only where every setting that it is about has figures,
-- and sound ones: what is missing or unreliable leaves it open, unless the sound rows alone refute it.
local gb = require "gpubench.native"
local estimate = require "gpubench.expect.estimate"

local groups = {}

local function matches(row, wanted)
  for column, value in pairs(wanted or {}) do
    if row[column] ~= value then return false end
  end
  return true
end
groups.matches = matches

-- A row that failed may have no x; then it is not known to be outside. What is no number is, of a range.
local function in_range(claim, x)
  if x == nil or not claim.from and not claim.to then return true end
  return type(x) == "number" and not (claim.from and x < claim.from) and not (claim.to and x > claim.to)
end

-- A row that failed may lack a column that `where` names; then it is not known to be outside either.
local function is_let_through(row, wanted)
  for column, value in pairs(wanted or {}) do
    if row[column] ~= value and (row[column] ~= nil or row.status == "ok") then return false end
  end
  return true
end

groups.may_match = is_let_through

local function is_about(claim, row)
  local is_side = row.status and matches or is_let_through
  if claim.of and not is_side(row, claim.of) and not is_side(row, claim.over) then return false end
  return is_let_through(row, claim.where) and (not claim.x or in_range(claim, row[claim.x]))
end

groups.is_about = is_about

-- Position of every value of an axis of names (some of which may be numbers), so that they keep the order that the script
-- gave them. Numbers have an order of their own.
local function order_of(axes, x)
  for _, axis in ipairs(axes) do
    if axis.name == x then
      local order, has_names = {}, false
      for index, value in ipairs(axis.values) do
        order[value] = index
        has_names = has_names or type(value) ~= "number"
      end
      return has_names and order or {}
    end
  end
  return {}
end

-- The cells of a script's own column may be of several types in different rows: each type is in its own order.
local ranks = { number = 1, string = 2, boolean = 3 }

local function is_before(a, b)
  local rank, other = ranks[type(a)], ranks[type(b)]
  if rank ~= other then return rank < other end
  if rank == ranks.boolean then return not a and b end
  return a < b
end

-- x, and the axes that tell the two rows of a ratio apart, do not separate groups; all other axes do. As text, and by name.
local function setting_of(claim, row, axes)
  local parts, values = {}, {}
  for _, axis in ipairs(axes) do
    local fixed = claim.of and (claim.of[axis.name] ~= nil or claim.over[axis.name] ~= nil)
    if axis.name ~= claim.x and not fixed then
      parts[#parts + 1] = axis.name .. "=" .. tostring(row[axis.name])
      values[axis.name] = row[axis.name]
    end
  end
  return table.concat(parts, " "), values
end

-- What memory cannot hold is no part of a course, as little as what the script skipped; the reason mentions both.
local left_out = { skipped = "skipped", out_of_memory = "out of memory" }

-- A ratio has no figure where no row of one side was measured.
local function has_both_sides(group, claim)
  return not claim.of or group.of > 0 and group.over > 0
end

local function put(group, claim, row)
  if claim.of and not left_out[row.status] then
    if matches(row, claim.of) then group.of = group.of + 1 end
    if matches(row, claim.over) then group.over = group.over + 1 end
  end
  local x = claim.x and row[claim.x]
  local has_x = not claim.x or x ~= nil and x == x
  local figure = row.status == "ok" and has_x and estimate.of(row, claim.y)
  local doubt = figure and (estimate.doubt(row, claim.y) or claim.with and estimate.doubt(row, claim.with))
  if figure and not doubt then
    table.insert(group.items, { x = x, y = figure, row = row })
  elseif figure then
    table.insert(group.unreliable, doubt)
  elseif row.status == "ok" then
    table.insert(group.missing, "no " .. (has_x and claim.y or claim.x))
  else
    local kind = left_out[row.status] and group.left_out or group.missing
    table.insert(kind, row.status .. (row.detail and ": " .. row.detail or ""))
  end
end

-- The points that a claim compares with each other, before they are measured: arrays of numbers of points. point_at(i) is
-- a table of the axes' values; what only a row has (where { kernel = "matmul" }) leaves no point out.
function groups.of_points(claim, count, point_at, axes)
  local list, by_setting = {}, {}
  for index = 1, count do
    local point = point_at(index)
    if is_about(claim, point) then
      local setting = claim.reads and "" or setting_of(claim, point, axes)  -- Lua may compare any of them
      if not by_setting[setting] then
        by_setting[setting] = {}
        list[#list + 1] = by_setting[setting]
      end
      table.insert(by_setting[setting], index)
    end
  end
  return list
end

-- claim: { x, y, of, over, where, from, to }. An array of { setting, values = of its axes, items = { { x, y = estimate, row }, ... } in the
-- order of x, unreliable, missing, left_out = { reason, ... }, of and over = how many rows of either side of a ratio were
-- measured }, and how many rows have each status that leaves them out.
function groups.split(claim, rows, axes)
  local list, by_setting, counts = {}, {}, {}
  for _, row in ipairs(rows) do
    if is_about(claim, row) then
      local setting, values = setting_of(claim, row, axes)
      if not by_setting[setting] then
        by_setting[setting] = {
          setting = setting, values = values, items = {}, unreliable = {}, missing = {}, left_out = {}, of = 0, over = 0,
        }
        list[#list + 1] = by_setting[setting]
      end
      put(by_setting[setting], claim, row)
      if left_out[row.status] then counts[row.status] = (counts[row.status] or 0) + 1 end
    end
  end
  local order = order_of(axes, claim.x)
  for _, group in ipairs(list) do
    if claim.x then
      table.sort(group.items, function(a, b) return is_before(order[a.x] or a.x, order[b.x] or b.x) end)
    end
  end
  return list, counts
end

-- Each text once, in the order in which they came.
local function distinct(texts)
  local seen, list = {}, {}
  for _, text in ipairs(texts) do
    if not seen[text] then
      seen[text] = true
      list[#list + 1] = text
    end
  end
  return list
end

-- Why a group's sound rows are not all that the claim is about; nil when they are.
local function shortfall(group)
  local unreliable, missing = #group.unreliable, #group.missing
  local total = #group.items + unreliable + missing
  if missing > 0 then
    return string.format("%d of %d rows without a figure: %s", missing, total, group.missing[1])
  end
  if unreliable == 0 then return nil end
  if total == 1 then return "unreliable: " .. group.unreliable[1] end
  return string.format("%d of %d rows unreliable: %s", unreliable, total, group.unreliable[1])
end

local function judge_group(group, claim, judge)
  if #group.items + #group.unreliable == 0 then
    local reasons = #group.missing > 0 and group.missing or group.left_out
    return "not measurable here", table.concat(distinct(reasons), "; ")
  end
  if not has_both_sides(group, claim) and #group.left_out > 0 then
    return "not measurable here", table.concat(distinct(group.left_out), "; ")
  end
  local verdict, why, finding
  if #group.items > 0 then verdict, why, finding = judge(group.items) end
  if verdict == "refuted" then return verdict, why, finding end
  local lack = shortfall(group)
  if lack then return "inconclusive", lack end
  return verdict, why, finding
end

-- A reader wants examples, the table has the rest.
local most_reasons = 3

local function joined(reasons)
  reasons = distinct(reasons)
  local more = #reasons - most_reasons
  local text = table.concat(reasons, "; ", 1, math.min(#reasons, most_reasons))
  return text .. (more > 0 and string.format("; and %d more", more) or "")
end

local function mention(counts)
  local text = ""
  for _, status in ipairs { "skipped", "out_of_memory" } do
    local count = counts[status]
    if count then text = text .. string.format("; %s %s", gb.format.count(count, "row"), left_out[status]) end
  end
  return text
end

local function is_skipped(group)
  if #group.items + #group.unreliable + #group.missing > 0 then return false end
  for _, reason in ipairs(group.left_out) do
    if not reason:find "^skipped" then return false end
  end
  return true
end

local severity = { confirmed = 1, ["not measurable here"] = 2, inconclusive = 3, refuted = 4 }

-- judge(items) -> verdict, reason, finding; the worst verdict counts, with the reasons and findings of the groups that
-- have it. Settings that the script skipped are no part of the claim, unless it skipped all of them. Also returns
-- { held = the findings of the settings in which the claim is confirmed, settings = those that it is about }.
function groups.judge(claim, rows, axes, judge)
  local list, counts = groups.split(claim, rows, axes)
  if #list == 0 then return "not measurable here", "no point matches" end
  local worst, reasons, findings, skipped, seen = nil, {}, {}, {}, {}
  local part = { held = {}, settings = {} }
  for _, group in ipairs(list) do
    local verdict, why, finding = judge_group(group, claim, judge)
    if finding then finding.setting = group.values end
    if verdict == "confirmed" then part.held[#part.held + 1] = finding end
    if not is_skipped(group) then part.settings[#part.settings + 1] = group.values end
    if is_skipped(group) then
      skipped[#skipped + 1] = why
    else
      seen[verdict] = true
      if group.setting ~= "" then why = why .. " at " .. group.setting end
      if not worst or severity[verdict] > severity[worst] then
        worst, reasons, findings = verdict, {}, {}
      end
      if verdict == worst then reasons[#reasons + 1], findings[#findings + 1] = why, finding end
    end
  end
  if not worst then return "not measurable here", joined(skipped) end
  -- What holds for some settings, and cannot be told for others, is open.
  if worst == "not measurable here" and seen.confirmed then worst = "inconclusive" end
  return worst, joined(reasons) .. (worst == "not measurable here" and "" or mention(counts)), findings, part
end

return groups
