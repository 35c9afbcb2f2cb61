-- gpubench against what Keras computes (reference_training_values.lua, written by reference_training.py): limits of
-- gradients, schedules, losses and their weights, metrics, initializers.
local gb = require "gpubench"
local testing = require "testing"
local reference = dofile "tests/peers/reference_training_values.lua"

local function describe(case)
  local options = {}
  for name, value in pairs(case.options) do options[#options + 1] = name .. "=" .. testing.show(value) end
  table.sort(options)
  return string.format("%s{%s}", case.class, table.concat(options, ", "))
end

-- Compares nested arrays (or tensors) number by number; the tolerance is relative for numbers above 1.
local function close(actual, expected, tolerance, what)
  if type(actual) == "userdata" then actual = #actual.shape == 0 and actual:item() or actual:to_table() end
  if type(expected) == "number" then
    if math.abs(actual - expected) > tolerance * math.max(1, math.abs(expected)) then
      error(string.format("%s: Keras has %.7g, gpubench %.7g", what, expected, actual), 0)
    end
    return testing.note()
  end
  testing.is_true(#actual == #expected, what .. " has another size")
  for index, item in ipairs(expected) do close(actual[index], item, tolerance, what .. "[" .. index .. "]") end
end

local function column(values)
  local rows = {}
  for index, value in ipairs(values) do rows[index] = { value } end
  return gb.tensor(rows)
end

-- Variables with these values: the kernels of layers that have nothing else.
local function variables(all)
  local list = {}
  for index, values in ipairs(all) do
    local layer = gb.layers.Dense(1, { use_bias = false, input_shape = { #values } })
    local model = gb.Sequential { layer }
    model:set_weights { column(values) }
    list[index] = model.variables[1]
  end
  return list
end

for _, case in ipairs(reference.optimizers) do
  testing.case("optimizer " .. describe(case), function()
    local optimizer = gb.optimizers[case.class](case.options)
    local weights = variables(case.start)
    for step, gradients in ipairs(case.gradients) do
      optimizer:apply_gradients({ column(gradients[1]), column(gradients[2]) }, weights)
      for index, expected in ipairs(case.after[step]) do
        close(weights[index], column(expected):to_table(), 1e-5, "step " .. step .. " variable " .. index)
      end
    end
  end)
end

testing.case("weight decay leaves variables out by name", function()
  local case = reference.excluded_decay
  local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 2 } }) }
  model:set_weights { gb.tensor(case.start[1]), gb.tensor(case.start[2]) }
  local optimizer = gb.optimizers.AdamW(case.options)
  optimizer:exclude_from_weight_decay { var_names = { "bias" } }
  optimizer:apply_gradients({ gb.tensor(case.gradient[1]), gb.tensor(case.gradient[2]) }, model.variables)
  for index, expected in ipairs(case.after) do close(model.variables[index], expected, 1e-5, "variable " .. index) end
end)

for _, case in ipairs(reference.schedules) do
  testing.case("schedule " .. describe(case), function()
    local schedule = gb.schedules[case.class](case.arguments[1], case.arguments[2],
      next(case.options) and case.options or nil)
    for index, step in ipairs(case.steps) do
      close(schedule(step), case.rates[index], 1e-6, "rate of step " .. step)
    end
  end)
end

for _, case in ipairs(reference.losses) do
  testing.case("loss " .. describe(case), function()
    local loss = gb.losses[case.class](case.options)
    local labels, predictions = gb.tensor(case.labels), gb.tensor(case.predictions)
    close(loss(labels, predictions), case.value, 2e-6, "value")
    local tape <close> = gb.tape()
    local value = loss(labels, predictions)
    if #value.shape > 0 then value = value:sum() end
    close(tape:gradient(value, predictions), case.gradient, 1e-5, "gradient")
  end)
  if case.weighted then
    testing.case("weighted loss " .. describe(case), function()
      local count = #case.predictions[1]
      local model = gb.Sequential { gb.Input { count }, gb.layers.Reshape { count } }
      model:compile { optimizer = "sgd", loss = gb.losses[case.class](case.options) }
      local figures = model:evaluate(gb.tensor(case.predictions), gb.tensor(case.labels),
        { sample_weight = gb.tensor(case.weights) })
      close(figures.loss, case.weighted, 5e-6, "weighted")
    end)
  end
end

local function labels_tensor(case)
  return gb.tensor(case.labels, case.class:find "^Sparse" and { dtype = "int64" } or nil)
end

for _, case in ipairs(reference.metrics) do
  testing.case("metric " .. describe(case), function()
    local metric = gb.metrics[case.class](case.options)
    local labels, predictions = labels_tensor(case), gb.tensor(case.predictions)
    local half = #case.labels // 2
    metric:update_state(labels[{ 1, half }], predictions[{ 1, half }])
    metric:update_state(labels[{ half + 1, 2 * half }], predictions[{ half + 1, 2 * half }])
    testing.near(metric:result(), case.result, 2e-6)
  end)
  testing.case("metric of evaluate " .. describe(case), function()
    local count = #case.predictions[1]
    local model = gb.Sequential { gb.Input { count }, gb.layers.Reshape { count } }
    local metric = gb.metrics[case.class](case.options)
    model:compile { optimizer = "sgd", loss = function(_, y) return y:square() end, metrics = { metric } }
    local figures = model:evaluate(gb.tensor(case.predictions), labels_tensor(case), { batch_size = 3 })
    testing.near(figures[metric.name], case.result, 2e-6)
  end)
end

local function class_weights(list)
  if not list then return nil end
  local weights = {}
  for index, weight in ipairs(list) do weights[index - 1] = weight end
  return weights
end

for number, case in ipairs(reference.fit.cases) do
  testing.case("fit " .. number, function()
    local fit = reference.fit
    local options = { activation = "softmax" }
    for name, text in pairs(case.regularizers or {}) do options[name] = text end
    local model = gb.Sequential { gb.Input { 3 }, gb.layers.Dense(3, options) }
    model:set_weights { gb.tensor(fit.start[1]), gb.tensor(fit.start[2]) }
    model:compile {
      optimizer = gb.optimizers.SGD { learning_rate = 0.1 },
      loss = "sparse_categorical_crossentropy",
      loss_weights = case.loss_weights,
    }
    local x, y = gb.tensor(fit.images), gb.tensor(fit.classes, { dtype = "int64" })
    local history = model:fit(x, y, {
      batch_size = 4, shuffle = false, verbose = 0, class_weight = class_weights(case.class_weight),
      sample_weight = case.sample_weight and gb.tensor(case.sample_weight),
    })
    close(history.history.loss[1], case.loss, 1e-5, "loss")
    for index, values in ipairs(case.weights_after) do
      close(model:get_weights()[index], values, 1e-5, "weight " .. index)
    end
    close(model:evaluate(x, y, { batch_size = 4 }).loss, case.evaluated, 1e-5, "evaluated loss")
  end)
end

local function statistics(values)
  local count, sum, squares, largest = 0, 0, 0, 0
  for _, row in ipairs(values) do
    for _, item in ipairs(row) do
      count, sum, squares = count + 1, sum + item, squares + item * item
      largest = math.max(largest, math.abs(item))
    end
  end
  local mean = sum / count
  return mean, math.sqrt(squares / count - mean * mean), largest
end

for _, case in ipairs(reference.initializers) do
  testing.case("initializer " .. describe(case), function()
    local options = { kernel_initializer = gb.initializers[case.class](case.options) }
    local model = gb.Sequential { gb.Input { case.shape[1] }, gb.layers.Dense(case.shape[2], options) }
    local mean, deviation, largest = statistics(model:get_weights()[1]:to_table())
    testing.near(mean, case.mean, 0.02 * case.deviation + 1e-6)
    testing.near(deviation, case.deviation, 0.02 * case.deviation + 1e-6)
    -- The largest of untruncated values varies from draw to draw.
    local bound = case.options.distribution == "untruncated_normal" and 0.2 or 0.02
    testing.near(largest, case.largest, bound * case.largest + 1e-6)
  end)
end
