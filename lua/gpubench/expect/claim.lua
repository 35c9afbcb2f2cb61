-- A claim: its text and the function that judges it on the rows of a run.
local answer = require "gpubench.expect.answer"
local chart = require "gpubench.chart"
local check = require "gpubench.check"
local columns = require "gpubench.columns"
local groups = require "gpubench.expect.groups"
local native = require("gpubench.native")._native

-- That of the program, whatever a script does to its globals.
local pcall = pcall

local claim = {}
local mark = {}

-- fields: text, kind, judge(claim, rows, axes) -> verdict, reason, findings, and what judge reads: the columns y and
-- with, or `reads`. A judge of the script returns a sentence in place of findings.
function claim.new(fields)
  fields[mark] = true
  return fields
end

function claim.is(value)
  return type(value) == "table" and rawget(value, mark) == true
end

-- "examples-per-s-rises-with-batch-size" for a claim without an `id` of its own; a second one gets "-2".
local function ids_of(claims)
  local ids, count = {}, {}
  for index, one in ipairs(claims) do
    local id = one.id or one.text:lower():gsub("%W+", "-"):gsub("^%-+", ""):gsub("%-+$", "")
    count[id] = (count[id] or 0) + 1
    ids[index] = count[id] == 1 and id or string.format("%s-%d", id, count[id])
  end
  return ids
end

-- As run.json has them before they are judged.
function claim.announced(claims)
  local list = {}
  for index, id in ipairs(ids_of(claims)) do list[index] = { id = id, claim = claims[index].text } end
  return list
end

local function columns_read(one)
  if one.reads then return one.reads end
  return { one.y, one.with or false }
end

function claim.needs_rounds(one, has_trials)
  if one.unmeasurable then return false end
  for _, name in ipairs(columns_read(one)) do
    if name and columns.needs_rounds(name, has_trials) then return true end
  end
  return false
end

-- Whether other programs change what the claim is about.
function claim.is_about_times(one)
  for _, name in ipairs(one.unmeasurable and {} or columns_read(one)) do
    if name and columns.is_disturbed(name) then return true end
  end
  return false
end

function claim.any_about_times(claims)
  for _, one in ipairs(claims) do
    if claim.is_about_times(one) then return true end
  end
  return false
end

-- The names by which a claim or a chart chooses rows, and whose part each is.
local function settings_of(one)
  local list = {}
  local function add(option, name)
    if type(name) == "string" then list[#list + 1] = { option = option, name = name } end
  end
  add("x", one.x)
  for _, name in ipairs(type(one.by) == "table" and one.by or { one.by }) do add("by", name) end
  for _, name in ipairs(one.axes or {}) do add("axes", name) end
  for _, option in ipairs { "where", "of", "over" } do
    for _, name in ipairs(check.sorted_keys(one[option] or {})) do add(option, name) end
  end
  return list
end

-- Before the first point: whatever chooses rows is an axis, or a column that the program or the script names.
function claim.check(claims, axes)
  local names = {}
  for index, axis in ipairs(axes) do names[index] = axis.name end
  local known = {}
  for _, name in ipairs(names) do known[name] = true end
  for index, one in ipairs(claims) do
    for _, setting in ipairs(settings_of(one)) do
      if not known[setting.name] and not columns.is_known(setting.name) then
        local candidates = table.move(columns.names(), 1, #columns.names(), #names + 1,
          table.move(names, 1, #names, 1, {}))
        check.fail("gb.experiment: expectation %d: option '%s': there is no axis '%s' (axes: %s) and no "
          .. "column of this name in 'columns'%s",
          index, setting.option, setting.name, table.concat(names, ", "),
          native.results.suggestion(setting.name, candidates))
      end
    end
  end
end

-- The columns of the measured rows that a claim or a chart is about; nil where there is no such row.
local function columns_for(one, rows)
  local found
  for _, row in ipairs(rows) do
    if row.status == "ok" and groups.is_about(one, row) then
      found = found or {}
      for name in pairs(row) do found[name] = true end
    end
  end
  return found
end

local function unknown_of(one, names, what, rows)
  local found = columns_for(one, rows)
  for _, name in ipairs(found and names or {}) do
    if name and not found[name] and not columns.is_known(name) then
      local there = check.sorted_keys(found)
      local meant = native.results.suggestion(name, there)
      return string.format("%s: no row has the column '%s'%s", what, name,
        meant ~= "" and meant or "; they have " .. table.concat(there, ", ")), meant ~= ""
    end
  end
end

-- A column that a claim or a chart shows, that nothing declares, and that none of the rows has: an error's text, and
-- whether a column by a similar name is there. Nil where there is none.
function claim.unknown_column(claims, charts, rows)
  for _, one in ipairs(claims) do
    local text, is_similar = unknown_of(one, columns_read(one), "claim '" .. one.text .. "'", rows)
    if text then return text, is_similar end
  end
  for _, one in ipairs(charts) do
    local columns_of = { one.x or false, one.y or false, one.series or false, one.order or false }
    local text, is_similar = unknown_of({ where = one.where }, columns_of, "chart '" .. chart.name_of(one) .. "'", rows)
    if text then return text, is_similar end
  end
end

-- How many of the points that were not measured the claim is about.
local function count_unmeasured(one, points)
  local count = 0
  for _, point in ipairs(points or {}) do count = count + (groups.is_about(one, point) and 1 or 0) end
  return count
end

-- Judges are the program's own code, also where the user has stopped the run: gb.expect.that asks the script's
-- functions (native.ask). Returns a verdict, a reason as in groups.judge, findings or a sentence, and the part that
-- holds.
local function judge(one, rows, axes, unmeasured)
  if one.unmeasurable then return "not measurable here", { text = one.unmeasurable } end
  local ok, verdict, reason, findings, part = pcall(one.judge, one, rows, axes)
  if not ok then return "inconclusive", { text = "judging failed: " .. tostring(verdict), kind = "unknown" } end
  local count = verdict ~= "refuted" and count_unmeasured(one, unmeasured) or 0
  if count == 0 then return verdict, reason, findings, part end
  reason.text = string.format("%d %s not measured; so far: %s", count,
    count == 1 and "point was" or "points were", reason.text)
  reason.kind, reason.busy = "unfinished", nil
  return "inconclusive", reason, findings, part
end

-- An array of { id, claim, verdict, reason, answer, findings, why, seen, remedy, kind, partly }; the last five as in
-- answer.of. unmeasured: the points that have no row, as tables of the axes' values; a claim about any of them is open
-- unless what was measured refutes it. So is a claim that cannot be judged: it must not cost the run.
function claim.judge_all(claims, rows, axes, unmeasured)
  local judged, ids = {}, ids_of(claims)
  for index, one in ipairs(claims) do
    local verdict, reason, findings, part = judge(one, rows, axes, unmeasured)
    local given = type(findings) == "string" and findings or nil
    local is_told, told = pcall(answer.of, one, verdict, reason, not given and findings or {}, given, part)
    if not is_told then
      verdict, reason, given = "inconclusive", { text = "judging failed: " .. tostring(told), kind = "unknown" }, nil
      told = answer.of(one, verdict, reason, {})
    end
    judged[index] = {
      id = ids[index], claim = one.text, verdict = verdict, reason = reason.text, given = given, answer = told.text,
      why = told.why, seen = told.seen, remedy = told.remedy, kind = told.kind, partly = told.partly,
      findings = verdict == "confirmed" and not given and findings or {},
    }
  end
  return judged
end

-- The points of each claim that takes rounds, joined where claims share a point: an array of arrays of numbers of
-- points, each in the order of the sweep.
function claim.relations(claims, count, point_at, axes, has_trials)
  local root, groups_by_root, list = {}, {}, {}
  local function find(index)
    while root[index] ~= index do
      root[index] = root[root[index]]
      index = root[index]
    end
    return index
  end
  for _, one in ipairs(claims) do
    if claim.needs_rounds(one, has_trials) then
      for _, points in ipairs(groups.of_points(one, count, point_at, axes)) do
        for _, index in ipairs(points) do root[index] = root[index] or index end
        for k = 2, #points do
          local a, b = find(points[1]), find(points[k])
          root[math.max(a, b)] = math.min(a, b)
        end
      end
    end
  end
  for index = 1, count do
    if root[index] then
      local first = find(index)
      if not groups_by_root[first] then
        groups_by_root[first] = {}
        list[#list + 1] = groups_by_root[first]
      end
      table.insert(groups_by_root[first], index)
    end
  end
  return list
end

return claim
