-- Checks of one case of an optimizer or a schedule (compare.run).
local gb = require "gpubench"
local compare = dofile "tests/peers/conformance/compare.lua"
local close, copy = compare.close, compare.copy
local steps_of = {}

local function schedule_of(case)
  local arguments = { table.unpack(case.arguments) }
  if next(case.options) then arguments[#arguments + 1] = copy(case.options) end
  return gb.schedules[case.class](table.unpack(arguments))
end

local function optimizer_of(case)
  local make = gb.optimizers[case.class]
  if case.inner then return make(gb.optimizers[case.inner.class](copy(case.inner.options)), copy(case.options)) end
  local optimizer = make(copy(case.options, { learning_rate = case.schedule and schedule_of(case.schedule) }))
  if case.exclude then optimizer:exclude_from_weight_decay { var_names = case.exclude } end
  return optimizer
end

function steps_of.check_optimizer(case)
  local model = gb.Sequential { gb.Input { 3 }, gb.layers.Dense(2) }
  model:set_weights(compare.tensors(case.start))
  local optimizer, variables = optimizer_of(case), model.variables
  for step, given in ipairs(case.gradients) do
    local gradients = {}
    for index, values in ipairs(given) do gradients[index] = values and compare.tensor(values) end
    if case.rates and case.rates[step] then optimizer.learning_rate = case.rates[step] end
    if case.scales then
      for index, gradient in ipairs(gradients) do gradients[index] = gradient * optimizer.loss_scale end
      gradients = optimizer:get_unscaled_gradients(gradients)
    end
    optimizer:apply_gradients(gradients, variables)
    -- Keras computes 1 - beta_2^step in float32, which is right to 1e-5 of a step only.
    close(variables, case.after[step], 1e-5, "variables after step " .. step)
    if case.scales then close(optimizer.loss_scale, case.scales[step], 0, "scale after step " .. step) end
  end
  optimizer:finalize_variable_values(variables)
  close(variables, case.finalized or case.after[#case.after], 1e-5, "variables at the end")
end

function steps_of.check_schedule(case)
  local schedule = schedule_of(case)
  for index, step in ipairs(case.steps) do close(schedule(step), case.rates[index], 1e-6, "rate of step " .. step) end
end

return steps_of
