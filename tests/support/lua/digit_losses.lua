-- The loss of each step of a model of tests/peers/models.lua on the digits, from the same seed wherever it trains.
-- GPU_CHECK_STEPS shortens it.
local gb = require "gpubench"
local models = require "models"

local digit_losses = { steps = math.tointeger(os.getenv "GPU_CHECK_STEPS" or "30") }
local batch_size = 32

-- Trains the model `name` inside of scope(body), such as a strategy's. `options`: of compile, beside the loss, and
-- `callbacks`, more of fit's.
function digit_losses.of(name, scope, options)
  gb.config.set_seed(11)
  local examples = digit_losses.steps * batch_size
  local digits = gb.device("cpu:0", function() return gb.datasets.mnist("train"):take(examples) end)
  local losses = {}
  local callbacks = { { on_batch_end = function(_, logs) losses[#losses + 1] = logs.loss end } }
  for _, callback in ipairs(options.callbacks or {}) do callbacks[#callbacks + 1] = callback end
  scope(function()
    local model = models.build(name)
    model:compile { optimizer = options.optimizer, loss = "categorical_crossentropy",
      run_eagerly = options.run_eagerly, passes = options.passes }
    model:fit(digits:batch(batch_size), { epochs = 1, verbose = 0, callbacks = callbacks })
  end)
  return losses
end

-- The scope of a device.
function digit_losses.on(device)
  return function(body) return gb.device(device, body) end
end

return digit_losses
