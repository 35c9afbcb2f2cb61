-- A model of digits and strategies of several devices. Divides cpu:0 where there are no GPUs.
local gb = require "gpubench"

-- GPUs where there are some, as in the tests that simulate them; else CPU devices.
local gpus = gb.config.list_physical_devices "GPU"
local kind = #gpus > 1 and "gpu:" or "cpu:"
local most = kind == "gpu:" and #gpus or 3
if kind == "cpu:" then
  gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 }, { threads = 1 } })
end

local replicas = { kind = kind, most = most }

function replicas.build()
  gb.config.set_seed(5)
  local model = gb.Sequential {
    gb.layers.Dense(16, { activation = "relu", input_shape = { 784 } }),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
  model:compile {
    optimizer = gb.optimizers.SGD { learning_rate = 0.1, momentum = 0.9 }, loss = "categorical_crossentropy",
    metrics = { "accuracy" },
  }
  return model
end

-- A step that is written by hand.
function replicas.step_of(model, optimizer)
  local loss_function = gb.losses.CategoricalCrossentropy()
  return function(images, labels)
    local tape <close> = gb.tape()
    local loss = loss_function(labels, model(images, { training = true }))
    optimizer:apply_gradients(tape:gradient(loss, model.trainable_variables), model.trainable_variables)
    return loss
  end
end

function replicas.strategy_of(count, options)
  options = options or {}
  options.devices = {}
  for i = 1, count do options.devices[i] = kind .. i - 1 end
  return gb.distribute.MirroredStrategy(options)
end

return replicas
