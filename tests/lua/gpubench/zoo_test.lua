-- gb.zoo: the published numbers of parameters, flops by hand, and that small ones train.
local gb = require "gpubench"
local testing = require "testing"
local workload = require "gpubench.zoo.workload"

local published = {
  bert_small = 28763648, gpt2_small = 124439808, lstm_text = 2757761, mobilenet_v2 = 3504872, resnet18 = 11689512,
  resnet50 = 25557032,
}

for name, parameters in pairs(published) do
  testing.case(name .. " has the published number of parameters", function()
    testing.equal(gb.zoo[name]():count_params { trainable = true }, parameters)
    testing.equal(gb.zoo[name] {}.name, name)
  end)
end

testing.case("sizes are arguments", function()
  local model = gb.zoo.resnet18 { input_shape = { 32, 32, 1 }, classes = 3, width = 8, blocks = { 1, 1 } }
  testing.equal(model(gb.zeros { 2, 32, 32, 1 }).shape, { 2, 3 })
  testing.equal(gb.zoo.mobilenet_v2 { input_shape = { 32, 32, 3 }, classes = 3, alpha = 0.5, dropout = 0 }
    :count_params { trainable = true }, 691523)
  testing.equal(gb.zoo.gpt2_small { vocabulary = 11, context = 5, width = 8, depth = 1, heads = 2 }
    :predict(gb.zeros({ 2, 5 }, { dtype = "int32" })).shape, { 2, 5, 11 })
  testing.raises("gb.zoo.resnet50: unknown option 'depth' (known: blocks, classes, input_shape, width)", gb.zoo.resnet50,
    { depth = 3 })
  testing.raises("gb.zoo.resnet50: option 'classes': integer expected, got string", gb.zoo.resnet50, { classes = "x" })
  testing.raises("gb.zoo.lstm_text: option 'units': a size is expected, got -1", gb.zoo.lstm_text, { units = -1 })
  testing.raises("gb.zoo.gpt2_small: 'heads' must divide 'width', got 5 heads and a width of 768", gb.zoo.gpt2_small,
    { heads = 5 })
  testing.raises("gb.zoo.bert_small: a 'length' of 600 is beyond the 'context' of 512", gb.zoo.bert_small, { length = 600 })
end)

-- Flops by hand of one more example in a step: 2 for each multiplication of a product, forward and for the gradients of both
-- operands (an image and tokens have none); 18 for each normalized number (7 forward, 11 back), 2 for each relu and sum.
local function extent(size, stride) return (size + stride - 1) // stride end

local function resnet_flops(options, blocks, bottleneck)
  local width, size = options.width, extent(options.input_shape[1], 2)
  local flops, channels = 0, width
  local function conv(side, inputs, outputs, kernel, gradients)
    flops = flops + (1 + (gradients or 2)) * 2 * side * side * inputs * outputs * kernel * kernel + 18 * side * side * outputs
  end
  local function elementwise(side, outputs) flops = flops + 2 * side * side * outputs end
  conv(size, options.input_shape[3], width, 7, 1)
  elementwise(size, width)
  size = extent(size, 2)
  for stage, count in ipairs(blocks) do
    local filters = width << (stage - 1)
    local outputs = bottleneck and 4 * filters or filters
    for i = 1, count do
      local before = size
      if i == 1 and stage > 1 then size = extent(size, 2) end
      if channels ~= outputs then conv(size, channels, outputs, 1) end
      if bottleneck then
        conv(before, channels, filters, 1)
        elementwise(before, filters)
        conv(size, filters, filters, 3)
        conv(size, filters, outputs, 1)
      else
        conv(size, channels, filters, 3)
        conv(size, filters, filters, 3)
      end
      elementwise(size, filters)
      elementwise(size, outputs) -- relu
      elementwise(size, outputs) -- the sum and, in the gradient, the sum at the block's input
      channels = outputs
    end
  end
  return flops + 3 * 2 * channels * options.classes
end

-- Without attention of the heads, normalization and activations.
local function gpt2_flops(options)
  local n, d = options.length, options.width
  return 3 * (options.depth * 2 * n * 12 * d * d + 2 * n * d * options.vocabulary)
end

local function counted_flops(name, options)
  local flops = {}
  for i = 1, 2 do
    local model = workload.compiled(name, options, "float32")
    local row = gb.measure.training(model, workload.batches(name, options, 2 * i), { budget = 0.01, min_time = 0.001, warmup = 0.01 })
    flops[i] = row.flops_per_step
  end
  return (flops[2] - flops[1]) / 2
end

testing.case("flops are those by hand", function()
  local options = workload.options("resnet18", true)
  testing.near(counted_flops("resnet18", options) / resnet_flops(options, { 2, 2, 2, 2 }), 1, 2e-3)
  options = workload.options("resnet50", true)
  testing.near(counted_flops("resnet50", options) / resnet_flops(options, { 3, 4, 6, 3 }, true), 1, 2e-3)
  options = workload.options("gpt2_small", true)
  local ratio = counted_flops("gpt2_small", options) / gpt2_flops(options)
  testing.is_true(ratio >= 1 and ratio < 1.08, tostring(ratio))
end)

testing.case("the memory of a step is the planned one, to the byte", function()
  local options = workload.options("resnet18", true)
  local model = workload.compiled("resnet18", options, "float32")
  local input = workload.batches("resnet18", options, 4)
  collectgarbage()
  local before = gb.config.memory_info().in_use
  local weights = model:memory(input).variables
  local row = gb.measure.training(model, input, { budget = 0.01, min_time = 0.001, warmup = 0.01 })
  -- Weights and metrics are there already; what other cases left is no part of the plan.
  testing.is_true(weights > 0)
  testing.is_true(row.peak_memory_bytes - model:memory(input).total <= before, "more than planned")
end)

for _, name in ipairs(workload.names) do
  testing.case(name .. ": a small one trains, as planned, in both precisions", function()
    local options = workload.options(name, true)
    for _, precision in ipairs { "float32", "mixed_bfloat16" } do
      gb.config.set_seed(1)
      local model = workload.compiled(name, options, precision)
      local input = workload.batches(name, options, 4):take(1):cache()
      local history = model:fit(input:repeated(12), { epochs = 2, verbose = 0 }).history
      testing.is_true(history.loss[2] < history.loss[1], string.format("%s %g %g", precision, history.loss[1], history.loss[2]))
      testing.is_true(model:memory(input).total > 0)
    end
  end)
end
