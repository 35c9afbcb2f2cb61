-- An axis: a name and the values that a sweep goes through, in this order. Some know what else the command line may
-- set.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local missing_gpus = require "gpubench.missing_gpus"
local native = gb._native

local axis = {}

local fields = { { "closed", "boolean" }, { "accepts", "function" } }

local function check_values(where, values)
  if #values == 0 then check.fail("%s: at least one value is needed", where) end
  local seen = {}
  for index, value in ipairs(values) do
    check.kind(string.format("%s: value %d", where, index), value, "number|string|boolean")
    if value ~= value then check.fail("%s: value %d is not a number (nan)", where, index) end
    if seen[value] then check.fail("%s: the value %s is there twice", where, tostring(value)) end
    seen[value] = true
  end
end

local function is_among(values)
  local texts, known = {}, {}
  for index, value in ipairs(values) do texts[index], known[value] = tostring(value), true end
  return function(value) return known[value] == true, table.concat(texts, ", ") end
end

-- accepts(value): whether the axis can have it, and what it can have, in words. A closed axis has its own values alone.
function axis.new(name, values, options)
  check.kind("gb.axis: argument #1", name, "string")
  if not name:find "^[%a_][%w_]*$" then
    check.fail("gb.axis: '%s' cannot name a column: letters, digits and '_', no digit first", name)
  end
  check.kind("gb.axis: argument #2", values, "array")
  local where = "gb.axis '" .. name .. "'"
  check_values(where, values)
  options = check.options(where, options or {}, fields)
  if options.closed and options.accepts then check.fail("%s: option 'closed' leaves nothing to 'accepts'", where) end
  local own = table.move(values, 1, #values, 1, {})
  return { name = name, values = own, accepts = options.closed and is_among(own) or options.accepts }
end

function axis.is(value)
  return type(value) == "table" and type(value.name) == "string" and type(value.values) == "table"
end

local readers = {
  number = function(text) return math.tointeger(tonumber(text)) or tonumber(text) end,
  boolean = function(text) return ({ ["true"] = true, ["false"] = false })[text] end,
  string = function(text) return text end,
}

-- A value given as text takes the first type among the axis' own values that can hold it.
local function read(own, text)
  local example
  for _, kind in ipairs { "number", "boolean", "string" } do
    for _, value in ipairs(own.values) do
      if type(value) == kind then
        local result = readers[kind](text)
        if result ~= nil then return result end
        example = value
      end
    end
  end
  -- What the axis accepts says more than a type.
  if own.accepts then return text end
  check.fail("--set %s=%s: a %s is expected, such as %s", own.name, text, type(example), tostring(example))
end

local function whole_from_1(value)
  return math.type(value) == "integer" and value >= 1, "whole numbers from 1"
end

-- Devices of this machine. A name with a plus is the script's own word for several.
local function device_of_machine(name)
  if type(name) ~= "string" or name:find("+", 1, true) then return true end
  local is_name, can_place = native.protect(native.can_place, name)
  if is_name and can_place then return true end
  local possible = missing_gpus()
  table.insert(possible, 1, table.concat(gb.devices(), ", "))
  table.insert(possible, string.format("emulated:NAME:0 to emulated:NAME:7, with the names %s, and custom",
    table.concat(native.emulation.profiles(), ", ")))
  return false, table.concat(possible, "; ")
end

-- What axes of these names can have, where the script says nothing else.
local usual = { batch_size = whole_from_1, concurrency = whole_from_1, device = device_of_machine }

local function read_accepted(own, text)
  local value = read(own, text)
  local accepts = own.accepts or not is_among(own.values)(value) and usual[own.name] or nil
  if accepts then
    local ok, possible = accepts(value)
    if not ok then check.fail("--set %s=%s: possible: %s", own.name, text, possible) end
  end
  return value
end

local most_values = 100000

local function has_numbers(own)
  for _, value in ipairs(own.values) do
    if type(value) == "number" then return true end
  end
  return false
end

-- Ranges of numbers: "1..4" is 1, 2, 3, 4; "1..1024*2" is 1, 2, 4, ... 1024; "0..1+0.25" is 0, 0.25, ... 1. Nil for
-- other text.
local function range_of(own, text)
  local first, last, how, step = text:match "^(-?[%d.eE]+)%.%.(-?[%d.eE]+)([*+]?)(.*)$"
  first, last = readers.number(first or ""), readers.number(last or "")
  if not first or not last then return nil end
  step = how == "" and step == "" and 1 or readers.number(step)
  local factor = how == "*"
  if how == "" then how = "+" end
  if not step or first > last or (factor and (step <= 1 or first <= 0)) or (not factor and step <= 0) then
    check.fail("--set %s=%s: a range rises: 1..8, 1..1024*2 with a factor above 1, or 0..1+0.25 with a step above 0",
      own.name, text)
  end
  local values, value = {}, first
  local end_value = last + (factor and 0 or step * 1e-9)  -- of steps that no float holds exactly
  while value <= end_value do
    values[#values + 1] = value
    if #values > most_values then check.fail("--set %s=%s: more than %d values", own.name, text, most_values) end
    local next_value = factor and value * step or first + #values * step
    if next_value <= value then break end  -- it wrapped around, or the step is too small for a float
    value = math.type(next_value) == "float" and math.tointeger(next_value) or next_value
  end
  return values
end

-- The axis with its values replaced by texts from the command line.
function axis.override(own, texts)
  local values = {}
  for _, text in ipairs(texts) do
    local range = has_numbers(own) and range_of(own, text)
    for _, value in ipairs(range or { text }) do
      values[#values + 1] = read_accepted(own, tostring(value))
    end
  end
  check_values("--set " .. own.name, values)
  return { name = own.name, values = values, accepts = own.accepts }
end

return axis
