-- Model: M2 of the scenarios, three layers Dense(width, relu), which exchange much; SGD with momentum.
-- What one replica does is measured in all workers at once, before and after: they share the machine then as well.
local gb = require "gpubench"

local gpus = gb.config.list_physical_devices "GPU"
local most = #gpus > 0 and #gpus or gb.config.cpu_threads()
local workers = gb.distribute.num_processes()
local examples = gb.quick and 64 or 256
-- Of which six rounds fit into the time for a point.
local width = gb.quick and 256 or #gpus > 0 and 2048 or 512
local no_others = workers == 1
  and "there is one worker: start several with gpubench run --workers 2 multi_worker, mpirun or srun" or nil
local digits = gb.datasets.mnist "train"

-- Processes may have different numbers of cores or GPUs, and need the same points: many processes have one device each
-- unless `--set devices_per_process=2` says that all have two.
local function counts()
  return most > 1 and workers == 1 and { 1, most } or { 1 }
end

local function devices(count)
  if #gpus > 0 then return table.move(gpus, 1, count, 1, {}) end
  local names = {}
  for i = 1, count do names[i] = "cpu:" .. i - 1 end
  return names
end

local function build(units)
  gb.config.set_seed(3)
  local model = gb.Sequential {
    gb.layers.Dense(units, { activation = "relu", input_shape = { 784 } }),
    gb.layers.Dense(units, { activation = "relu" }),
    gb.layers.Dense(units, { activation = "relu" }),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
  model:compile {
    optimizer = gb.optimizers.SGD { learning_rate = 0.05, momentum = 0.9 }, loss = "categorical_crossentropy",
    metrics = { "accuracy" },
  }
  return model
end

gb.experiment {
  name  = "multi_worker",
  topic = "scaling",
  needs = "several processes: --workers N, or a launcher",
  title = "Workers that train together",
  question = "One machine is not enough, or one process: what do many workers give?",
  cause    = "A training that one process, or one machine, does alone.",
  remedy   = "Many workers, each with a replica on each of its devices, that share every batch: on this machine by "
    .. "gpubench run --workers 2 multi_worker; on several by mpirun -n 4 gpubench experiments/multi_worker.lua, or "
    .. "srun.",
  reading  = "Efficiency over the devices of each worker. One run has one number of workers: runs with others stand "
    .. "beside it (column `processes`).",
  axes  = {
    gb.axis("devices_per_process", counts()),
    gb.axis("scaling", { "weak", "strong" }),
    gb.axis("width", { width }),
  },
  columns = { gb.column("processes", { kind = "setting" }) },
  seconds = function(_, measurement_s) return 3 * measurement_s end,
  run = function(point)
    if #gpus == 0 then
      local logical = {}
      for i = 1, most do logical[i] = { threads = 1 } end
      gb.config.set_logical_devices("cpu:0", logical)
    end
    local own = devices(point.devices_per_process)
    local replicas = workers * #own
    local batch = point.scaling == "weak" and replicas * examples or examples // replicas * replicas
    local function measure(strategy, size)
      local model = strategy:scope(function() return build(point.width) end)
      return gb.measure.training(model, digits:batch(size, { drop_remainder = true }), { resident = true })
    end
    local one = gb.distribute.MirroredStrategy { devices = { own[1] } }
    local all = gb.distribute.MultiWorkerMirroredStrategy { devices = own }
    local alone = point.scaling == "weak" and examples or batch
    local before = measure(one, alone)
    local row = measure(all, batch)
    local after = measure(one, alone)
    gb.measure.efficiency(row, { before, after }, point.scaling)
    row.processes = workers
    return row
  end,
  charts = {
    gb.chart.bar { x = "devices_per_process", y = "weak_efficiency", where = { scaling = "weak" },
                   title = "Efficiency with as many examples for each replica, processes: " .. workers },
    gb.chart.bar { x = "devices_per_process", y = "strong_efficiency", where = { scaling = "strong" },
                   title = "Efficiency with as many examples in all, processes: " .. workers },
  },
  expect = {
    gb.expect.at_least {
      y = "weak_efficiency", value = 0.8, where = { scaling = "weak", width = width },
      unmeasurable = no_others,
      claim = "with as many examples each, every replica is at least 0.8 times as fast as alone",
      answer = "With many workers every replica works at {of} of the rate of one alone",
    },
    gb.expect.at_least {
      y = "strong_efficiency", value = 0.5, where = { scaling = "strong", width = width }, unmeasurable = no_others,
      claim = "workers that share the batch of one are more than half as efficient as it",
    },
  },
}
