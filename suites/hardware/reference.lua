-- What sound hardware reaches, for the experiments of this folder. Of a GPU it is a share of the peak that its maker
-- publishes (core/telemetry/peaks.cpp has the sources), which gb.config.device_sensors tells. Processors have no
-- published figure for one machine, so theirs were measured: add yours by its description from `gpubench devices`.
local gb = require "gpubench"

local reference = {}

-- Below this share of the reference, something is wrong with the hardware or its settings.
reference.least_share = {
  gpu = 0.6,  -- large products and copies reach 70 to 95 % of the published peaks
  cpu = 0.7,  -- of figures that were measured on the same kind of machine
}

local processors = {
  -- best_matmul_flops_per_s of the slowest virtual machine of this kind so far, 2026-11-21; others reach 229e9.
  ["AMD EPYC, 2 threads"] = { float32_flops_per_s = 158.3e9 },
}

local function kind_of(device)
  return device:match "^%a+"
end

-- What is expected of `figure` ("float32_flops_per_s", "memory_bytes_per_s"); nil where nothing is known.
function reference.of(device, figure)
  if kind_of(device) == "gpu" then return gb.config.device_sensors(device)["peak_" .. figure] end
  local processor = processors[gb.config.device_description(device)]
  return processor and processor[figure]
end

-- The measured figure as a share of the least that is sound: 1 or more is well. Nil where nothing is known.
function reference.share(device, figure, measured)
  local expected = reference.of(device, figure)
  return expected and measured and measured / (expected * reference.least_share[kind_of(device)])
end

return reference
