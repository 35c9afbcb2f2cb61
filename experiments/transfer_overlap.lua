-- Computing grows with the width of the one hidden layer, the copy stays the same. The batches lie in page-locked
-- memory, so nothing but the copy stands between the host and the GPU. Where no GPU is, one is emulated, and the rows
-- and the answer say so.
local gb = require "gpubench"

local gpus = gb.config.list_physical_devices("GPU")
if #gpus == 0 then gpus = { "emulated:h200:0" } end
local batch_size, features, batches = 4096, 2048, 3  -- 32 MiB a batch

local function resident_on_host()
  local x = gb.random.uniform { batches, batch_size, features }
  local y = gb.zeros { batches, batch_size, 1 }
  return gb.data.Dataset.from_tensor_slices { x:pin_memory(), y:pin_memory() }
end

gb.experiment {
  name  = "transfer_overlap",
  topic = "devices",
  needs = "a GPU, or emulates one",
  title = "A copy that waits for the step before it costs its whole time",
  question = "Does the copy of a batch hide under the computation of the step before it?",
  cause    = "A batch that is copied to the GPU while the GPU waits for it, since it has only one place to go to, "
    .. "which the step before is still reading.",
  remedy   = "Two places for inputs, filled in turns, on a stream beside the kernels'.",
  reading  = "Step time, and the examples in a second, over the width of the model, for one slot and for two.",
  axes  = {
    gb.axis("device", gpus),
    gb.axis("width", { 16, 64, 256, 1024, 4096 }),
    gb.axis("input_slots", { 1, 2 }),
  },
  skip = function(point)
    if point.device:find "^cpu" then return "inputs of a CPU are read where they lie" end
  end,
  run = function(point)
    return gb.device(point.device, function()
      local input = gb.device("cpu:0", resident_on_host)
      local model = gb.Sequential {
        gb.layers.Dense(point.width, { activation = "relu", input_shape = { features } }),
        gb.layers.Dense(1),
      }
      model:compile { optimizer = "sgd", loss = "mean_squared_error", input_slots = point.input_slots }
      return gb.measure.training(model, input:repeated(), { trace = true })
    end)
  end,
  charts = {
    gb.chart.line { x = "width", y = "step_time_s", series = "input_slots", log_x = 2, log_y = 10 },
    gb.chart.line { x = "width", y = "copy_share", series = "input_slots", log_x = 2 },
  },
  expect = {
    gb.expect.ratio {
      y = "step_time_s", of = { input_slots = 2 }, over = { input_slots = 1 }, at_most = 1.05,
      claim = "two input slots are never slower than one",
    },
    gb.expect.ratio {
      y = "step_time_s", of = { input_slots = 2 }, over = { input_slots = 1 }, where = { width = 1024 }, at_most = 0.8,
      claim = "where copy and computation take about as long, the overlap saves a fifth of the step at least",
      answer = "Use two input slots: where copy and computation take about as long, a step takes {less} less time",
    },
    gb.expect.ratio {
      y = "step_time_s", of = { input_slots = 2 }, over = { input_slots = 1 }, where = { width = 4096 }, at_least = 0.6,
      claim = "where the computation takes much longer than the copy, there is less to save",
    },
  },
}
