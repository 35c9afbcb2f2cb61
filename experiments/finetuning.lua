-- The first training is on the digits 0 to 4 with all layers of a ResNet-18 of a quarter of the published width; the
-- second learns the digits 5 to 9 from a few examples and starts with the weights of the first.
local gb = require "gpubench"

local width = gb.quick and 8 or 16
local pretraining_epochs, epochs, examples = gb.quick and 3 or 5, gb.quick and 4 or 8, gb.quick and 512 or 1024

-- The digits from `first` on, five of them, with labels from 0.
local function digits(split, first)
  local all = gb.datasets.mnist(split, { flatten = false, one_hot = false })
  local some = all:filter(function(_, label) return label:ge(first):logical_and(label:lt(first + 5)) end)
  return some:map(function(image, label) return image, label - first end)
end

local function net() return gb.zoo.resnet18 { input_shape = { 28, 28, 1 }, classes = 5, width = width } end

local function compiled(model)
  model:compile {
    optimizer = gb.optimizers.Adam { learning_rate = 1e-3 },
    loss = gb.losses.SparseCategoricalCrossentropy { from_logits = true }, metrics = { "accuracy" },
  }
  return model
end

-- The folder of the weights after the first training, which all points and trials start with.
local function pretrained()
  return gb.once("pretrained", function()
    local model = compiled(net())
    local input = digits("train", 0):shuffle(10000, { seed = 1 }):batch(64)
    model:fit(input, { epochs = pretraining_epochs, verbose = 0 })
    local path = string.format("%s/results/finetuning_%d", gb._native.options.out, width)
    model:save(path)
    return path
  end)
end

-- What is trained: "all" layers, those from the last stage on, or the last layer only ("head").
local function model_for(trained)
  local model = net()
  model:load_weights(pretrained() .. "/weights.safetensors")
  local frozen = trained ~= "all"
  for _, layer in ipairs(model.layers) do
    if trained == "last stage" and layer.name:find "^stage4" or layer.name == "classes" then frozen = false end
    layer.trainable = not frozen
  end
  return compiled(model)
end

-- Of another model than the one whose speed is measured, after a set number of epochs, in an
-- order that follows the trial's seed.
local function accuracy_after(trained)
  local model = model_for(trained)
  local some = digits("train", 5):take(examples)
  model:fit(some:shuffle(examples):batch(32), { epochs = epochs, verbose = 0 })
  return model:evaluate(digits("test", 5):batch(250)).accuracy
end

local function over_all(y, trained, options)
  options.y, options.of, options.over = y, { trained = trained }, { trained = "all" }
  return gb.expect.ratio(options)
end

gb.experiment {
  name  = "finetuning",
  topic = "models",
  title = "Fine-tuning: what frozen layers save",
  question = "Must a trained net be trained as a whole for a new task?",
  cause    = "Training all layers computes gradients through the whole net, keeps all activations for them, and keeps "
    .. "two more copies of every weight for Adam, although the first layers hardly change.",
  remedy   = "Freeze the layers that stay (layer.trainable = false) before compile: nothing below the first trained "
    .. "layer has gradients, activations that wait for them, or slots of the optimizer.",
  reading  = "Step time, memory and accuracy for what is trained: what the head alone loses in accuracy is the price "
    .. "of its speed; the last stage is in between.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("trained", { "all", "last stage", "head" }, { closed = true }),
  },
  columns = { "trained_parameters", "step_memory_bytes", "test_accuracy", "test_accuracy_low", "test_accuracy_high" },
  trials = 6,
  seconds = function(_, measurement_s) return measurement_s + (gb.quick and 1 or 5) end,
  run = function(point)
    return gb.device(point.device, function()
      local model = model_for(point.trained)
      local input = digits("train", 5):shuffle(200):batch(32, { drop_remainder = true })
      local plan = model:memory(input)
      local row = gb.measure.training(model, input:repeated())
      row.trained_parameters = model:count_params { trainable = true }
      row.step_memory_bytes = plan.optimizer + plan.arena
      row.test_accuracy = accuracy_after(point.trained)
      return row
    end)
  end,
  charts = {
    gb.chart.bar { x = "trained", y = "step_time_s" },
    gb.chart.bar { x = "trained", y = "step_memory_bytes" },
    gb.chart.bar { x = "trained", y = "test_accuracy" },
  },
  expect = {
    over_all("step_time_s", "last stage", {
      at_most = 0.8, claim = "training the last stage and the head takes at most 0.8 times the time",
      answer = "Freeze what stays, and train the last stage and the head: a step takes {times} the "
        .. "time of one of the whole net",
    }),
    over_all("step_memory_bytes", "last stage", {
      at_most = 0.8,
      claim = "training the last stage and the head takes at most 0.8 times the memory beside the weights",
      answer = "Gradients, activations and optimizer then take {times} the memory; all weights come on top",
    }),
    over_all("test_accuracy", "last stage", {
      at_least = 0.8, claim = "training the last stage and the head keeps four fifths of the accuracy",
      answer = "The last stage and the head reach {of} of the test digits, the whole net {over}",
    }),
    over_all("step_time_s", "head", {
      at_most = 0.7, claim = "training the head alone takes at most 0.7 times the time",
      answer = "The head alone takes {times} the time of a step of the whole net, and costs accuracy",
    }),
    over_all("step_memory_bytes", "head", {
      at_most = 0.5, claim = "training the head alone takes at most half the memory beside the weights",
      answer = "Gradients, activations and optimizer take {times} the memory of training the whole net with the head "
        .. "alone; all weights come on top",
    }),
    over_all("test_accuracy", "head", {
      at_most = 0.9, claim = "the head alone reaches at most 0.9 times the accuracy",
      answer = "The head alone recognises {of} of the test digits, the whole net {over}",
    }),
  },
}
