-- Sorts a run's rows for a claim: those that it is about, in groups of equal settings, each in the order of x; then
-- makes one verdict of the groups' verdicts. A claim is confirmed only where every setting that it is about has
-- figures, and sound ones: what is missing or unreliable leaves it open, unless the sound rows alone refute it.
local gb = require "gpubench.native"
local columns = require "gpubench.columns"
local doubts = require "gpubench.expect.doubts"
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

-- Position of every value of an axis of names (some of which may be numbers), so that they keep the order that the
-- script gave them. Numbers have an order of their own.
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

-- x, and the axes that tell the two rows of a ratio apart, do not separate groups; all other axes do. As text, by name,
-- and the names in the order of the axes.
local function setting_of(claim, row, axes)
  local parts, values, names = {}, {}, {}
  for _, axis in ipairs(axes) do
    local fixed = claim.of and (claim.of[axis.name] ~= nil or claim.over[axis.name] ~= nil)
    if axis.name ~= claim.x and not fixed then
      parts[#parts + 1] = axis.name .. "=" .. tostring(row[axis.name])
      values[axis.name] = row[axis.name]
      names[#names + 1] = axis.name
    end
  end
  return table.concat(parts, " "), values, names
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
  -- A figure of no known kind counts where it comes once, so that it may refute after rounds that were stopped too.
  if doubt and doubt.kind == "unfinished" and columns.of(claim.y).kind == "unknown" then
    group.unfinished, doubt = doubt, nil
  end
  local broken = row.status == "ok" and estimate.not_a_number(row, claim.y)
  if broken then
    table.insert(group.broken, broken .. (claim.x and string.format(" at %s %s", claim.x, tostring(x)) or ""))
  elseif figure then
    local item = { x = x, y = figure, row = row, doubt = doubt }
    table.insert(doubt and group.unreliable or group.items, item)
  elseif row.status == "ok" then
    table.insert(group.missing, "no " .. (has_x and claim.y or claim.x))
  else
    local is_left_out = left_out[row.status] ~= nil
    table.insert(is_left_out and group.left_out or group.missing,
      row.status .. (row.detail and ": " .. row.detail or ""))
    group.not_skipped = group.not_skipped or is_left_out and row.status ~= "skipped"
  end
end

local function sort(items, claim, order)
  if not claim.x then return end
  table.sort(items, function(a, b) return is_before(order[a.x] or a.x, order[b.x] or b.x) end)
end

-- The points that a claim compares with each other, before they are measured: arrays of numbers of points. point_at(i)
-- is a table of the axes' values; what only a row has (where { kernel = "matmul" }) leaves no point out.
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

-- claim: { x, y, of, over, where, from, to }. An array of { setting, values = of its axes, names = of these, items = {
-- { x, y = estimate, row, doubt }, ... } in the order of x, unreliable = the same in doubt, missing, broken, left_out =
-- { text, ... }, of and over = how many rows of either side of a ratio were measured }, and how many rows have each
-- status that leaves them out.
function groups.split(claim, rows, axes)
  local list, by_setting, counts = {}, {}, {}
  for _, row in ipairs(rows) do
    if is_about(claim, row) then
      local setting, values, names = setting_of(claim, row, axes)
      if not by_setting[setting] then
        by_setting[setting] = {
          setting = setting, values = values, names = names, items = {}, unreliable = {}, missing = {}, broken = {},
          left_out = {}, of = 0, over = 0,
        }
        list[#list + 1] = by_setting[setting]
      end
      put(by_setting[setting], claim, row)
      if left_out[row.status] then counts[row.status] = (counts[row.status] or 0) + 1 end
    end
  end
  local order = order_of(axes, claim.x)
  for _, group in ipairs(list) do sort(group.items, claim, order) end
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
    return doubts.of("no_figure", string.format("%d of %d rows without a figure: %s", missing, total, group.missing[1]))
  end
  if unreliable == 0 then return nil end
  local doubt = group.unreliable[1].doubt
  if total == 1 then return doubts.of(doubt.kind, "unreliable: " .. doubt.text) end
  return doubts.of(doubt.kind, string.format("%d of %d rows unreliable: %s", unreliable, total, doubt.text))
end

local function all_items(group, claim, order)
  local items = table.move(group.unreliable, 1, #group.unreliable, #group.items + 1, { table.unpack(group.items) })
  sort(items, claim, order)
  return items
end

-- What a figure of the group says where it is not proven: that of all rows, also of those in doubt.
local function seen_in(group, claim, order, judge)
  local _, _, finding = judge(all_items(group, claim, order))
  return finding
end

local function is_busy(group, claim)
  for _, item in ipairs(all_items(group, claim, {})) do
    if estimate.is_busy(item.row) and columns.is_disturbed(claim.y) then return true end
  end
  return false
end

-- A reason is { text }, of an open claim { text, kind, busy }.
local function judge_group(group, claim, order, judge)
  if #group.broken > 0 then return "refuted", { text = table.concat(distinct(group.broken), ", ") } end
  if #group.items + #group.unreliable == 0 then
    local reasons = distinct(#group.missing > 0 and group.missing or group.left_out)
    return "not measurable here", { text = table.concat(reasons, "; "), first = reasons[1] }
  end
  if not has_both_sides(group, claim) and #group.left_out > 0 then
    local reasons = distinct(group.left_out)
    return "not measurable here", { text = table.concat(reasons, "; "), first = reasons[1] }
  end
  local verdict, why, finding
  if #group.items > 0 then verdict, why, finding = judge(group.items) end
  if type(why) ~= "table" then why = { text = why } end
  if verdict == "refuted" then return verdict, why, finding end
  local lack = shortfall(group)
  if lack then verdict, why, finding = "inconclusive", lack, seen_in(group, claim, order, judge) end
  if verdict == "confirmed" and group.unfinished then
    verdict, why = "inconclusive", doubts.of("unfinished", group.unfinished.text .. "; so far: " .. why.text)
  end
  if verdict == "inconclusive" then
    why.kind = why.kind or "unknown"
    why.busy = is_busy(group, claim)
  end
  return verdict, why, finding
end

-- A reader wants examples, the table has the rest.
local most_reasons = 3

-- The reasons of several groups as one: { text, first, setting, names, kind, busy }, the latter five of the first.
-- Reasons of one kind differ in figures alone, so that the first stands for all.
local function combined(reasons)
  local texts, seen, alike = {}, {}, 0
  for _, one in ipairs(reasons) do
    local key = one.kind and one.kind ~= "unknown" and "kind " .. one.kind or one.text .. one.at
    if not seen[key] then
      seen[key] = true
      texts[#texts + 1] = one.text .. one.at
    elseif one.kind then
      alike = alike + 1
    end
  end
  local more = #texts - most_reasons
  local text = table.concat(texts, "; ", 1, math.min(#texts, most_reasons))
  if alike > 0 then text = text .. string.format("; and %d alike", alike) end
  if more > 0 then text = text .. string.format("; and %d more", more) end
  local first = reasons[1]
  return {
    text = text, first = first.first or first.text, setting = first.setting, names = first.names, kind = first.kind,
    busy = first.busy,
  }
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
  return #group.items + #group.unreliable + #group.missing + #group.broken == 0 and not group.not_skipped
end

local severity = { confirmed = 1, ["not measurable here"] = 2, inconclusive = 3, refuted = 4 }

-- judge(items) -> verdict, reason, finding; the worst verdict counts, with the reasons and findings of the groups that
-- have it. A reason is a text, or doubts.of where the claim is open; that of several groups, which this returns, is as
-- in combined(). Settings that the script skipped are no part of the claim, unless it skipped all of them. Also returns
-- { held = the findings of the settings in which the claim is confirmed, settings = those that it is about }.
function groups.judge(claim, rows, axes, judge)
  local list, counts = groups.split(claim, rows, axes)
  if #list == 0 then return "not measurable here", { text = "no point matches" } end
  local order = order_of(axes, claim.x)
  local worst, reasons, findings, skipped, seen = nil, {}, {}, {}, {}
  local part = { held = {}, settings = {} }
  for _, group in ipairs(list) do
    local verdict, why, finding = judge_group(group, claim, order, judge)
    why.at = group.setting ~= "" and " at " .. group.setting or ""
    why.setting, why.names = group.values, group.names
    if finding then finding.setting = group.values end
    if verdict == "confirmed" then part.held[#part.held + 1] = finding end
    if not is_skipped(group) then part.settings[#part.settings + 1] = group.values end
    if is_skipped(group) then
      why.at, why.setting = "", nil
      skipped[#skipped + 1] = why
    else
      seen[verdict] = true
      if not worst or severity[verdict] > severity[worst] then
        worst, reasons, findings = verdict, {}, {}
      end
      if verdict == worst then reasons[#reasons + 1], findings[#findings + 1] = why, finding end
    end
  end
  if not worst then return "not measurable here", combined(skipped) end
  local reason = combined(reasons)
  -- What holds for some settings, and cannot be told for others, is open.
  if worst == "not measurable here" and seen.confirmed then worst, reason.kind = "inconclusive", "no_figure" end
  if worst ~= "not measurable here" then reason.text = reason.text .. mention(counts) end
  return worst, reason, findings, part
end

return groups
