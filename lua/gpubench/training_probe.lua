-- The script of gb.measure.in_process: a small training, measured in a process of its own. Prints one line of JSON: the row,
-- or why there is none, and what doctor finds in this process.
--
--   --set device=gpu:0   where to train; the default device without it
--   --set soft=true      gb.config.set_soft_device_placement
--   --set pinned=false   inputs in ordinary memory
--   --set checks=a+b     the checks of doctor to look at; none without it
local gb = require "gpubench"
local native = gb._native

local device = gb.param("device", "")
local soft = gb.param("soft", false)
local pinned = gb.param("pinned", true)
local checks = gb.param("checks", "")

local function train()
  local function measured()
    local model = gb.Sequential {
      gb.layers.Dense(1024, { activation = "relu", input_shape = { 784 } }),
      gb.layers.Dense(1024, { activation = "relu" }),
      gb.layers.Dense(10, { activation = "softmax" }),
    }
    model:compile { optimizer = "sgd", loss = "categorical_crossentropy", pin_inputs = pinned }
    return gb.measure.training(model, gb.datasets.mnist("train"):repeated():batch(256))
  end
  gb.config.set_soft_device_placement(soft)
  if device ~= "" then return gb.device(device, measured) end
  return measured()
end

-- While the neighbours are there and before the training, which would be looked at as a load itself.
local function found()
  local names = {}
  for name in checks:gmatch "[^+]+" do names[#names + 1] = name end
  return names[1] and native.doctor.check(names) or {}
end

local result = { checks = found() }
local taken, ok, row, reason = native.contention.during(native.protect, train)
native.check_interrupt()
if ok then
  row.cpu_lost_share, row.cpu_clock_hz = taken.lost_share, taken.clock_hz
  row.samples, row.timeline, row.stages, row.ranks = nil, nil, nil, nil
  local fallbacks = native.take_fallbacks()
  result.status, result.row, result.detail = "ok", row, fallbacks[1]
else
  result.status, result.detail = row, reason
end
io.write(native.results.json(result), "\n")
