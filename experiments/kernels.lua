local gb = require "gpubench"

gb.experiment {
  name  = "kernels",
  topic = "models",
  title = "Small kernels leave the arithmetic units idle",
  question = "How large must a matrix product be to keep the arithmetic units busy?",
  cause    = "Kernels that are too small, or shaped badly, leave the arithmetic units idle whatever the model does.",
  remedy   = "Know the rate that each size reaches, and choose sizes on the flat part of the curve.",
  reading  = "Flops/s over the size of a square product.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("size", { 64, 128, 256, 512, 1024, 2048 }),
    gb.axis("dtype", { "float32", "bfloat16" }),
  },
  run = function(point)
    return gb.measure.kernels {
      device = point.device,
      { op = "matmul", m = point.size, n = point.size, k = point.size, dtype = point.dtype },
    }
  end,
  charts = {
    gb.chart.line { x = "size", y = "flops_per_s", series = "dtype", log_x = 2, log_y = 10 },
  },
  expect = {
    gb.expect.increasing { x = "size", y = "flops_per_s", by = "dtype", to = 256 },
    gb.expect.knee {
      x = "size", y = "flops_per_s", by = "dtype",
      answer = "Choose sizes of at least {x}: {times} the flops/s of size {first}; larger ones bring "
        .. "at most 11 % more",
    },
  },
}
