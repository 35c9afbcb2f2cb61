-- Measures again, in fresh processes at the end of a night, what may be an alarm: values far from their level, so that
-- a fault is an alarm the same night, and a repair is told as early.
local native = require("gpubench.native")._native
local history, system = native.history, native.system
local out = native.options.out

local second_look = {}

-- Seven values and ten nights are told apart at p < 0.001 if they do not overlap (core/compare/changes/level.h).
local processes = 7

-- { [axis] = value } of "batch_size=8 dtype=float32"; nil where a value has blanks.
local function values_in(axes)
  local values = {}
  for word in axes:gmatch "%S+" do
    local name, value = word:match "^([%a_][%w_]*)=(.+)$"
    if name then values[name] = value elseif not word:find "^#%d+$" then return nil end
  end
  return values
end

-- Settings of a script that leave the rows with suspects. An axis with a value that no list can hold keeps its values.
local function narrowed(settings, list, axis_names)
  local lists, given, result = {}, {}, {}
  for _, name in ipairs(axis_names) do
    local seen, texts = {}, {}
    for _, one in ipairs(list) do
      local value = (values_in(one.axes) or {})[name]
      if not value or value:find "," then texts = nil break end
      if not seen[value] then texts[#texts + 1] = value end
      seen[value] = true
    end
    if texts and name ~= "device" then lists[name] = name .. "=" .. table.concat(texts, ",") end
  end
  for _, setting in ipairs(settings) do
    local name = setting:match "^[^=]+"
    result[#result + 1], given[name] = lists[name] or setting, true
  end
  for _, name in ipairs(axis_names) do
    if lists[name] and not given[name] then result[#result + 1] = lists[name] end
  end
  return result
end

-- Suspects by the folder of their run, in the order of the night.
local function by_run(list, night)
  local groups = {}
  for _, folder in ipairs(night.folders) do
    local run, group = folder.path:match "([^/]+/[^/]+)/?$", { folder = folder.path, job = folder.job }
    for _, one in ipairs(list) do
      if one.experiment .. "/" .. one.run == run then group[#group + 1] = one end
    end
    if group[1] then groups[#groups + 1] = group end
  end
  return groups
end

-- night: { runs, folders = { { path, job } } }. run_again(job, settings, limit_s): measures the job again, returns its
-- folders. Returns the folders of the new runs, the suspects, and those that there was no time for.
function second_look.measure(suite, night, limit_s, run_again)
  local began, folders, late = system.seconds(), {}, {}
  local all = history.suspects(out, night.runs, suite.name)
  local groups = by_run(all, night)
  for _, group in ipairs(groups) do
    local info = native.results.read(group.folder).info
    group.settings = narrowed(group.job.script.settings, group,
      type(info.axis_names) == "table" and info.axis_names or {})
    group.left = processes
  end
  for _ = 1, processes do
    for _, group in ipairs(groups) do
      local left_s = limit_s - (system.seconds() - began)
      if left_s > 0 then
        local made = run_again(group.job, group.settings, left_s)
        table.move(made, 1, #made, #folders + 1, folders)
        group.left = group.left - 1
      end
    end
  end
  for _, group in ipairs(groups) do
    if group.left > 0 then table.move(group, 1, #group, #late + 1, late) end
  end
  return folders, all, late
end

return second_look
