-- Each point trains the same model in a fresh process that has one fault, and lets doctor look in that process. Faults
-- of GPUs need one; the others can be made on every machine.
local gb = require "gpubench"

local gpus = gb.config.list_physical_devices "GPU"
local processors = gb.config.cpu_threads()
local no_gpu = #gpus == 0 and "there is no GPU here" or nil
local one_processor = processors == 1 and "this program may use one processor only" or nil
local trains_on_cpu = #gpus > 0 and "training runs on a GPU here" or nil
local missing = "gpu:63"

-- By name: what gb.measure.in_process gets, the check that should name the fault, and why it cannot be made here.
local faults = {
  none = {},
  one_processor = { check = "cpu_limit", options = { processors = 1 }, cannot = one_processor },
  one_thread = { check = "environment", options = { environment = { OMP_THREAD_LIMIT = "1" } },
    cannot = one_processor },
  busy_neighbour = { check = "load", options = { neighbours = (processors + 1) // 2 } },
  old_instructions = { check = "environment", options = { environment = { ONEDNN_MAX_CPU_ISA = "SSE41" } } },
  little_memory = { check = "memory_limit", options = { address_space = 1 << 30 } },
  small_memory_limit = { names = "out of memory", options = { memory_limit = 4 << 20 } },
  missing_device = { names = missing, options = { device = missing } },
  missing_device_soft = { names = missing, options = { device = missing, soft = true } },
  gpus_hidden = { check = "devices", options = { environment = { CUDA_VISIBLE_DEVICES = "" } }, cannot = no_gpu },
  wrong_gpu = { check = "devices", options = { environment = { CUDA_VISIBLE_DEVICES = "63" } }, cannot = no_gpu },
  hidden_gpu_asked_for = {
    names = "CUDA_VISIBLE_DEVICES", cannot = no_gpu,
    options = { device = "gpu:0", environment = { CUDA_VISIBLE_DEVICES = "" } },
  },
  launches_block = { check = "environment", options = { environment = { CUDA_LAUNCH_BLOCKING = "1" } },
    cannot = no_gpu },
  pageable_memory = { options = { pinned = false }, cannot = no_gpu },
}

local order = {
  "none", "one_processor", "one_thread", "busy_neighbour", "old_instructions", "little_memory", "small_memory_limit",
  "missing_device",
  "missing_device_soft", "gpus_hidden", "wrong_gpu", "hidden_gpu_asked_for", "launches_block", "pageable_memory",
}

-- Doctor looks once at each fault, and not in every round.
local function options_of(fault)
  local options = {}
  for name, value in pairs(fault.options or {}) do options[name] = value end
  options.checks = not fault.checked and fault.check and { fault.check } or nil
  return options
end

-- Whether the check, or the message of the training, names the fault; and what to do.
local function diagnosis(fault, result)
  fault.checked = fault.checked or result.checks
  local named, remedy = 0, nil
  for _, one in ipairs(fault.checked) do
    if one.problem then named, remedy = 1, one.found .. ": " .. one.remedy end
  end
  if fault.names and (result.detail or ""):find(fault.names, 1, true) then named, remedy = 1, result.detail end
  return named, remedy
end

local function slower(name)
  return { y = "step_time_s", of = { fault = name }, over = { fault = "none" } }
end

local function slower_by(name, factor, why_not, answer)
  local claim = slower(name)
  claim.at_least, claim.unmeasurable, claim.answer = factor, why_not, answer
  claim.claim = string.format("with the fault %s a step takes at least %.3g times as long", name, factor)
  return gb.expect.ratio(claim)
end

gb.experiment {
  name  = "misconfiguration",
  topic = "devices",
  title = "Faults of the set-up cost speed in silence, and doctor names them",
  question = "Is it my model that is slow, or the machine's set-up?",
  cause    = "Processors taken away, a neighbour, a variable that somebody has set, a GPU that is not used: training "
    .. "goes on, more slowly, and says nothing.",
  remedy   = "gpubench doctor, which names each fault with its remedy. A device that is missing is an error, unless "
    .. "gb.config.set_soft_device_placement(true) lets the CPU do its work.",
  reading  = "Step time by fault beside that without one: what the fault costs. The column `named` is 1 where doctor, "
    .. "or the message of the training, names it; `outcome` says whether training ran, "
      .. "fell back to the CPU or stopped.",
  axes  = { gb.axis("fault", order) },
  columns = {
    gb.column("named", { kind = "counted" }), gb.column("nameable", { kind = "counted" }),
    gb.column("stopped", { kind = "counted" }), gb.column("fell_back", { kind = "counted" }),
    gb.column("outcome", { kind = "setting" }), gb.column("advice", { kind = "setting" }),
  },
  skip = function(point) return faults[point.fault].cannot end,
  seconds = function(_, measurement_s) return measurement_s + 2 end,
  run = function(point)
    local fault = faults[point.fault]
    local result = gb.measure.in_process(options_of(fault))
    local row = result.row or {}
    row.nameable = (fault.check or fault.names) and 1 or 0
    row.named, row.advice = diagnosis(fault, result)
    row.fell_back = result.status == "ok" and result.detail and 1 or 0
    row.stopped = result.status == "ok" and 0 or 1
    row.outcome = row.stopped == 1 and "stopped" or row.fell_back == 1 and "fell back" or "ran"
    row.detail = result.detail
    return row
  end,
  charts = {
    gb.chart.bar { x = "fault", y = "step_time_s" },
    gb.chart.bar { x = "fault", y = "named", title = "Faults that are named" },
  },
  expect = {
    gb.expect.agree { y = "named", with = "nameable",
      claim = "doctor or the message of the training names every fault" },
    slower_by("one_processor", 1.2, one_processor or trains_on_cpu,
      "Give training all processors: on one a step takes {times} as long"),
    slower_by("one_thread", 1.2, one_processor or trains_on_cpu,
      "Unset OMP_THREAD_LIMIT: with 1 a step takes {times} as long"),
    slower_by("busy_neighbour", 1.2, trains_on_cpu,
      "Measure on an idle machine: beside busy programs a step takes {times} as long"),
    slower_by("old_instructions", 1.2, trains_on_cpu,
      "Unset ONEDNN_MAX_CPU_ISA: with the instructions of old processors a step takes {times} as long"),
    slower_by("gpus_hidden", 2, no_gpu, "Let the program see the GPU: on the CPU a step takes {times} as long"),
    slower_by("launches_block", 1.05, no_gpu, "Unset CUDA_LAUNCH_BLOCKING: a step takes {times} as long with it"),
    gb.expect.at_least {
      y = "stopped", value = 1, where = { fault = "missing_device" },
      claim = "training on a missing device stops, with the reason",
    },
    gb.expect.at_least {
      y = "fell_back", value = 1, where = { fault = "missing_device_soft" },
      claim = "with soft placement training on a missing device falls back to the CPU, and says so",
    },
  },
}
