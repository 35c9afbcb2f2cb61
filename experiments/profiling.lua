-- `--set model=resnet18` and the other nets of gb.zoo are profiled in the sizes of lua/gpubench/zoo/workload.lua.
local gb = require "gpubench"
local workload = require "gpubench.zoo.workload"

local digits = gb.datasets.mnist "train"
local most_apart, most_observed = 0.02, 0.05

local function classifier(layers)
  layers[#layers + 1] = gb.layers.Dense(10, { activation = "softmax", name = "classes" })
  return gb.Sequential(layers)
end

local models = {
  dense = function()
    return classifier { gb.layers.Dense(128, { activation = "relu", input_shape = { 784 }, name = "hidden" }) }
  end,
  wide = function()
    local layers = {}
    for i = 1, 3 do
      layers[i] = gb.layers.Dense(1024,
        { activation = "relu", input_shape = i == 1 and { 784 } or nil, name = "hidden_" .. i })
    end
    return classifier(layers)
  end,
  convolutional = function()
    return classifier {
      gb.layers.Reshape({ 28, 28, 1 }, { input_shape = { 784 } }),
      gb.layers.Conv2D(32, 3, { activation = "relu", name = "convolution" }),
      gb.layers.MaxPooling2D(2, { name = "pooling" }),
      gb.layers.Flatten(),
    }
  end,
}

-- Of the model's layers, the one with the largest sum, and its share of all of them.
local function largest(sums)
  local total, name = 0, nil
  for layer, sum in pairs(sums) do
    total = total + sum
    if not name or sum > sums[name] or (sum == sums[name] and layer < name) then name = layer end
  end
  return name, name and total > 0 and sums[name] / total or nil
end

local function add(sums, names, layer, amount)
  if layer and names[layer] then sums[layer] = (sums[layer] or 0) + amount end
end

-- What the profile says of a row.
local function describe(row, model)
  local profile, names, times, weights, sum = row.profile, {}, {}, {}, 0
  for _, layer in ipairs(model.layers) do names[layer.name] = true end
  for _, entry in ipairs(profile.layers) do
    sum = sum + entry.time_s
    if entry.class == "compute" then add(times, names, entry.layer, entry.time_s) end
  end
  for _, holder in ipairs(profile.memory) do
    if holder.kind == "variables" then add(weights, names, holder.layer, holder.bytes) end
  end
  row.profiled_step_s = profile.step_s
  row.apart_share = math.abs(sum / profile.step_s - 1)
  row.slowest_layer, row.slowest_layer_share = largest(times)
  row.largest_layer, row.largest_layer_share = largest(weights)
  row.idle_gap_s = profile.gaps[1] and profile.gaps[1].length_s or 0
  return row
end

local function guess_by_weights_is_wrong(rows)
  local text, judged
  for _, row in ipairs(rows) do
    if row.model == "convolutional" and row.status == "ok" then
      judged = true
      text = string.format("%s: %s takes %.0f %% of the layers' time, %s has %.0f %% of their weights", row.device,
        row.slowest_layer, 100 * row.slowest_layer_share, row.largest_layer, 100 * row.largest_layer_share)
      if row.slowest_layer == row.largest_layer then return "refuted", text end
    end
  end
  if not judged then return "not measurable here", "the convolutional model was not measured" end
  return "confirmed", text, "Profile before you optimize: on " .. text
end

gb.experiment {
  name  = "profiling",
  topic = "models",
  title = "The layer with the most weights need not be the slowest one",
  question = "Which layers and ops does a step spend its time on?",
  cause    = "A step is a sum of ops, waits and launches. Weights, flops and experience are poor guesses of which of "
    .. "them takes long: a convolution with few weights reads and writes large activations.",
  remedy   = "Profile the training with gb.measure.training { profile = true }, model:profile or "
    .. "gb.callbacks.Profiler, and change what takes the time.",
  reading  = "The share of the slowest layer in the time of all layers, by model. Below the charts of the sweep each "
    .. "point has its own: the width of a box is time of a step, by role, layer and op.",
  axes = {
    gb.axis("device", gb.devices()),
    gb.axis("model", { "dense", "wide", "convolutional" },
      { accepts = workload.accepts("dense", "wide", "convolutional") }),
  },
  columns = {
    "profiled_step_s", "apart_share", "slowest_layer", "slowest_layer_share", "largest_layer", "largest_layer_share",
    "idle_gap_s",
  },
  run = function(point)
    return gb.device(point.device, function()
      local model, input
      if models[point.model] then
        model, input = models[point.model](), digits:batch(64, { drop_remainder = true })
        model:compile { optimizer = "adam", loss = "categorical_crossentropy", metrics = { "accuracy" } }
      else
        local options = workload.options(point.model, gb.quick)
        model = workload.compiled(point.model, options, "float32")
        input = workload.batches(point.model, options, 16)
      end
      return describe(gb.measure.training(model, input, { profile = true }), model)
    end)
  end,
  charts = {
    gb.chart.bar { x = "model", y = "slowest_layer_share", series = "device" },
    gb.chart.bar { x = "model", y = "compute_share", series = "device" },
  },
  expect = {
    gb.expect.that {
      claim = "the slowest layer of the convolutional model is not the one with the most weights",
      reads = { "slowest_layer_share", "largest_layer_share" }, judge = guess_by_weights_is_wrong,
    },
    gb.expect.at_most {
      y = "apart_share", value = most_apart, claim = "the times of layers, waits and launches sum to the step",
    },
    gb.expect.at_most {
      y = "other_share", value = most_observed, claim = "at most 5 % of a step stays unexplained",
      answer = "{of} of a step stays unexplained",
    },
    gb.expect.at_most {
      y = "observer_share", value = most_observed, claim = "tracing costs the traced steps less than 5 % of their time",
    },
  },
}
