-- Regularizers of activities and constraints against Keras (weight_options_values.lua, written by weight_options.py).
local gb = require "gpubench"
local compare = dofile "tests/peers/conformance/compare.lua"
local reference = dofile "tests/peers/conformance/weight_options_values.lua"
local close = compare.close

compare.covers(gb.constraints, {}, (function()
  local named = {}
  for _, case in ipairs(reference.fitted) do
    for _, given in pairs(case.more) do named[#named + 1] = given end
  end
  return named
end)())

compare.run(reference.fitted, function(case)
  local x, y = compare.tensor(case.x), compare.tensor(case.y)
  local options = compare.copy(case.options)
  for name, given in pairs(case.more) do
    local make = (name:find "_constraint$" and gb.constraints or gb.regularizers)[given.class]
    options[name] = next(given.options) and make(given.options) or make()
  end
  local model = gb.Sequential {
    compare.symbol(x), gb.layers[case.class](options), gb.layers.Flatten(), gb.layers.Dense(1),
  }
  model:set_weights(compare.tensors(case.weights))
  model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0.2 }, loss = "mse" }
  close(model:evaluate(x, y, { batch_size = 6 }).loss, case.evaluated, 1e-5, "evaluate")
  local history = model:fit(x, y, { batch_size = 3, epochs = 2, shuffle = false, verbose = 0 }).history
  close(history.loss, case.losses, 2e-5, "losses")
  close(model:get_weights(), case.after, 2e-5, "weights")
end)
