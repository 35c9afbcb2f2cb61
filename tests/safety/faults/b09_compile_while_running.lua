-- A model that is running refuses to be compiled, and goes on.
local gb = require "gpubench"
local testing = require "testing"

local x, y = gb.ones { 8, 3 }, gb.ones { 8, 2 }
local function built()
  local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
  model:compile { optimizer = "sgd", loss = "mse" }
  return model
end
local function compile(model)
  testing.refuses(model.compile, model, { optimizer = "adam", loss = "mse" })
end

for _, moment in ipairs { "on_train_begin", "on_train_end", "on_epoch_begin", "on_epoch_end", "on_batch_begin",
  "on_batch_end" } do
  testing.case("compile in " .. moment, function()
    local model = built()
    pcall(model.fit, model, x, y, { verbose = 0, batch_size = 2, epochs = 2,
      callbacks = { { [moment] = function() compile(model) end } } })
    testing.note()
    model:fit(x, y, { verbose = 0 })
  end)
end

testing.case("compile in a LearningRateScheduler", function()
  local model = built()
  pcall(model.fit, model, x, y, { verbose = 0, callbacks = { gb.callbacks.LearningRateScheduler(function()
    compile(model)
    return 0.1
  end) } })
  model:fit(x, y, { verbose = 0 })
  testing.note()
end)

local function generated(model)
  return gb.data.Dataset.from_generator(function()
    for _ = 1, 4 do
      compile(model)
      coroutine.yield(gb.ones { 3 }, gb.ones { 2 })
    end
  end, { types = { "float32[3]", "float32[2]" } }):batch(2)
end
for _, name in ipairs { "fit", "evaluate", "predict" } do
  testing.case("compile in a generator during " .. name, function()
    local model = built()
    pcall(model[name], model, generated(model), { verbose = 0 })
    model:fit(x, y, { verbose = 0 })
    testing.note()
  end)
end

testing.case("compile in a loss", function()
  local model = built()
  model:compile { optimizer = "sgd", loss = function(labels, predictions)
    pcall(model.compile, model, { optimizer = "adam", loss = "mse" })
    return (labels - predictions):abs():mean()
  end }
  pcall(model.fit, model, x, y, { verbose = 0 })
  testing.note()
end)
