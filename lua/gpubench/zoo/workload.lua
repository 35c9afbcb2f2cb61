-- Nets of gb.zoo as a measurement trains them: sizes that a machine of two cores trains in seconds, the loss, and
-- random batches.
local gb = require "gpubench.native"

local workload = {}

workload.names = {
  "resnet18", "resnet50", "vgg16", "mobilenet_v2", "mobilenet_v3", "vit_b16", "unet", "bert_small",
  "gpt2_small", "lstm_text", "llama_small",
}

-- Widths as published, inputs smaller, ViT and decoders less deep; `quick` nets are small in all.
local full = {
  resnet18 = { input_shape = { 96, 96, 3 } },
  resnet50 = { input_shape = { 96, 96, 3 } },
  vgg16 = { input_shape = { 64, 64, 3 } },
  mobilenet_v2 = { input_shape = { 96, 96, 3 } },
  mobilenet_v3 = { input_shape = { 96, 96, 3 } },
  vit_b16 = { input_shape = { 96, 96, 3 }, depth = 4 },
  unet = { input_shape = { 48, 48, 1 }, classes = 2, padding = "same" },
  bert_small = { length = 64, classes = 2 },
  gpt2_small = { length = 64, depth = 4 },
  lstm_text = { length = 80 },
  llama_small = { length = 64, depth = 6 },
}
local quick = {
  resnet18 = { input_shape = { 32, 32, 3 }, width = 16, classes = 10 },
  resnet50 = { input_shape = { 32, 32, 3 }, width = 16, classes = 10 },
  vgg16 = { input_shape = { 32, 32, 3 }, width = 16, units = 64, classes = 10 },
  mobilenet_v2 = { input_shape = { 32, 32, 3 }, classes = 10 },
  mobilenet_v3 = { input_shape = { 32, 32, 3 }, classes = 10, model_type = "small" },
  vit_b16 = { input_shape = { 32, 32, 3 }, classes = 10, patch = 8, width = 64, depth = 2, heads = 2 },
  unet = { input_shape = { 32, 32, 1 }, classes = 2, width = 8, padding = "same" },
  bert_small = { length = 32, classes = 2, width = 64, depth = 2, heads = 2, vocabulary = 1000 },
  gpt2_small = { length = 32, width = 64, depth = 2, heads = 2, vocabulary = 1000 },
  lstm_text = { length = 20, width = 32, units = 32, vocabulary = 1000 },
  llama_small = { length = 32, width = 64, hidden = 192, depth = 2, heads = 4, key_value_heads = 2, vocabulary = 1000 },
}
local vocabularies = { bert_small = 30522, gpt2_small = 50257, lstm_text = 20000, llama_small = 49152 }
-- Their labels are the next tokens.
local decoders = { gpt2_small = true, llama_small = true }

function workload.options(name, is_quick) return (is_quick and quick or full)[name] end

-- For an axis or gb.param "model": it has the experiment's own names, or a net's.
function workload.accepts(...)
  local known = table.pack(...)
  table.move(workload.names, 1, #workload.names, #known + 1, known)
  local text = table.concat(known, ", ")
  return function(value)
    for _, name in ipairs(known) do
      if value == name then return true end
    end
    return false, text
  end
end

local function loss_of(name)
  local loss = name == "lstm_text" and "BinaryCrossentropy" or "SparseCategoricalCrossentropy"
  return gb.losses[loss] { from_logits = true }
end

-- A compiled net in this precision.
function workload.compiled(name, options, precision)
  local before = gb.config.dtype_policy()
  gb.config.set_dtype_policy(precision)
  local made, model = pcall(gb.zoo[name], options)
  gb.config.set_dtype_policy(before)
  if not made then error(model, 0) end
  model:compile { optimizer = gb.optimizers.Adam { learning_rate = 1e-4 }, loss = loss_of(name) }
  return model
end

-- Random inputs and labels.
function workload.examples(name, options)
  local function tokens() return { "int32[" .. options.length .. "]", options.vocabulary or vocabularies[name] } end
  local function synthetic(type, classes)
    return gb.data.Dataset.synthetic { types = { type }, classes = classes, seed = 1 }
  end
  local inputs, labels
  if options.input_shape then
    inputs = synthetic("float32[" .. table.concat(options.input_shape, ", ") .. "]")
    local height, width = table.unpack(options.input_shape)
    -- U-Net's labels are those of pixels.
    labels = synthetic(name == "unet" and string.format("int64[%d, %d]", height, width) or "int64",
      options.classes or 1000)
  else
    local type, vocabulary = table.unpack(tokens())
    inputs = synthetic(type, vocabulary)
    if decoders[name] then
      labels = synthetic("int64[" .. options.length .. "]", vocabulary)
    elseif name == "lstm_text" then
      labels = synthetic("int64[1]", 2)
    else
      labels = synthetic("int64", 2)
    end
  end
  return gb.data.Dataset.zip { inputs, labels }
end

function workload.batches(name, options, batch_size)
  return workload.examples(name, options):batch(batch_size, { drop_remainder = true })
end

return workload
