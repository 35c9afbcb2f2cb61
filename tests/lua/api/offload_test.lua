-- Offload from a script: the same weights to the bit, in less memory of the device. On the first GPU, or on the second
-- of two logical CPU devices.
local gb = require "gpubench"
local testing = require "testing"

local device = gb.config.list_physical_devices("GPU")[1]
if not device then
  gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1, memory_limit = 256 << 20 } })
  device = "cpu:1"
end
local digits = gb.datasets.mnist("train"):batch(256)

local function build(options, policy)
  gb.config.set_seed(9)
  gb.config.set_dtype_policy(policy or "float32")
  local model = gb.device(device, function()
    local layers = {}
    for i = 1, 6 do
      layers[i] = gb.layers.Dense(64,
        { activation = "relu", input_shape = i == 1 and { 784 } or nil, name = "hidden_" .. i })
    end
    layers[7] = gb.layers.Dense(10, { activation = "softmax" })
    return gb.Sequential(layers)
  end)
  gb.config.set_dtype_policy "float32"
  options.optimizer, options.loss = "adam", "categorical_crossentropy"
  model:compile(options)
  return model
end

local function weights_of(options, policy, fit)
  local model = build(options, policy)
  fit = fit or { steps_per_epoch = 3, verbose = 0 }
  model:fit(digits, fit)
  return model:get_weights(), model
end

local function expect_equal(one, other)
  testing.equal(#one, #other)
  for i, weight in ipairs(one) do testing.equal((weight - other[i]):abs():max():item(), 0.0) end
end

for _, policy in ipairs { "float32", "mixed_bfloat16", "mixed_float16" } do
  testing.case(policy .. ": weights are those of a model that keeps all, to the bit", function()
    expect_equal(weights_of({ offload = true }, policy), weights_of({}, policy))
    expect_equal(weights_of({ offload = { "hidden_1", "hidden_2" }, offload_ahead = 2 }, policy),
      weights_of({}, policy))
  end)
end

testing.case("with accumulation and recomputation too", function()
  expect_equal(weights_of { offload = true, gradient_accumulation_steps = 4 },
    weights_of { gradient_accumulation_steps = 4 })
  local recompute = { "hidden_2", "hidden_4" }
  expect_equal(weights_of { offload = true, recompute = recompute }, weights_of { recompute = recompute })
end)

testing.case("a training that goes on from a file ends alike", function()
  local whole = weights_of({ offload = true }, nil, { epochs = 2, steps_per_epoch = 2, verbose = 0 })
  local path = gb._native.options.out .. "/results/offload.safetensors"
  os.remove(path)
  weights_of({ offload = true }, nil, { epochs = 1, steps_per_epoch = 2, verbose = 0, resume = path })
  expect_equal(weights_of({ offload = true }, nil,
    { epochs = 2, steps_per_epoch = 2, verbose = 0, resume = path }), whole)
  os.remove(path)
end)

testing.case("memory: the device's is what was predicted, the host's is named", function()
  local away = build { offload = true }
  local kept, less = build({}):memory(4096), away:memory(4096)
  testing.is_true(less.activations < 0.7 * kept.activations, less.activations .. " of " .. kept.activations)
  testing.is_true(less.total < kept.total)
  local planned = away:memory(256)
  testing.equal(kept.offloaded, 0)
  testing.is_true(planned.offloaded > 0)
  testing.equal(build({ offload = true, passes = { offload = false } }):memory(256).offloaded, 0)
  testing.contains(planned.text, "of the host's memory, where activations wait for their gradients")
  collectgarbage()
  collectgarbage()
  away:fit(digits, { steps_per_epoch = 1, verbose = 0 })
  local step = gb.memory.report(away).step
  testing.equal(step.total, planned.total)
  testing.equal(step.offloaded, planned.offloaded)
end)

testing.case("a row tells of the copies", function()
  local row = gb.device(device, function()
    return (gb.measure.training(build { offload = true }, digits, { budget = 0.1, min_time = 0.02 }))
  end)
  if device == "cpu:1" then testing.is_true(row.copy_share > 0) end
  testing.is_true(row.steps > 0)
end)

testing.case("what cannot be offloaded says why", function()
  local unknown = build { offload = { "conv" } }
  testing.raises("there is no layer 'conv' to offload (layers: hidden_1, hidden_2", unknown.memory, unknown, 256)
  testing.raises("a number of layers from 0 to 1000 is expected, got -1", build, { offload = true, offload_ahead = -1 })
  testing.raises("in graph execution only, and eager was asked for", build, { offload = true, execution = "eager" })
  local here = gb.device("cpu:0",
    function() return gb.Sequential { gb.layers.Dense(10, { input_shape = { 784 } }) } end)
  here:compile { optimizer = "sgd", loss = "mean_squared_error", offload = true }
  testing.raises("all its layers are on cpu:0, which is the host; place it on a GPU", here.memory, here, 64)
end)
