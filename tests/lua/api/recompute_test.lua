-- Recomputation from a script: the same weights, in less memory, by names or by a budget.
local gb = require "gpubench"
local testing = require "testing"

local function build(options)
  gb.config.set_seed(9)
  local layers = {}
  for i = 1, 20 do
    layers[i] = gb.layers.Dense(64,
      { activation = "relu", input_shape = i == 1 and { 784 } or nil, name = "hidden_" .. i })
  end
  layers[21] = gb.layers.Dense(10, { activation = "softmax" })
  local model = gb.Sequential(layers)
  options.optimizer, options.loss = gb.optimizers.SGD { learning_rate = 0.1 }, "categorical_crossentropy"
  model:compile(options)
  return model
end

local digits = gb.datasets.mnist("train"):batch(512)
local whole = build {}

testing.case("by names: weights are those of a model that keeps all, activations at most half", function()
  local names = {}
  for i = 1, 20 do
    if i % 4 ~= 0 then names[#names + 1] = "hidden_" .. i end
  end
  local less = build { recompute = names }
  testing.is_true(less:memory(512).activations <= 0.5 * whole:memory(512).activations)
  for _, model in ipairs { whole, less } do model:fit(digits, { steps_per_epoch = 2, verbose = 0 }) end
  for i, weights in ipairs(whole:get_weights()) do
    testing.is_true((weights - less:get_weights()[i]):abs():max():item() < 1e-6)
  end
  local one, other = (gb.measure.training(whole, digits, { budget = 0.4, min_time = 0.01 })),
    (gb.measure.training(less, digits, { budget = 0.4, min_time = 0.01 }))
  testing.equal(other.flops_per_step, one.flops_per_step)  -- what is computed again is no work of the model's
end)

testing.case("by a budget: what was asked for is kept to", function()
  local budget = whole:memory(512).total * 7 // 10
  local less = build { recompute_budget = budget }
  testing.is_true(less:memory(512).total <= budget)
  less:fit(digits, { steps_per_epoch = 1, verbose = 0 })
  testing.equal(gb.memory.report(less).step.total, less:memory(512).total)
end)

testing.case("names of layers may have slashes", function()
  local function arena(options)
    local layers = {}
    for i = 1, 8 do
      layers[i] = gb.layers.Dense(64,
        { activation = "relu", input_shape = i == 1 and { 64 } or nil, name = "block/" .. i })
    end
    layers[9] = gb.layers.Dense(10, { activation = "softmax" })
    local model = gb.Sequential(layers)
    options.optimizer, options.loss = "sgd", "categorical_crossentropy"
    model:compile(options)
    return model:memory(4096).activations
  end
  testing.is_true(arena { recompute = { "block/1", "block/2", "block/3", "block/5", "block/6", "block/7" } } < arena {})
end)

testing.case("what cannot be recomputed says why", function()
  local unknown = build { recompute = { "conv" } }
  testing.raises("there is no layer 'conv' to recompute (layers: hidden_1, hidden_2", unknown.memory, unknown, 512)
  local small = build { recompute_budget = 1 << 20 }
  testing.raises("no choice of layers to recompute brings a training step within recompute_budget = 1 MiB; the",
    small.fit, small, digits, { steps_per_epoch = 1, verbose = 0 })
  testing.raises("names of layers are expected, or a budget", build,
    { recompute = { "hidden_1" }, recompute_budget = 1 })
end)
