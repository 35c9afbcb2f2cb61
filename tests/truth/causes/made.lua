-- What the configurations are made of: accelerators whose rates are chosen, models whose arithmetic is known, and ways
-- to spend time. Nothing here is taken from core/diagnose.
local gb = require "gpubench"

local made = {}

made.budget = 0.8
-- The arithmetic of a step: long beside the host's work and the lateness of its waits.
made.step_s = 0.03

local float_bytes = 4
-- An accelerator without surprises: kernels take their arithmetic's time, and little else.
local plain = {
  like = "h200", memory_bytes_per_s = 1e13, float32_flops_per_s = 2e12, kernel_s = 2e-6,
  ramp_s = 0, launch_s = 2e-6, latency_s = 2e-6, pinned_bytes_per_s = 1e12, pageable_bytes_per_s = 1e12,
  peer_bytes_per_s = 1e13,
}

-- The devices are made anew, with the changed numbers; 16 bits are no faster than 32 unless they say so.
function made.accelerator(changes)
  gb._native.reset_devices()
  local numbers = {}
  for name, value in pairs(plain) do numbers[name] = value end
  for name, value in pairs(changes) do numbers[name] = value end
  numbers.float16_flops_per_s = changes.float16_flops_per_s or numbers.float32_flops_per_s
  gb.config.set_custom_profile(numbers)
end

function made.on(index, fn)
  return gb.device("emulated:custom:" .. index, fn)
end

-- { features, width, depth, batch, execution, passes, input_slots, offload, between = a function that adds layers }
function made.model(options)
  local width, features = options.width or 1024, options.features or 1024
  local layers = {}
  for index = 1, options.depth or 4 do
    local function layer()
      return gb.layers.Dense(width, { activation = "relu", input_shape = index == 1 and { features } or nil })
    end
    layers[#layers + 1] = options.place and options.place(index, layer) or layer()
    if options.between then options.between(layers, width) end
  end
  layers[#layers + 1] = gb.layers.Dense(1)
  local model = gb.Sequential(layers)
  model:compile {
    optimizer = options.optimizer or "sgd", loss = "mean_squared_error", execution = options.execution,
    passes = options.passes, input_slots = options.input_slots, offload = options.offload,
  }
  return model
end

-- Batches that cost nothing to make.
function made.batches(options)
  local batch, features = options.batch or 512, options.features or 1024
  local x = gb.device("cpu:0", function() return gb.zeros { 4, batch, features } end)
  local y = gb.device("cpu:0", function() return gb.zeros { 4, batch, 1 } end)
  return gb.data.Dataset.from_tensor_slices { x, y }:repeated()
end

-- Floating-point operations of a training step.
function made.flops(options)
  local batch, features = options.batch or 512, options.features or 1024
  local width, depth = options.width or 1024, options.depth or 4
  -- Forward, and both gradients; the first layer's input needs none.
  return batch * (4 * features * width + 6 * width * width * (depth - 1) + 6 * width)
end

-- Seconds that the model's arithmetic takes, and the rate that makes it so.
function made.rate_for(options, seconds)
  return made.flops(options) / seconds
end

function made.input_bytes(options)
  return float_bytes * (options.batch or 512) * (options.features or 1024)
end

function made.train(model, dataset, options)
  options = options or {}
  options.budget = made.budget
  return gb.measure.training(model, dataset, options)
end

-- Keeps the host busy, as Lua of a script would.
function made.spend(seconds)
  local until_then = gb.clock() + seconds
  local sum = 0
  repeat
    for index = 1, 200 do sum = sum + index end
  until gb.clock() >= until_then
  return sum
end

return made
