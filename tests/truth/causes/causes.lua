-- Whether the findings name the cause: a confusion matrix over configurations whose cause is known, because the same
-- step without it was measured too.
--   GPUBENCH_PATH=tests/truth/causes gpubench tests/truth/causes/causes.lua [--set seeds=3] [--set cpu=true] [--set
-- only=NAME] seeds: how many draws; cpu: configurations on CPU devices too, for an idle machine; busy: findings of
-- unreliable rows count too, to try a rule on a machine that is not idle; budget: seconds of each measurement. A
-- configuration whose cause costs less than 10 % or more than 60 % says nothing and is reported. It fails below 38 of
-- 40, if a cause is found in fewer than two of three, or above one false alarm in 20; with lenient, below 24 of 40 or
-- above 6 false alarms in 20, for tests beside other programs.
local gb = require "gpubench"
local made = require "made"
local with_cause = require "with_cause"
local without_cause = require "without_cause"

local native = gb._native
local seeds = gb.param("seeds", 1)
local takes_cpu = gb.param("cpu", false)
local takes_busy = gb.param("busy", false)
local only = gb.param("only", "")
local lenient = gb.param("lenient", false)
local least_share, most_alarms, least_of_finding = 38 / 40, 1 / 20, 2 / 3
if lenient then least_share, most_alarms, least_of_finding = 24 / 40, 6 / 20, 0 end
made.budget = gb.param("budget", made.budget)
local least_cost, most_cost = 0.10, 0.60
local nothing = "compute_bound"

-- Numbers from a generator of its own, because measuring draws from the other one.
local function picker(seed)
  local state = seed
  return function(low, high)
    state = (state * 1103515245 + 12345) % 2147483648
    return low + (high - low) * state / 2147483648
  end
end

-- The finding with the largest gain of a row.
local function found_in(row)
  local first = row.verdict and row.findings and row.findings[1]
  return first and first.name or "nothing"
end

-- A row and its findings; nil and why where it failed.
local function measured(one, has_cause, seed)
  gb.config.set_seed(seed)
  local ok, row = pcall(function()
    local row, cells = one.run(has_cause, picker(seed)), {}
    for column, value in pairs(row) do
      if type(value) ~= "table" and type(value) ~= "userdata" then cells[column] = value end
    end
    if takes_busy then cells.quality = nil end
    cells.findings = native.findings(cells)
    return cells
  end)
  for _ = 1, 3 do collectgarbage() end  -- finalizers release what others hold
  native.reset_devices()
  if not ok then return nil, tostring(row) end
  return row
end

-- Why it cannot be told.
local function reason_of(row, found)
  return found == "cannot_tell" and " (" .. row.findings[1].evidence .. ")" or ""
end

local matrix, names = {}, {}

local function count(cause, found)
  for _, name in ipairs { cause, found } do names[name] = true end
  matrix[cause] = matrix[cause] or {}
  matrix[cause][found] = (matrix[cause][found] or 0) + 1
end

local function print_matrix()
  local columns = {}
  for name in pairs(names) do columns[#columns + 1] = name end
  table.sort(columns)
  print("| cause | " .. table.concat(columns, " | ") .. " |")
  print("|---|" .. string.rep("---:|", #columns))
  local rows = {}
  for cause in pairs(matrix) do rows[#rows + 1] = cause end
  table.sort(rows)
  for _, cause in ipairs(rows) do
    local cells = {}
    for index, name in ipairs(columns) do cells[index] = tostring(matrix[cause][name] or "") end
    print("| " .. cause .. " | " .. table.concat(cells, " | ") .. " |")
  end
end

-- Returns how many were right, of how many, and by finding.
local function judge_causes(seed)
  local right, all, by_finding = 0, 0, {}
  for index, one in ipairs(with_cause) do
    if (takes_cpu or not one.cpu) and (one.finding .. " " .. one.name):find(only, 1, true) then
      local own_seed = 1000 * seed + index
      local without, why = measured(one, false, own_seed)
      local with
      if without then with, why = measured(one, true, own_seed) end
      if with then
        local cost = 1 - with.examples_per_s / without.examples_per_s
        local found = found_in(with)
        local is_fit = cost >= least_cost and cost <= most_cost
        print(string.format("%-5s %-20s costs %3.0f %%  found %-20s %s%s",
          not is_fit and "UNFIT" or found == one.finding and "ok" or "WRONG", one.finding, 100 * cost, found, one.name,
          reason_of(with, found)))
        count(one.finding, found)
        all = all + 1
        by_finding[one.finding] = by_finding[one.finding] or { right = 0, all = 0 }
        by_finding[one.finding].all = by_finding[one.finding].all + 1
        if found == one.finding and is_fit then
          right = right + 1
          by_finding[one.finding].right = by_finding[one.finding].right + 1
        end
      else
        print(string.format("ERROR %-20s %s: %s", one.finding, one.name, why))
        all = all + 1
      end
    end
  end
  return right, all, by_finding
end

local function judge_alarms(seed)
  local alarms, all = 0, 0
  for index, one in ipairs(without_cause) do
    if ("none " .. one.name):find(only, 1, true) then
      local row, why = measured(one, false, 1000 * seed + 500 + index)
      local found = row and found_in(row) or "error"
      print(string.format("%-5s none, found %-20s %s%s", found == nothing and "ok" or "ALARM", found, one.name,
        why and ": " .. why or reason_of(row, found)))
      count("none", found)
      all = all + 1
      if found ~= nothing then alarms = alarms + 1 end
    end
  end
  return alarms, all
end

local failures = {}
for seed = 1, seeds do
  local right, all, by_finding = judge_causes(seed)
  local alarms, quiet = judge_alarms(seed)
  print(string.format("seed %d: %d of %d causes found, %d false alarms of %d", seed, right, all, alarms, quiet))
  if only == "" and right < all * least_share then
    failures[#failures + 1] = string.format("seed %d: %d of %d causes", seed, right, all)
  end
  if alarms > quiet * most_alarms then
    failures[#failures + 1] = string.format("seed %d: %d false alarms", seed, alarms)
  end
  for finding, one in pairs(by_finding) do
    if one.right < one.all * least_of_finding then
      failures[#failures + 1] = string.format("seed %d: %s %d of %d", seed, finding, one.right, one.all)
    end
  end
end
print_matrix()
if #failures > 0 then error(table.concat(failures, "; "), 0) end
