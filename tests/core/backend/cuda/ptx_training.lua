-- Nets whose kernels are executed from nvcc's PTX train on gpu:0 as on the CPU; tests/proof runs it. What runs in the
-- place of cuBLASLt and cuDNN is the simulation's.
local gb = require "gpubench"
local models = require "models"
local testing = require "testing"
local workload = require "gpubench.zoo.workload"

local function digits(model)
  model:compile {
    optimizer = gb.optimizers.Adam { learning_rate = 0.001 }, loss = "categorical_crossentropy",
    metrics = { "accuracy" },
  }
  return model, gb.datasets.mnist("train"):batch(32)
end

local function zoo(name, options, batch_size)
  local model = gb.zoo[name](options)
  model:compile {
    optimizer = gb.optimizers.Adam { learning_rate = 1e-4 },
    loss = gb.losses.SparseCategoricalCrossentropy { from_logits = true },
  }
  return model, workload.batches(name, options, batch_size)
end

local nets = {
  { name = "M1", steps = 12, build = function() return digits(models.build "M1") end },
  { name = "M3", steps = 2, build = function() return digits(models.build "M3") end },
  { name = "GPT-2 with heads of 128", steps = 2, build = function()
    local options = { vocabulary = 96, context = 40, length = 40, width = 256, depth = 1, heads = 2, dropout = 0.1,
      attention_dropout = 0.1 }
    return zoo("gpt2_small", options, 2)
  end },
  -- The last layers normalize 4 values a channel, whose last bits grow: no comparison in 16 bits, a wider one in 32.
  { name = "ResNet-18", steps = 1, policies = { "float32" }, tolerance = 1e-4, build = function()
    return zoo("resnet18", { input_shape = { 32, 32, 3 }, classes = 10 }, 4)
  end },
}

local function losses(device, net, policy)
  gb.config.set_seed(3)
  return gb.device(device, function()
    gb.config.set_dtype_policy(policy)
    local model, batches = net.build()
    gb.config.set_dtype_policy "float32"
    local found = {}
    for x, y in batches:take(net.steps) do found[#found + 1] = model:train_on_batch(x, y).loss end
    return found
  end)
end

local policies = { "mixed_bfloat16", "float32", "mixed_float16" }
local tolerances = { float32 = 1e-5, mixed_bfloat16 = 2e-3, mixed_float16 = 1e-3 }

for _, net in ipairs(nets) do
  testing.case(net.name .. ": the losses of the CPU", function()
    for _, policy in ipairs(net.policies or policies) do
      local tolerance = net.tolerance or tolerances[policy]
      local start, expected, found = os.time(), losses("cpu:0", net, policy), losses("gpu:0", net, policy)
      local worst = 0
      for step = 1, net.steps do
        testing.near(found[step], expected[step], tolerance * expected[step])
        worst = math.max(worst, math.abs(found[step] / expected[step] - 1))
      end
      print(string.format("%s in %s: losses differ by at most %.1e, %d s", net.name, policy, worst, os.time() - start))
    end
  end)
end
