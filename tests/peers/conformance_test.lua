-- gpubench against what Keras computes (reference_values.lua, written by reference.py), where libraries are known to
-- differ: padding of windows, epsilons, moving averages, decoupled decay, schedules, reductions of losses.
local gb = require "gpubench"
local testing = require "testing"
local reference = dofile "tests/peers/reference_values.lua"

local cases = dofile "tests/peers/layer_cases.lua"
local describe, close = cases.describe, cases.close

local function tensor(values, dtype)
  return gb.tensor(values, dtype and { dtype = dtype })
end

-- Class indices are whole numbers in one dimension.
local function labels_tensor(case)
  return tensor(case.labels, case.class:find "^Sparse" and "int64" or nil)
end

local function column(values)
  local rows = {}
  for index, value in ipairs(values) do rows[index] = { value } end
  return rows
end

local function options_of(case, more)
  local options = {}
  for name, value in pairs(case.options) do options[name] = value end
  for name, value in pairs(more or {}) do options[name] = value end
  return options
end

-- A variable with these values: the kernel of a layer that has nothing else.
local function variable(values)
  local model = gb.Sequential { gb.layers.Dense(1, { use_bias = false, input_shape = { #values } }) }
  model:set_weights { tensor(column(values)) }
  return model.variables[1], model
end

for _, case in ipairs(reference.optimizers) do
  local name = case.schedule and case.class .. " with " .. case.schedule or describe(case)
  testing.case("optimizer " .. name, function()
    local more
    if case.schedule then more = { learning_rate = gb.schedules[case.schedule](case.schedule_options) } end
    local optimizer = gb.optimizers[case.class](options_of(case, more))
    local weights, model = variable(case.start)
    for step, gradient in ipairs(case.gradients) do
      optimizer:apply_gradients({ tensor(column(gradient)) }, { weights })
      -- Keras computes 1 - beta_2^step in float32, which is right to 1e-5 of a step only.
      close(model:get_weights()[1], column(case.after[step]), 1e-5, name .. " step " .. step)
    end
  end)
end

-- The loss that a model with this activation reports: its graph has both fused, so that no probability underflows.
local function evaluated(case)
  local count = #case.predictions[1]
  local identity = {}
  for row = 1, count do
    identity[row] = {}
    for other = 1, count do identity[row][other] = row == other and 1 or 0 end
  end
  local dense = gb.layers.Dense(count, { activation = case.behind, use_bias = false, input_shape = { count } })
  local model = gb.Sequential { dense }
  model:set_weights { tensor(identity) }
  model:compile { optimizer = "sgd", loss = gb.losses[case.class](case.options) }
  return model:evaluate(tensor(case.predictions), labels_tensor(case)).loss
end

for number, case in ipairs(reference.losses) do
  local name = number .. " " .. describe(case)
  testing.case("loss " .. name, function()
    local loss = gb.losses[case.class](case.options)
    local labels, predictions = labels_tensor(case), tensor(case.predictions)
    if case.behind then close(evaluated(case), case.value, 2e-6, name .. " evaluated") end
    if case.saturated then return end
    local activation = case.behind and gb.layers.Activation(case.behind) or function(x) return x end
    close(loss(labels, activation(predictions)):item(), case.value, 2e-6, name)
    local tape <close> = gb.tape()
    local value = loss(labels, activation(predictions))
    close(tape:gradient(value, predictions), case.gradient, 1e-5, name .. " gradient")
  end)
end

cases.run(reference.layers)

for _, case in ipairs(reference.batch_normalization) do
  testing.case("batch normalization " .. describe(case), function()
    local channels, shape = #case.weights[1], cases.example_shape(case.inputs[1])
    testing.equal(shape[#shape], channels)
    local model = gb.Sequential { gb.Input(shape), gb.layers.BatchNormalization(options_of(case)) }
    local weights = {}
    for index, values in ipairs(case.weights) do weights[index] = tensor(values) end
    model:set_weights(weights)
    for index, input in ipairs(case.inputs) do
      close(model(tensor(input), { training = true }), case.training[index], 1e-5, "training output " .. index)
    end
    for index, values in ipairs(case.weights_after) do
      close(model:get_weights()[index], values, 1e-5, "weight " .. index .. " after training")
    end
    close(model(tensor(case.inputs[1]), { training = false }), case.inference, 1e-5, "inference output")
  end)
end

local function statistics(values)
  local count, sum, squares, largest = 0, 0, 0, 0
  local function visit(item)
    if type(item) == "number" then
      count, sum, squares = count + 1, sum + item, squares + item * item
      largest = math.max(largest, math.abs(item))
      return
    end
    for _, inner in ipairs(item) do visit(inner) end
  end
  visit(values)
  local mean = sum / count
  return mean, math.sqrt(squares / count - mean * mean), largest
end

for _, case in ipairs(reference.initializers) do
  testing.case("initializer " .. case.name .. " of " .. case.layer, function()
    local options = { kernel_initializer = case.name }
    local layer = case.layer == "Dense" and gb.layers.Dense(case.shape[#case.shape], options)
      or gb.layers.Conv2D(case.shape[#case.shape], case.shape[1], options)
    local model = gb.Sequential { gb.Input(case.input_shape), layer }
    local kernel = model:get_weights()[1]
    testing.equal(kernel.shape, case.shape)
    local mean, deviation, largest = statistics(kernel:to_table())
    testing.near(mean, case.mean, 0.02 * case.deviation + 1e-6)
    testing.near(deviation, case.deviation, 0.02 * case.deviation + 1e-6)
    testing.near(largest, case.largest, 0.02 * case.largest + 1e-6)
  end)
end

for _, case in ipairs(reference.metrics) do
  testing.case("metric " .. describe(case), function()
    local metric = gb.metrics[case.class](case.options)
    metric:update_state(labels_tensor(case), tensor(case.predictions))
    testing.near(metric:result(), case.result, 1e-6)
  end)
end

testing.case("fit and evaluate weigh a partial last batch by its examples", function()
  local case = reference.fit
  local model = gb.Sequential { gb.Input { 3 }, gb.layers.Dense(2) }
  model:set_weights { tensor(case.start[1]), tensor(case.start[2]) }
  model:compile {
    optimizer = gb.optimizers.SGD { learning_rate = 0.1 },
    loss = "mean_squared_error",
    metrics = { "mean_squared_error" },
  }
  local data = gb.data.Dataset.from_tensor_slices { tensor(case.images), tensor(case.labels) }
  local history = model:fit(data:batch(case.batch_size), { epochs = 2, verbose = 0 })
  close(history.loss or history.history.loss, case.loss, 1e-5, "loss by epoch")
  for index, values in ipairs(case.weights_after) do
    close(model:get_weights()[index], values, 1e-5, "weight " .. index .. " after training")
  end
  close(model:evaluate(data:batch(case.batch_size)).loss, case.evaluated, 1e-5, "evaluated loss")
end)
