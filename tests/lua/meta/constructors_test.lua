-- Every constructor of the reference names itself where it refuses an option: gb.layers.Dense, gb.optimizers.Adam,
-- gb.callbacks.EarlyStopping, gb.Model. Constructors are the functions whose names have a capital.
local gb = require "gpubench"
local documented = require "gpubench.reference.documented"
local testing = require "testing"

local native = gb._native
local doc = documented.read(native.system.scripts_in(native.system.resource "lua/meta"))

-- What constructors need, by the name of the option.
local minimal = {
  units = 1, filters = 1, kernel_size = 1, input_dim = 2, output_dim = 1, rate = 0.5, stddev = 0.5, n = 1,
  target_shape = { 1 }, dims = { 1 }, num_heads = 1, key_dim = 1, head_dim = 1, num_query_heads = 1,
  num_key_value_heads = 1, factor = 0.5, height = 2, width = 2, scale = 1, pool_size = 1, activation = "relu",
  num_tokens = 2, num_bins = 2, shape = { 1 }, axes = 1, groups = 1, path = "x", filepath = "x", filename = "x",
  mean = 0, variance = 1, num_classes = 2, decay_steps = 1, decay_rate = 0.5, initial_learning_rate = 0.1,
  first_decay_steps = 1, boundaries = { 1 }, value = 1, target_class_ids = { 0 }, threshold = 0.5, epochs = 1,
  final_sparsity = 0.5, end_step = 1, target_sparsity = 0.5, num_thresholds = 3,
}
local made = {
  layer = function() return gb.layers.LSTM(1) end,
  cell = function() return gb.layers.LSTMCell(1) end,
  cells = function() return { gb.layers.LSTMCell(1) } end,
  ["function"] = function() return function(x) return x end end,
  teacher = function() return gb.Sequential { gb.layers.Dense(1, { input_shape = { 1 } }) } end,
  inputs = function() return gb.Input { 1 } end,
  outputs = function() return gb.Input { 1 } end,
}

local function value_of(option)
  if made[option] then return made[option]() end
  return minimal[option]
end

-- The options of a class and of those that it extends.
local function fields_of(name)
  local fields, class = {}, doc.classes[name]
  while class do
    for _, field in ipairs(class.fields) do
      if type(field.name) == "string" and field.name:find "^[%a_]" then fields[#fields + 1] = field.name end
    end
    class = class.base and doc.classes[class.base]
  end
  return fields
end

local function member(path)
  local found = gb
  for part in path:gmatch "[%w_]+" do found = found[part] end
  return found
end

local function options_class(entry)
  local first = entry.params[1]
  return first and first.type:match "([%w_]+Options)"
end

-- Options that make the object, with this one; `made` adds what errors say is missing.
local function call_with(make, given)
  local options = {}
  for name, value in pairs(given) do options[name] = value end
  local ok, message
  for _ = 1, 8 do
    ok, message = pcall(make, options)
    local missing = not ok and message:match "option '([%w_]+)' is required"
    if not missing or options[missing] ~= nil or value_of(missing) == nil then break end
    options[missing] = value_of(missing)
  end
  return ok, message
end

-- No option takes the first; others may.
local odd = {
  coroutine.create(print), -1, -7.5, 0 / 0, math.huge, 1 << 62, "no such", { "no such" }, { -1, -1 }, false,
}

local function odd_text(value) return type(value) == "thread" and "a thread" or testing.show(value) end

local constructors = {}
for _, entry in ipairs(doc.functions) do
  local path = entry.name:match "^gb%.(.*)$"
  if path and path:match "([%w_]+)$":find "^%u" then
    constructors[#constructors + 1] = { path = path, entry = entry }
  end
end

testing.case("the reference has constructors", function() testing.is_true(#constructors > 150) end)

for _, constructor in ipairs(constructors) do
  local name, make = "gb." .. constructor.path, member(constructor.path)
  testing.case(name .. " names itself in its errors", function()
    local function expect_name(message, what)
      testing.is_true(message:find(name .. ": ", 1, true), what .. ": " .. message)
    end
    local class = options_class(constructor.entry)
    if not class then
      local ok, message = pcall(make, coroutine.create(print))
      testing.is_true(not ok or #constructor.entry.params == 0, name .. " takes a thread")
      if not ok then expect_name(message, "a thread") end
      return
    end
    local ok, message = call_with(make, { no_such_option = 1 })
    testing.is_true(not ok, "an unknown option is taken")
    expect_name(message, "an unknown option")
    testing.contains(message, "no_such_option")
    for _, option in ipairs(fields_of(class)) do
      for index, value in ipairs(odd) do
        ok, message = call_with(make, { [option] = value })
        local what = string.format("%s { %s = %s }", name, option, odd_text(value))
        if index == 1 then testing.is_true(not ok, what) end
        if not ok then expect_name(message, what) end
        if index == 1 then testing.contains(message, option) end
      end
    end
  end)
end
