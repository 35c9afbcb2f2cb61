-- One step of ResNet-18 and of GPT-2 with heads of 64 and 128 numbers: the loss and the gradient of every weight on the
-- GPU against the CPU, through the kernels and engines that training takes. In float32 both are near. In mixed
-- bfloat16 both round, so the GPU may be as far from float32 as the CPU is. GPU_CHECK_SMALL: small nets.
local gb = require "gpubench"
local testing = require "testing"
local workload = require "gpubench.zoo.workload"

local small = os.getenv "GPU_CHECK_SMALL" ~= nil
local device = os.getenv "GPU_CHECK_DEVICE" or "gpu:0"
local float32_tolerance = 2e-3
-- Norms of differences, over that of the gradient or of a thousandth of all gradients: that of a key's bias is 0.
local least_norm = 1e-3
-- Of the CPU's distance from float32; what is near enough in any case; and what is too far for the middle one of all
-- gradients: one that is 0 has a distance of 1. A net of many normalizations multiplies what bfloat16 rounds.
local times_as_far, near_enough, too_far = 3, 5e-3, 0.8

local function gpt2(head, attention_dropout)
  local length, width = small and 24 or 128, small and 128 or 256
  return { vocabulary = small and 96 or 512, context = length, length = length, width = width, depth = 1,
    heads = width // head, dropout = 0.1, attention_dropout = attention_dropout }
end
local resnet18 = { input_shape = small and { 32, 32, 3 } or { 64, 64, 3 }, width = small and 16 or 64, classes = 10 }
local nets = {
  { name = "ResNet-18", net = "resnet18", options = resnet18 },
  { name = "GPT-2 with heads of 64", net = "gpt2_small", options = gpt2(64, 0) },
  { name = "GPT-2 with heads of 128", net = "gpt2_small", options = gpt2(128, 0) },
  { name = "GPT-2 with dropout of attention", net = "gpt2_small", options = gpt2(64, 0.1) },
}

local function norm(tensor) return math.sqrt((tensor * tensor):sum():item()) end

-- The loss of the first step, and the gradients by their weights' names. A rate of 1 takes each from its weight.
local function step(where, net, policy)
  gb.config.set_seed(7)
  local loss, names, before, after = nil, {}, {}, {}
  gb.device(where, function()
    gb.config.set_dtype_policy(policy)
    local model = gb.zoo[net.net](net.options)
    gb.config.set_dtype_policy "float32"
    model:compile { optimizer = gb.optimizers.SGD { learning_rate = 1 },
      loss = gb.losses.SparseCategoricalCrossentropy { from_logits = true } }
    for index, variable in ipairs(model.trainable_variables) do
      names[index], before[index] = variable.name, variable:to_table()
    end
    local batches = workload.batches(net.net, net.options, small and 4 or 8)
    for x, y in batches:take(1) do loss = model:train_on_batch(x, y).loss end
    for index, variable in ipairs(model.trainable_variables) do after[index] = variable:to_table() end
  end)
  return gb.device("cpu:0", function()
    local gradients = {}
    for index, value in ipairs(before) do gradients[index] = gb.tensor(value) - gb.tensor(after[index]) end
    return { loss = loss, names = names, gradients = gradients }
  end)
end

-- Of each gradient, how far it is from the one of `reference`.
local function distances(found, reference)
  return gb.device("cpu:0", function()
    local whole, list = 0, {}
    for _, gradient in ipairs(reference.gradients) do whole = whole + norm(gradient) ^ 2 end
    for index, gradient in ipairs(reference.gradients) do
      list[index] = norm(found.gradients[index] - gradient) / math.max(norm(gradient), least_norm * math.sqrt(whole))
    end
    return list
  end)
end

-- Fails with the gradient that is farthest beyond what it may be.
local function expect_near(names, far, allowed)
  local worst = 1
  for index in ipairs(far) do
    if not (far[index] / allowed(index) <= far[worst] / allowed(worst)) then worst = index end
    if far[worst] ~= far[worst] then break end
  end
  testing.is_true(far[worst] <= allowed(worst), string.format("the gradient of %s differs by %.2g, at most %.2g",
    names[worst], far[worst], allowed(worst)))
  return far[worst]
end

for _, net in ipairs(nets) do
  testing.case(net.name .. ": loss and gradients as on the CPU", function()
    local exact, found = step("cpu:0", net, "float32"), step(device, net, "float32")
    testing.near(found.loss, exact.loss, float32_tolerance * exact.loss)
    local most = expect_near(exact.names, distances(found, exact), function() return float32_tolerance end)
    local rounded, also_rounded = step("cpu:0", net, "mixed_bfloat16"), step(device, net, "mixed_bfloat16")
    testing.near(also_rounded.loss, rounded.loss, 0.01 * exact.loss)
    local far = distances(rounded, exact)
    local also_far = distances(also_rounded, exact)
    local in_bfloat16 = expect_near(exact.names, also_far, function(index)
      return math.max(times_as_far * far[index], near_enough)
    end)
    table.sort(also_far)
    testing.is_true(also_far[#also_far // 2 + 1] <= too_far, "gradients in bfloat16 like those in float32")
    print(string.format("%s: %d gradients; float32 differs by at most %.2g, bfloat16 by %.2g", net.name, #far, most,
      in_bfloat16))
  end)
end
