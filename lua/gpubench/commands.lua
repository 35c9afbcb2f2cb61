-- The program's commands beside running a script. Each takes the command's argument and --format, and returns the exit
-- status.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local missing_gpus = require "gpubench.missing_gpus"
local param = require "gpubench.param"
local native = gb._native
local system = native.system

local commands = {}

-- What the command line asks of experiments, and why a script without one cannot do it.
local function asked_of_experiments()
  local options = native.options
  if options.dry_run then return "--dry-run has nothing to list" end
  for _, name in ipairs(check.sorted_keys(options.axes)) do
    if param.values[name] == nil then return "--set " .. name .. " sets nothing" end
  end
  if options.require[1] then return "--require " .. options.require[1] .. " has nothing to judge" end
end

-- After a script: what its experiments came to.
function commands.status()
  local experiment = package.loaded["gpubench.experiment"]
  if experiment and next(experiment.declared) then return experiment.status end
  local reason = asked_of_experiments()
  if reason then check.fail("run: %s declares no experiment (gb.experiment): %s", native.options.script, reason) end
  return 0
end

local function width_of(lines)
  local width = 0
  for _, line in ipairs(lines) do width = math.max(width, #line[1]) end
  return width
end

local function print_columns(lines, width, indent)
  width = width or width_of(lines)
  for _, line in ipairs(lines) do
    local text = native.results.one_line(string.format("%-" .. width .. "s  %s", line[1], line[2]))
    print((indent or "") .. text)
  end
end

-- The text of a field as it is written, literals joined by "..": scripts are not run to be listed. Nil for anything else.
local function text_of_field(declaration, name)
  local at = declaration:match("[%s{,]" .. name .. "%s*=%s*()")
  if not at then return nil end
  local literals = {}
  repeat
    local quote = declaration:match("^[\"']", at)
    local literal, after = declaration:match("^(" .. (quote or "\"") .. "[^\n]-[^\\]" .. (quote or "\"") .. ")()", at)
    if not literal then return nil end
    literals[#literals + 1] = literal
    at = declaration:match("^%s*%.%.%s*()", after)
  until not at
  local read = load("return " .. table.concat(literals, ".."), "=" .. name, "t", {})
  return read and read()
end

-- The question or title of an experiment; nil for a script that declares none.
local function subject_of(file)
  local script <close> = assert(io.open(file))
  local declaration = script:read("a"):match "gb%.experiment%s*%b{}"
  if not declaration then return nil end
  return text_of_field(declaration, "question") or text_of_field(declaration, "title")
    or "(its title is not a plain string)"
end

function commands.list(folder)
  if folder == "" then folder = system.exists "experiments" and "experiments" or system.resource "experiments" end
  local lines = {}
  for _, file in ipairs(system.scripts_in(folder)) do
    local subject = subject_of(file)
    if subject then lines[#lines + 1] = { file, subject } end
  end
  print_columns(lines)
  return 0
end

function commands.new(name)
  local path = name:find "%.lua$" and name or name .. ".lua"
  local stem = path:match "([^/]+)%.lua$"
  if not stem or not stem:find "^[%a_][%w_-]*$" then
    check.fail("new: '%s' cannot name an experiment: letters, digits, '_' and '-', a letter first", name)
  end
  if system.exists(path) then check.fail("new: %s is there already", path) end
  local template <close> = assert(io.open(system.resource "lua/gpubench/template/experiment.lua"))
  local file, reason = io.open(path, "w")
  if not file then check.fail("new: %s", reason) end
  file:write((template:read("a"):gsub("NAME", stem)))
  file:close()
  print("wrote " .. path .. "; run it with: gpubench " .. path)
  return 0
end

function commands.devices()
  local lines = {}
  for index, name in ipairs(gb.devices()) do lines[index] = { name, gb.config.device_description(name) } end
  local width = width_of(lines)
  for _, line in ipairs(lines) do
    print_columns({ line }, width)
    print_columns(native.device_details(line[1]), nil, string.rep(" ", width + 2))
  end
  for _, text in ipairs(missing_gpus()) do print(text) end
  return 0
end

-- Writes the report and the charts of a run whose program died.
function commands.finish(run)
  local finished = native.results.finish(run, native.options.out)
  io.write(native.results.render(finished.directory, "text", native.options.out, native.options.style))
  if not finished.report then
    print(finished.directory .. " has its report already: nothing to finish")
    return 0
  end
  for _, note in ipairs(finished.notes) do io.stderr:write(native.results.one_line(note), "\n") end
  print("report: " .. finished.report:gsub("^%./", ""))
  return 0
end

function commands.show(run, format)
  local out = native.options.out
  if run ~= "" then
    io.write(native.results.render(run, format, out, native.options.style))
    return 0
  end
  local lines = {}
  for index, one in ipairs(native.results.list(out)) do
    lines[index] = { one.directory, string.format("%s, %s: %s", one.status, gb.format.count(one.rows, "row"), one.title) }
  end
  if #lines == 0 then print("no runs below " .. out) end
  print_columns(lines)
  return 0
end

return commands
