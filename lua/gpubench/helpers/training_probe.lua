-- The script of gb.measure.in_process: a small training, measured in a process of its own. Prints one line of JSON: the
-- row, or why there is none, and what doctor finds in this process.
--
--   --set place=gpu:0    where to train; the default device without it
--   --set soft=true      gb.config.set_soft_device_placement
--   --set pinned=false   inputs in ordinary memory
--   --set memory_limit=N of the device, in bytes
--   --set checks=a+b     the checks of doctor to look at; none without it
local gb = require "gpubench"
local native = gb._native

local device = gb.param("place", "")
local soft = gb.param("soft", false)
local pinned = gb.param("pinned", true)
local memory_limit = gb.param("memory_limit", 0)
local checks = gb.param("checks", "")
-- One of several rounds: their scatter tells how far a figure can be relied on, and not that of one.
local round_budget_s = gb.param("in_rounds", false) and native.options.budget_s or nil

-- Before the devices are used.
local function default_device()
  local gpus = gb.config.list_physical_devices "GPU"
  return gpus[1] or "cpu:0"
end

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

-- The limit must be set before doctor looks at the devices.
if memory_limit > 0 then gb.config.set_memory_limit(device ~= "" and device or default_device(), memory_limit) end
local result = { checks = found() }
local taken, ok, row, reason = native.with_round_budget(round_budget_s, native.contention.during, native.protect, train)
native.check_interrupt()
if ok then
  row.cpu_lost_share, row.cpu_clock_hz = taken.lost_share, taken.clock_hz
  row.samples, row.timeline, row.stages, row.ranks = nil, nil, nil, nil
  local fallbacks = native.take_fallbacks()
  result.status, result.row, result.detail = "ok", row, fallbacks[1]
else
  result.status, result.detail = row, reason:gsub("^%S*training_probe%.lua:%d+: ", "")
end
io.write(native.results.json(result), "\n")
