-- gb.zoo: the published numbers of parameters, flops by hand, and that small ones train.
local gb = require "gpubench"
local testing = require "testing"
local workload = require "gpubench.zoo.workload"

local published = {
  bert_small = 28763648, gpt2_small = 124439808, llama_small = 134515008, lstm_text = 2757761, mobilenet_v2 = 3504872,
  mobilenet_v3 = 5483032, resnet18 = 11689512, resnet50 = 25557032, unet = 31030658,
  vgg16 = 138357544, vit_b16 = 86567656,
}

for name, parameters in pairs(published) do
  testing.case(name .. " has the published number of parameters", function()
    testing.equal(gb.zoo[name]():count_params { trainable = true }, parameters)
    testing.equal(gb.zoo[name] {}.name, name)
  end)
end

testing.case("mobilenet_v3 has the numbers of Keras, which counts statistics of normalizations", function()
  testing.equal(gb.zoo.mobilenet_v3():count_params(), 5507432)
  local small = gb.zoo.mobilenet_v3 { model_type = "small" }
  testing.equal({ small:count_params(), small:count_params { trainable = true } }, { 2554968, 2542856 })
  testing.raises("gb.zoo.mobilenet_v3: option 'model_type': 'large' or 'small' expected, got 'tiny'",
    gb.zoo.mobilenet_v3, { model_type = "tiny" })
end)

testing.case("sizes are arguments", function()
  local model = gb.zoo.resnet18 { input_shape = { 32, 32, 1 }, classes = 3, width = 8, blocks = { 1, 1 } }
  testing.equal(model(gb.zeros { 2, 32, 32, 1 }).shape, { 2, 3 })
  testing.equal(gb.zoo.mobilenet_v2 { input_shape = { 32, 32, 3 }, classes = 3, alpha = 0.5, dropout = 0 }
    :count_params { trainable = true }, 691523)
  testing.equal(gb.zoo.mobilenet_v3 { input_shape = { 32, 32, 3 }, classes = 3, alpha = 0.75, dropout = 0 }
    :count_params(), 2735459)
  testing.equal(gb.zoo.vgg16 { input_shape = { 8, 8, 1 }, classes = 3, width = 2, units = 5, blocks = { 1, 2 },
    dropout = 0 }:count_params(), 20 + (76 + 148) + (16 * 5 + 5) + 30 + 18)
  testing.equal(gb.zoo.unet { classes = 1 }:count_params(), 31030593)
  local unet = gb.zoo.unet()
  testing.equal(unet.outputs[1].shape, { 388, 388, 2 })
  testing.equal(gb.zoo.unet { input_shape = { 16, 24, 3 }, classes = 5, width = 2, depth = 3, padding = "same" }
    :predict(gb.zeros { 2, 16, 24, 3 }).shape, { 2, 16, 24, 5 })
  testing.equal(gb.zoo.unet { input_shape = { 44, 48, 1 }, width = 2, depth = 2, dropout = 0 }
    :predict(gb.zeros { 2, 44, 48, 1 }).shape, { 2, 4, 8, 2 })
  testing.equal(gb.zoo.vit_b16 { input_shape = { 4, 6, 1 }, classes = 3, patch = 2, width = 8, depth = 1, heads = 2 }
    :predict(gb.zeros { 2, 4, 6, 1 }).shape, { 2, 3 })
  testing.equal(gb.zoo.gpt2_small { vocabulary = 11, context = 5, width = 8, depth = 1, heads = 2 }
    :predict(gb.zeros({ 2, 5 }, { dtype = "int32" })).shape, { 2, 5, 11 })
  local llama = { vocabulary = 11, context = 5, width = 8, hidden = 6, depth = 1, heads = 2, key_value_heads = 1 }
  testing.equal(gb.zoo.llama_small(llama):predict(gb.zeros({ 2, 5 }, { dtype = "int32" })).shape, { 2, 5, 11 })
  local tied = gb.zoo.llama_small(llama):count_params()
  testing.equal(tied, 11 * 8 + 2 * 8 * 8 + 2 * 8 * 4 + 3 * 8 * 6 + 3 * 8)
  llama.tied = false
  testing.equal(gb.zoo.llama_small(llama):count_params(), tied + 8 * 11)
  testing.raises("gb.zoo.resnet50: unknown option 'depth' (known: blocks, classes, input_shape, width)",
    gb.zoo.resnet50,
    { depth = 3 })
  testing.raises("gb.zoo.resnet50: unknown option 'clases' (did you mean 'classes'?) (known: ", gb.zoo.resnet50,
    { clases = 3 })
  testing.raises("gb.zoo.resnet50: option 'classes': integer expected, got string", gb.zoo.resnet50, { classes = "x" })
  testing.raises("gb.zoo.lstm_text: option 'units': from 1 to 65536 is expected, got -1", gb.zoo.lstm_text,
    { units = -1 })
  testing.raises("gb.zoo.vgg16: option 'dropout': a number at least 0 and below 1 is expected, got -0.5",
    gb.zoo.vgg16, { dropout = -0.5 })
  testing.raises("gb.zoo.vgg16: option 'blocks': a list of integers from 1 to 1000 is expected, got a in it",
    gb.zoo.vgg16, { blocks = { 1, "a" } })
  testing.raises("gb.zoo.vgg16: option 'blocks': a list of integers from 1 to 1000 is expected, got -1 in it",
    gb.zoo.vgg16, { blocks = { -1 } })
  testing.raises("gb.zoo.unet: option 'input_shape': { height, width, channels } expected, got 1 sizes", gb.zoo.unet,
    { input_shape = { 32 } })
  testing.raises("gb.zoo.gpt2_small: 'heads' must divide 'width', got 5 heads and a width of 768", gb.zoo.gpt2_small,
    { heads = 5 })
  testing.raises("gb.zoo.llama_small: 'key_value_heads' must divide 'heads', got 2 and 9", gb.zoo.llama_small,
    { key_value_heads = 2 })
  testing.raises("gb.zoo.llama_small: pairs of a head's channels are turned: 'width' / 'heads' must be even, got 9 / 3",
    gb.zoo.llama_small, { width = 9, heads = 3 })
  testing.raises("gb.zoo.unet: option 'padding': 'valid' or 'same' expected, got 'full'", gb.zoo.unet,
    { padding = "full" })
  testing.raises("gb.zoo.unet: a side of 570 cannot be halved 4 times with padding 'valid'; the next that can is 572",
    gb.zoo.unet, { input_shape = { 572, 570, 1 } })
  testing.raises("gb.zoo.unet: a side of 40 cannot be halved 4 times with padding 'same'; the next that can is 48",
    gb.zoo.unet, { input_shape = { 40, 48, 1 }, padding = "same" })
  testing.raises("gb.zoo.vit_b16: 'heads' must divide 'width', got 5 heads and a width of 768", gb.zoo.vit_b16,
    { heads = 5 })
  testing.raises("gb.zoo.vit_b16: 'patch' must divide both sides of an image, got 16 and an image of 32 x 30",
    gb.zoo.vit_b16, { input_shape = { 32, 30, 3 } })
  testing.raises("gb.zoo.bert_small: a 'length' of 600 is beyond the 'context' of 512", gb.zoo.bert_small,
    { length = 600 })
end)

-- The options of a function of gb.zoo with the kinds of their values, from the error that lists them and those that
-- name a kind.
local function options_of(make)
  local _, listed = pcall(make, { no_such_option = 1 })
  local kinds = {}
  for name in listed:match "known: (.*)%)":gmatch "[%w_]+" do
    local _, wrong = pcall(make, { [name] = print })
    kinds[name] = wrong:match "option '[%w_]+': (%w+) expected, got function"
  end
  return kinds
end

-- Values that no option of a kind takes, each with what the error must say of it.
local wrong_values = {
  integer = { -1, math.mininteger, math.maxinteger, 1 << 40, 0.5, 0 / 0, math.huge, "3", true, { 1 } },
  number = { -1, -0.5, 1e300, 1e40, 0 / 0, math.huge, -math.huge, "0.5", true, { 0.5 } },
  array = { 3, 0.5, "3", true, { 0, 0, 0 }, { -1, 8, 8 }, { 1 << 40, 8, 8 }, { 8, 8.5, 8 }, { 8, 8, "8" },
    { 8, { 8 }, 8 }, { a = 8 } },
  string = { 3, true, "", "no such", { "x" } },
  boolean = { 0, 1, "true", { true } },
}
local may_be_zero = { depth = true, length = { gpt2_small = true, bert_small = true, llama_small = true },
  classes = { bert_small = true } }

testing.case("every option of every net refuses values that make no net, and says what is possible", function()
  local tried = {}
  for name, make in pairs(gb.zoo) do
    for option, kind in pairs(name == "generator" and {} or options_of(make)) do
      local values = { table.unpack(wrong_values[kind]) }
      local zero = may_be_zero[option]
      if kind == "integer" and zero ~= true and not (zero and zero[name]) then values[#values + 1] = 0 end
      if kind == "number" and not option:find "dropout" then values[#values + 1] = 0 end
      if kind == "number" and option:find "dropout" then values[#values + 1] = 1 end
      for _, value in ipairs(values) do
        local made, message = pcall(make, { [option] = value })
        local what = string.format("gb.zoo.%s { %s = %s }", name, option, testing.show(value))
        testing.is_true(not made, what)
        testing.contains(message, "gb.zoo." .. name .. ": ")
        testing.contains(message, "'" .. option .. "'")
        testing.is_true(message:find "expected", what .. ": " .. message)
      end
      tried[#tried + 1] = option
    end
  end
  testing.is_true(#tried > 60, "options")
  testing.raises("gb.zoo.unet: option 'depth': from 0 to 12 is expected, got 70", gb.zoo.unet, { depth = 70 })
  testing.raises("gb.zoo.unet: option 'classes': integer expected, got 0.5", gb.zoo.unet, { classes = 0.5 })
  testing.raises("gb.zoo.vgg16: option 'blocks': its length: from 1 to 16 is expected, got 0", gb.zoo.vgg16,
    { blocks = {} })
end)

-- Flops by hand of one more example in a step, layer by layer. A product takes 2 for each multiplication, forward and
-- for the gradient of each operand that has one (images and tokens have none); what its epilogue adds is part of it.
local function product(multiplications, gradients) return (1 + (gradients or 2)) * 2 * multiplications end

-- Softmax and cross entropy take 5 for each of a row's scores and 1 in the gradient; the mean adds each row's loss.
local function loss_flops(rows, classes) return rows + (5 + 1) * rows * classes end

local function extent(size, stride) return (size + stride - 1) // stride end

local function resnet_flops(options, blocks, bottleneck)
  local width, size = options.width, extent(options.input_shape[1], 2)
  local function conv(side, inputs, outputs, kernel, gradients) -- normalized: 7 forward, 11 in the gradient
    return product(side * side * inputs * outputs * kernel * kernel, gradients) + 18 * side * side * outputs
  end
  local function relu(side, channels) return 2 * side * side * channels end
  local flops = conv(size, options.input_shape[3], width, 7, 1) + relu(size, width)
  -- The pool compares 9 numbers; its gradient has the size of its padded input.
  local before, channels = size + 2, width
  size = extent(size, 2)
  flops = flops + 9 * size * size * width + before * before * width
  for stage, count in ipairs(blocks) do
    local filters = width << (stage - 1)
    local outputs = bottleneck and 4 * filters or filters
    for i = 1, count do
      before = size
      if i == 1 and stage > 1 then size = extent(size, 2) end
      if channels ~= outputs then flops = flops + conv(size, channels, outputs, 1) end
      if bottleneck then
        flops = flops + conv(before, channels, filters, 1) + relu(before, filters) + conv(size, filters, filters, 3)
          + relu(size, filters) + conv(size, filters, outputs, 1)
      else
        flops = flops + conv(size, channels, filters, 3) + relu(size, filters) + conv(size, filters, filters, 3)
      end
      flops = flops + relu(size, outputs) + size * size * outputs -- the sum with the short cut
        + before * before * channels -- and that of both gradients
      channels = outputs
    end
  end
  return flops + 2 * size * size * channels -- the mean over the image, and its gradient
    + product(channels * options.classes) + options.classes -- the bias's gradient
    + loss_flops(1, options.classes)
end

local function gpt2_flops(options)
  local n, d, hidden = options.length, options.width, 4 * options.width
  local pairs_seen = n * (n + 1) // 2 -- each token sees itself and those before it
  local normalized = (7 + 12) * n * d
  local dropped = 2 * n * d
  local block = 2 * normalized + 2 * dropped
    + product(4 * n * d * d) + 4 * n * d -- queries, keys, values and outputs; their biases' gradients
    + (2 + 5) * 2 * pairs_seen * d -- scores and values; in the gradient the scores again
    + 2 * n * d -- gradients by queries, keys and values are added
    + product(2 * n * d * hidden) + n * hidden + n * d + (8 + 15) * n * hidden -- gelu
    + 2 * 2 * n * d -- two sums with what came in, and those of the gradients
  return options.depth * block + normalized + dropped
    + 3 * n * d -- the position is added; gradients of positions and tokens
    + product(n * d * options.vocabulary) + loss_flops(n, options.vocabulary)
end

local function counted_flops(name, options)
  local flops = {}
  for i = 1, 2 do
    local model = workload.compiled(name, options, "float32")
    local row = gb.measure.training(model, workload.batches(name, options, 2 * i),
      { budget = 0.01, min_time = 0.001, warmup = 0.01 })
    flops[i] = row.flops_per_step
  end
  return math.tointeger((flops[2] - flops[1]) / 2)
end

testing.case("flops are those by hand", function()
  local options = workload.options("resnet18", true)
  testing.equal(counted_flops("resnet18", options), resnet_flops(options, { 2, 2, 2, 2 }))
  options = workload.options("resnet50", true)
  testing.equal(counted_flops("resnet50", options), resnet_flops(options, { 3, 4, 6, 3 }, true))
  options = workload.options("gpt2_small", true)
  testing.equal(counted_flops("gpt2_small", options), gpt2_flops(options))
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
      testing.is_true(history.loss[2] < history.loss[1],
        string.format("%s %g %g", precision, history.loss[1], history.loss[2]))
      testing.is_true(model:memory(input).total > 0)
    end
  end)
end
