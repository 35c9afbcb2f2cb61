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
    :count_params { trainable = true }, 691539)
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

-- Products and convolutions of a step by hand: 2 flops for each multiplication, forward and the gradients of both
-- operands; the first layer's input has no gradient, and neither have tokens.
local function extent(size, stride) return (size + stride - 1) // stride end

local function resnet18_products(options, batch)
  local size = extent(options.input_shape[1], 2)
  local first = 2 * size * size * options.width * 49 * options.input_shape[3]
  size = extent(size, 2)
  local rest, channels = 0, options.width
  local function conv(side, inputs, outputs, kernel) rest = rest + 2 * side * side * inputs * outputs * kernel * kernel end
  for stage, blocks in ipairs { 2, 2, 2, 2 } do
    local filters = options.width << (stage - 1)
    for i = 1, blocks do
      if i == 1 and stage > 1 then
        size = extent(size, 2)
        conv(size, channels, filters, 1)
      end
      conv(size, channels, filters, 3)
      conv(size, filters, filters, 3)
      channels = filters
    end
  end
  conv(1, channels, options.classes, 1)
  return batch * (2 * first + 3 * rest)
end

local function gpt2_products(options, batch)
  local n, d, v = options.length, options.width, options.vocabulary
  local block = 2 * n * d * (3 * d + d + 4 * d + 4 * d)
  return batch * 3 * (options.depth * block + 2 * n * d * v)
end

-- Of all kernels of a step: products, convolutions and their gradients.
local function product_flops(model, input)
  local sum = 0
  for _, op in ipairs(model:profile(input, { steps = 1 }).ops) do
    if op.class == "products" then sum = sum + op.flops end
  end
  return sum
end

testing.case("flops of the products are those by hand", function()
  local options = { input_shape = { 32, 32, 3 }, width = 8, classes = 10 }
  local model = workload.compiled("resnet18", options, "float32")
  testing.near(product_flops(model, workload.batches("resnet18", options, 2)) / resnet18_products(options, 2), 1, 1e-3)
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
