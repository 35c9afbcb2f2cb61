-- The script to tune and one point of it. Every measurement runs the whole script anew and calls `run` for the point,
-- so that a change meets a call at the script's top level as well as one in `run`, just as an edited script would.
local gb = require "gpubench.native"
local calls = require "gpubench.tune.calls"
local check = require "gpubench.check"
local experiment_options = require "gpubench.experiment_options"
local param = require "gpubench.param"
local source = require "gpubench.tune.source"
local sweep = require "gpubench.sweep.points"
local tokens = require "gpubench.tokens"
local native = gb._native
local options = native.options
-- Those of the program, whatever a script does to its globals.
local load, loaded, open = load, package.loaded, io.open

local Subject = {}
Subject.__index = Subject

local subject = {}

-- The values that --set gives to the script's axes and parameters.
local script_axes = options.axes

local function chunk_of(path, text)
  -- A function with as many variables as Lua allows takes no further one; the place of some calls is unknown then.
  local chunk = load(tokens.keep_frames(text), "@" .. path, "t")
  if chunk then return chunk end
  local plain, reason = load(text, "@" .. path, "t")
  if not plain then native.fail(reason) end
  return plain
end

-- The searcher of modules beside the script, which keeps their frames too (lua/host/library.cpp has the order).
local of_folders = package.searchers[3]
package.searchers[3] = function(name)
  local loader, path = of_folders(name)
  if type(loader) ~= "function" then return loader end
  local file <close> = open(path, "r")
  return file and chunk_of(path, file:read "a") or loader, path
end

-- Modules of the script are loaded anew with it.
local function forget_modules(known)
  for name in pairs(loaded) do
    if not known[name] and not name:find "^gpubench" then loaded[name] = nil end
  end
end

-- Calls f while gb.experiment collects declarations into the list.
local function with_declarations(list, f, ...)
  local known, declare = {}, gb.experiment
  for name in pairs(loaded) do known[name] = true end
  options.axes, param.values = script_axes, {}
  gb.experiment = function(declaration)
    local read = experiment_options.read(declaration, {})
    read.columns = declaration.columns or {}
    list[#list + 1] = read
    return {}
  end
  local _ <close> = setmetatable({}, { __close = function()
    gb.experiment, options.axes = declare, {}
    forget_modules(known)
  end })
  return f(...)
end

function Subject:declarations()
  local list = {}
  with_declarations(list, function() chunk_of(self.path, self.text)() end)
  return list
end

-- Calls `run` for the point while the changes are made. recorder: nil, or one that is told of all calls (record.lua).
function Subject:run(changes, recorder)
  local list = {}
  return with_declarations(list, function()
    local _ <close> = calls.install(self.source, changes, recorder)
    chunk_of(self.path, self.text)()
    local declaration = list[self.number]
    if not declaration then native.fail("the script declares other experiments each time that it is run") end
    if recorder then
      local file, line = calls.definition(declaration.run)
      recorder:enter_run(file == self.path and line or nil)
    end
    calls.begin_run()
    local reason = declaration.skip and declaration.skip(self:point())
    if reason then gb.skip(tostring(reason)) end
    return declaration.run(self:point())
  end)
end

function Subject:point()
  return self.points[self.index]
end

-- "device=cpu:0 batch_size=32", or the experiment's name where it has no axes.
function Subject:point_text()
  return #self.axes > 0 and sweep.describe(self.axes, self:point()) or self.name
end

local function describe_axes(axes)
  local parts = {}
  for index, one in ipairs(axes) do
    local values = {}
    for number, value in ipairs(one.values) do values[number] = tostring(value) end
    parts[index] = one.name .. "=" .. table.concat(values, "|")
  end
  return #parts > 0 and table.concat(parts, ", ") or "the experiment has no axes"
end

local function value_named(axis, text)
  for _, value in ipairs(axis.values) do
    if tostring(value) == text or type(value) == "number" and value == tonumber(text) then return value end
  end
end

-- The values that --where names: { axis = value }.
local function wanted_values(axes, text)
  local wanted, by_name = {}, {}
  for _, one in ipairs(axes) do by_name[one.name] = one end
  for part in (text or ""):gmatch "[^,]+" do
    local name, value_text = part:match "^%s*([%w_]+)%s*=%s*(.-)%s*$"
    local value = by_name[name] and value_named(by_name[name], value_text)
    if value == nil then
      local what = not name and string.format("'%s' is not AXIS=VALUE", part)
        or not by_name[name] and string.format("there is no axis '%s'", name)
        or string.format("the axis %s has no value %s", name, value_text)
      check.fail("tune: --where %s: %s (axes and values: %s)", text, what, describe_axes(axes))
    end
    wanted[name] = value
  end
  return wanted
end

local function matches(point, wanted)
  for name, value in pairs(wanted) do
    if point[name] ~= value then return false end
  end
  return true
end

-- The number of the first point with these values that the script does not skip; nil, and why the first one is skipped.
local function first_point(declaration, points, wanted)
  local why
  for index = 1, #points do
    local point = points[index]
    if matches(point, wanted) then
      local reason
      if declaration.skip then
        local ok, status, detail = native.protect(declaration.skip, point)
        reason = ok and status or not ok and detail or nil
      end
      if not reason then return index end
      why = why or tostring(reason)
    end
  end
  return nil, why or "no combination of axes has these values"
end

local function chosen(declarations, path, name)
  if #declarations == 0 then
    check.fail("tune: %s declares no experiment (gb.experiment), so that it has no point to measure", path)
  end
  local names = {}
  for number, one in ipairs(declarations) do
    names[number] = one.name
    if one.name == name then return number end
  end
  if not name and #declarations == 1 then return 1 end
  check.fail("tune: %s: %s (experiments: %s)%s", path,
    name and string.format("there is no experiment '%s'", name) or "which experiment? --experiment NAME says it",
    table.concat(names, ", "), name and native.results.suggestion(name, names) or "")
end

-- The columns that its charts and claims are about, in their order.
local function columns_of_claims(declaration)
  local list = {}
  for _, about in ipairs { declaration.expect or {}, declaration.charts or {} } do
    for _, one in ipairs(about) do list[#list + 1] = one.y end
  end
  return list
end

-- given: { where, experiment } as the command line has them. Returns nil and the reason where the script skips the
-- point.
function subject.new(path, text, given)
  local self = setmetatable({ path = path, text = text, source = source.new(path, text) }, Subject)
  local declarations = self:declarations()
  self.number = chosen(declarations, path, given.experiment)
  local declaration = declarations[self.number]
  self.axes = sweep.override(declaration.axes or {}, script_axes, options.device)
  self.points = sweep.points(self.axes)
  -- No function of the script stays alive, and with it what it uses: each run makes them anew.
  self.name, self.columns, self.figures = declaration.name, declaration.columns, columns_of_claims(declaration)
  local why
  self.index, why = first_point(declaration, self.points, wanted_values(self.axes, given.where))
  if not self.index then return nil, why end
  return self
end

return subject
