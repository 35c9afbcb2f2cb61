-- `gpubench list`: the questions that experiments answer.
local gb = require "gpubench.native"
local literals = require "gpubench.literals"
local two_columns = require "gpubench.two_columns"
local native = gb._native
local system, results = native.system, native.results

-- Of older runs the machine may have changed too much.
local most_runs = 10

-- What is read of a script; nil for one that cannot be read, which others of its folder can.
local function read_script(file)
  local text, reason = literals.read_file(file)
  if not text then
    io.stderr:write(results.one_line(string.format("list: '%s' cannot be read: %s", file, reason)), "\n")
  end
  return text
end

-- What a script says of its experiment, as it is written: scripts are not run to be listed. Nil for a script that
-- declares none. Seconds are those of the last run.
local function entry_of(file)
  local source = read_script(file)
  local texts = source and literals.texts_of_experiment(source)
  if not texts then return nil end
  return {
    file = file,
    script = file:match "([^/]+)%.lua$",  -- by which it is run
    name = texts.name or file:match "([^/]+)%.lua$",
    topic = texts.topic or "other",
    title = texts.title or "(its title is not a plain string)",
    question = texts.question,
    needs = texts.needs,
  }
end

-- Others follow by name.
local order = { feeding = 1, launching = 2, memory = 3, precision = 4, models = 5, devices = 6, scaling = 7,
  other = math.huge }
local last_known = 8

local function entries_in(folder)
  local list = {}
  for _, file in ipairs(system.scripts_in(folder)) do list[#list + 1] = entry_of(file) end
  table.sort(list, function(a, b)
    local left, right = order[a.topic] or last_known, order[b.topic] or last_known
    if left ~= right then return left < right end
    if a.topic ~= b.topic then return a.topic < b.topic end
    return a.file < b.file
  end)
  return list
end

-- Of the program's files; nil for one that there is not.
local function resource(path)
  local ok, found = pcall(system.resource, path)
  return ok and found or nil
end

-- How long a run took that was measured to its end, and what it says of itself; nil for others.
local function time_in(directory)
  local ok, run = pcall(results.read, directory)
  local info = ok and run.info or {}
  local seconds, seen = 0, {}
  for number, row in ipairs(ok and run.rows or {}) do
    local point = row.point or number
    -- A point's rows all have the time of the point.
    if (row.process or 0) == 0 and row.point_time_s and not seen[point] then
      seconds, seen[point] = seconds + row.point_time_s, true
    end
  end
  if info.status == "done" and seconds > 0 then return seconds, info end
end

-- The time of the newest run here, and whether it was a quick one; nil without one.
local function time_of(entry)
  for _, directory in ipairs(results.runs_here(entry.name, native.options.out, most_runs)) do
    local seconds, info = time_in(directory)
    if seconds then return seconds, type(info.options) == "table" and info.options.quick == true end
  end
end

-- "NVIDIA H200, 16 processors": what a run was measured on.
local function machine_in(info)
  local parts, machine = {}, info.machine or {}
  for _, device in ipairs(info.devices or {}) do
    if not device.name:find "^cpu" then parts[#parts + 1] = device.description or device.name end
  end
  local processors = machine.cpus_allowed or machine.cpus
  if processors then parts[#parts + 1] = gb.format.count(processors, "processor") end
  return parts[1] and table.concat(parts, ", ") or "another machine"
end

-- The time of the sample run that comes with the program, { seconds, machine }; nil for an experiment without one, and
-- for another one of its name.
local function sample_of(entry)
  local directory = resource("results/samples/" .. entry.name)
  if not directory then return nil end
  local seconds, info = time_in(directory)
  if seconds and info.title == entry.title then return { seconds = seconds, machine = machine_in(info) } end
end

-- Nil where nothing is known.
local function time_text(entry)
  if entry.seconds then
    return string.format("%s in the last run%s", gb.format.seconds(entry.seconds), entry.quick and " (--quick)" or "")
  end
  return entry.sample and string.format("%s in the sample, on %s; gpubench %s --dry-run guesses it here",
    gb.format.seconds(entry.sample.seconds), entry.sample.machine, entry.shown)
end

local function print_long(entry)
  two_columns.print({ { "  " .. entry.shown, entry.question or entry.title } })
  local lines = { { "title", entry.title } }
  for _, line in ipairs { { "time", time_text(entry) }, { "needs", entry.needs }, { "script", entry.file } } do
    if line[2] then lines[#lines + 1] = line end
  end
  two_columns.print(lines, nil, "      ")
end

local function print_short(list, width)
  local lines = {}
  for index, entry in ipairs(list) do
    lines[index] = { entry.shown,
      (entry.question or entry.title) .. (entry.needs and " (needs " .. entry.needs .. ")" or "") }
  end
  two_columns.print(lines, width, "  ")
end

local function by_topic(list)
  local groups = {}
  for _, entry in ipairs(list) do
    local last = groups[#groups]
    if not last or last.topic ~= entry.topic then
      last = { topic = entry.topic }
      groups[#groups + 1] = last
    end
    last[#last + 1] = entry
  end
  return groups
end

-- A file, or the script of an experiment's name; nil if there is neither.
local function script_of(text)
  local named = "experiments/" .. text .. ".lua"
  for _, file in ipairs { text, named, resource(named) } do
    if file:find "%.lua$" and system.is_file(file) then return file end
  end
end

-- The numbers and texts of a list such as { 1, 32, "auto" }; others of it have no value before the script runs.
local function values_of(list)
  local values = {}
  for value in (list or ""):gmatch "[^,{}]+" do
    local word = value:match "^%s*[\"']?([%w_.:+-]+)[\"']?%s*$"
    if word then values[#values + 1] = word end
  end
  return values
end

-- Names of the axes and parameters that a file makes, and of those in modules of the library that it requires, each
-- with the values of the axis; as they are written: scripts are not run to be listed.
local function add_settings(file, names, seen)
  local text = read_script(file) or ""
  for _, maker in ipairs { "axis", "param" } do
    for name, after in text:gmatch("gb%." .. maker .. "%s*%(%s*[\"']([%w_]+)[\"']()") do
      if not seen[name] then
        names[#names + 1], names[name] = name, values_of(text:match("^%s*,[^{}()]-(%b{})", after))
      end
      seen[name] = true
    end
  end
  for name in text:gmatch "require%s*%(?%s*[\"'](gpubench%.[%w_.]+)[\"']" do
    local module = resource("lua/" .. name:gsub("%.", "/") .. ".lua")
    if module and not seen[module] then
      seen[module] = true
      add_settings(module, names, seen)
    end
  end
end

-- The settings, or the values of one.
local function print_settings(text, axis)
  local file, names = script_of(text), {}
  if not file then
    io.stderr:write(results.one_line(string.format("list --settings: there is no script or experiment '%s'", text)),
      "\n")
    return 2
  end
  add_settings(file, names, {})
  for _, name in ipairs(axis and names[axis] or not axis and names or {}) do print(name) end
  return 0
end

return function(options)
  if options.settings then return print_settings(options.settings, options.values) end
  local folder = options.folder
  if not folder then folder = system.exists "experiments" and "experiments" or system.resource "experiments" end
  local list, width = entries_in(folder), 0
  for _, entry in ipairs(list) do
    -- Names are looked up in the usual folders only.
    entry.shown = options.folder and entry.file or entry.script
    width = math.max(width, #entry.shown)
    if options.names then print(results.one_line(entry.shown)) end
    if options.long or options.json then
      entry.seconds, entry.quick = time_of(entry)
      entry.sample = not entry.seconds and sample_of(entry) or nil
    end
    if options.json then print(results.json(entry)) end
  end
  if options.json or options.names then return 0 end
  for index, group in ipairs(by_topic(list)) do
    print((index > 1 and "\n" or "") .. results.one_line(group.topic))
    if options.long then
      for _, entry in ipairs(group) do print_long(entry) end
    else
      print_short(group, width)
    end
  end
  return 0
end
