local gb = require "gpubench"
local reference = require "reference"

gb.experiment {
  name  = "matmul_peak",
  title = "Large matrix products reach the arithmetic peak of a sound device",
  question = "Does this device still compute as fast as its model should?",
  cause    = "Lowered clocks, heat, a power limit, a faulty card, or another library behind the same call.",
  remedy   = "Look at clocks, throttling and temperature of the run, then at what else changed (gpubench history).",
  reading  = "Flops/s of a large square product by type; 1 in reference_share is the least that is sound.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("dtype", { "float32", "bfloat16" }),
  },
  columns = { gb.column("reference_share", { unit = "share", better = "higher", kind = "time" }) },
  run = function(point)
    local size = point.device:find "^gpu" and 8192 or 1024
    local rows = gb.measure.kernels {
      device = point.device, { op = "matmul", m = size, n = size, k = size, dtype = point.dtype },
    }
    rows[1].reference_share = reference.share(point.device, point.dtype .. "_flops_per_s", rows[1].flops_per_s)
    return rows
  end,
  charts = { gb.chart.bar { x = "dtype", y = "flops_per_s", series = "device" } },
  expect = {
    gb.expect.at_least {
      y = "reference_share", value = 1, claim = "products reach the rate that this model of device should",
      answer = "This device computes at the rate of its model",
    },
  },
}
