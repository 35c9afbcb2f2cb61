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
  testing.raises("int64[1, 1] is not floating-point", kernels,
    { { op = "matmul", m = 1, n = 1, k = 1, dtype = "int64" } })
  for _, budget in ipairs { 0, -1, 0 / 0, 1e-300, math.huge } do
    testing.raises("at least 1e-06 s for each are needed", kernels, { product, budget = budget })
  end
end)

testing.case("the memory of kernels is free again", function()
  gb.measure.kernels { product, budget = 0.02 }
  testing.equal(gb.config.memory_info("cpu:0").in_use, 0)
end)

local function all_reduces(replicas, latency)
  local rows = {}
  for index, bytes in ipairs { 1e3, 1e5, 1e7 } do
    rows[index] = {
      replicas = replicas, message_bytes = bytes, collective_time_s = latency + bytes / 1e9, op = "all_reduce",
    }
  end
  return rows
end

testing.case("predicts up to 4096 replicas, and what was measured beside it", function()
  local model = gb.measure.scaling_model { collectives = all_reduces(2, 1e-5), step_time_s = 0.01, gradient_bytes = 1e6,
                                           measured = { { replicas = 3, step_time_s = 0.02, device = "cpu:0" } } }
  testing.equal(#model.rows, 13)
  testing.equal({ model.rows[1].replicas, model.rows[2].replicas, model.rows[13].replicas }, { 2, 3, 4096 })
  testing.near(model.rows[1].predicted_step_time_s, 0.01 + 1e-5 + 1e-3, 1e-9)
  testing.near(model.rows[2].prediction_error_share, (0.01 + 2e-5 + 1e-3 * 4 / 3) / 0.02 - 1, 1e-6)
  testing.equal(model.rows[1].measured_step_time_s, nil)
  for index = 2, #model.rows do
    testing.is_true(model.rows[index].weak_efficiency < model.rows[index - 1].weak_efficiency, "efficiency")
  end
end)

testing.case("rows of more replicas than the model is made of are predicted", function()
  local rows = all_reduces(2, 1e-5)
  for _, row in ipairs(all_reduces(4, 1)) do rows[#rows + 1] = row end
  local model = gb.measure.scaling_model { collectives = rows, fit_up_to = 2, step_time_s = 1, gradient_bytes = 1,
                                           pattern = "tree" }
  testing.equal({ #model.curves, #model.collectives }, { 1, 6 })
  testing.near(model.curves[1].bytes_per_s, 1e9, 1)
  testing.near(model.collectives[4].predicted_time_s, 2e-5 + 1.5e-6, 1e-9)
  testing.near(model.collectives[4].prediction_error_share, -1, 1e-3)
end)

testing.case("mistakes are named", function()
  local model = gb.measure.scaling_model
  local rows = all_reduces(2, 1e-5)
  testing.raises("collectives", model, { step_time_s = 1, gradient_bytes = 1 })
  testing.raises("a row needs the number 'message_bytes'", model,
    { collectives = { { replicas = 2 } }, step_time_s = 1, gradient_bytes = 1 })
  testing.raises("a row needs the number 'step_time_s'", model,
    { collectives = rows, step_time_s = 1, gradient_bytes = 1, measured = { { replicas = 2 } } })
  testing.raises("at least two sizes", model, { collectives = { rows[1] }, step_time_s = 1, gradient_bytes = 1 })
  testing.raises("no all-reduce of 2 or more replicas", model,
    { collectives = {}, step_time_s = 1, gradient_bytes = 1 })
  testing.raises("step_time_s must be above 0", model, { collectives = rows, step_time_s = -1, gradient_bytes = 1 })
  testing.raises("unknown pattern 'star'", model,
    { collectives = rows, step_time_s = 1, gradient_bytes = 1, pattern = "star" })
end)
