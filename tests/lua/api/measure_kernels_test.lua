local gb = require "gpubench"
local testing = require "testing"

local product = { op = "matmul", m = 32, n = 16, k = 8 }

testing.case("a row has the kernel, its time and its rate", function()
  local rows = gb.measure.kernels { product, budget = 0.05 }
  testing.equal(#rows, 1)
  testing.equal(rows[1].op, "matmul")
  testing.equal(rows[1].shape, "32x16x8")
  testing.equal(rows[1].dtype, "float32")
  testing.equal(rows[1].flops_per_step, 2.0 * 32 * 16 * 8)
  testing.equal(#rows[1].samples, rows[1].steps)
  assert(rows[1].mfu > 0 and rows[1].mfu <= 1.5, "share of the best product")
end)

testing.case("mistakes are named", function()
  local kernels = gb.measure.kernels
  testing.raises("there is nothing to measure; give at least one matmul or conv2d", kernels, {})
  testing.raises("there is no kernel 'gemm'; there are 'matmul' and 'conv2d'", kernels, { { op = "gemm" } })
  testing.raises("matmul needs 'k'", kernels, { { op = "matmul", m = 1, n = 1 } })
  testing.raises("matmul has no 'filters'", kernels, { { op = "matmul", m = 1, n = 1, k = 1, filters = 2 } })
  testing.raises("conv2d has no 'm'", kernels, { { op = "conv2d", m = 1 } })
  testing.raises("n must be at least 1, got 0", kernels, { { op = "matmul", m = 1, n = 0, k = 1 } })
  testing.raises("unknown padding", kernels,
    { { op = "conv2d", batch = 1, height = 4, width = 4, channels = 1, filters = 1, padding = "full" } })
  testing.raises("int64[1, 1] is not floating-point", kernels, { { op = "matmul", m = 1, n = 1, k = 1, dtype = "int64" } })
end)

testing.case("the memory of kernels is free again", function()
  gb.measure.kernels { product, budget = 0.02 }
  testing.equal(gb.config.memory_info("cpu:0").in_use, 0)
end)
