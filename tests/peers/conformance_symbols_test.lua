-- gpubench against Keras (reference_symbols_values.lua, written by reference_symbols.py): operators on symbols, a shared
-- layer, an activation that is a function, Lambda, a custom layer, and two outputs with losses by name.
local gb = require "gpubench"
local testing = require "testing"
local reference = dofile "tests/peers/reference_symbols_values.lua"

local function close(actual, expected, tolerance)
  if type(actual) == "userdata" then actual = actual:to_table() end
  if type(expected) == "number" then return testing.near(actual, expected, tolerance * math.max(1, math.abs(expected))) end
  testing.equal(#actual, #expected)
  for index, item in ipairs(expected) do close(actual[index], item, tolerance) end
end

local function scaled()
  return gb.layers.custom {
    name = "scaled",
    build = function(self, shape)
      self.scale = self:add_weight { name = "scale", shape = { shape[#shape] }, initializer = "ones" }
    end,
    call = function(self, x) return x * self.scale end,
  }
end

local function build(options)
  local a, b = gb.Input { 3 }, gb.Input { 3 }
  local shared = gb.layers.Dense(4, { name = "shared", activation = function(x) return x:maximum(0.1 * x) end })
  local first, second = shared(a), shared(b)
  local joined = gb.concat({ first * 2 - second, first:mean(-1, true) }, -1)
  local last = scaled()(joined)
  local squashed = gb.layers.Lambda(function(x) return x / (1 + x:abs()) end)(last)
  local model = gb.Model { inputs = { a, b }, outputs = {
    gb.layers.Dense(2, { name = "points" })(squashed), gb.layers.Dense(3, { name = "kind", activation = "softmax" })(-last),
  } }
  options.optimizer = gb.optimizers.SGD { learning_rate = 0.1 }
  options.loss = { points = "mse", kind = "sparse_categorical_crossentropy" }
  options.metrics = { kind = { "accuracy" } }
  model:compile(options)
  -- Keras orders weights by depth, gpubench by the calls: they are matched by name.
  local start, after, known = {}, {}, {}
  for i, name in ipairs(reference.names) do known[name] = i end
  for i, variable in ipairs(model.variables) do
    start[i], after[i] = gb.tensor(reference.start[known[variable.name]]), reference.after[known[variable.name]]
  end
  model:set_weights(start)
  return model, after
end

local a, b = gb.tensor(reference.a), gb.tensor(reference.b)
local labels = { gb.tensor(reference.points), gb.tensor(reference.kinds, { dtype = "int64" }) }

testing.case("predictions and parameters", function()
  local model = build {}
  testing.equal(model:count_params(), reference.parameters)
  for i, output in ipairs(model { a, b }) do close(output, reference.predicted[i], 1e-5) end
end)

for _, options in ipairs { {}, { execution = "eager" }, { gradient_accumulation_steps = 2 }, { recompute = { "lambda" } } } do
  testing.case("training, " .. testing.show(options), function()
    local copy = {}
    for name, value in pairs(options) do copy[name] = value end
    local model, after = build(copy)
    local history = model:fit({ a, b }, labels, { batch_size = 6, epochs = 2, shuffle = false, verbose = 0 }).history
    for name, figures in pairs(reference.history) do close(history[name], figures, 1e-5) end
    for i, weight in ipairs(model:get_weights()) do close(weight, after[i], 1e-5) end
  end)
end
