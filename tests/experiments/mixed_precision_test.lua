-- What mixed_precision says of a row follows from its loss and its time, which are given here.
local gb = require "gpubench"
local experiments = require "declared"
local testing = require "testing"

gb._native.keep_configuration()

local declaration = experiments.of "mixed_precision"
local narrowest, widest = declaration.axes[2].values[1], declaration.axes[2].values[2]
local largest = declaration.axes[3].values[2]
local on_every_device = { "float32", "mixed_bfloat16", "mixed_float16", "mixed_float16_unscaled" }

-- The rows of these precisions, with these step times, where a bfloat16 product is twice as fast.
local function rows_with(precisions, times)
  local rows = {}
  for index, precision in ipairs(precisions) do
    local function training()
      return { step_time_s = times[index], step_time_low_s = times[index], step_time_high_s = times[index],
        peak_memory_bytes = index == 1 and 200 or 100, quality = "ok" }
    end
    local function kernels() return { { flops_per_s = 1e9 }, { flops_per_s = 2e9 } } end
    experiments.with(gb.measure, { training = training, kernels = kernels }, function()
      rows[index] = experiments.row_of(declaration,
        { device = gb.devices()[1], width = narrowest, batch_size = largest, precision = precision })
    end)
    testing.equal(rows[index].status .. (rows[index].detail or ""), "ok")
  end
  return rows
end

-- Claims on speed and memory look at the widest layers, the one on float16 without scaling at the narrowest.
local function judged(rows, width)
  for _, row in ipairs(rows) do row.width = width end
  return experiments.verdicts(declaration, rows, { gb.axis("precision", declaration.axes[4].values) })
end

testing.case("float16 without loss scaling is wrong, the mixed policies are not", function()
  local rows = rows_with(on_every_device, { 2, 1, 1, 1 })
  testing.equal(rows[1].loss_gap, nil)
  testing.is_true(rows[2].loss_gap < 0.5 and rows[3].loss_gap < 0.5, "the mixed policies learn what float32 learns")
  testing.equal(rows[2].verdict, nil)
  testing.is_true(rows[4].loss_gap > 1, "gradients of the mean over a large batch vanish in float16")
  testing.contains(rows[4].verdict, "fast but wrong: its loss is ")
  testing.contains(rows[4].verdict, " half-widths of float32's band from it")
  testing.is_true(rows[4].final_loss > rows[1].final_loss, "and it learns less")
  local wide = judged(rows, widest)
  testing.equal({ wide[1], wide[2], wide[3], wide[4] }, { "confirmed", "confirmed", "confirmed", "confirmed" })
  testing.equal(judged(rows, narrowest)[5], "confirmed")
  testing.is_true(rows[2].step_memory_bytes < rows[1].step_memory_bytes, "activations are half as large")

  rows[2].step_time_s = 1.9
  testing.equal(judged(rows, widest)[1], "refuted")
  rows[2].product_gain = 1.2
  testing.equal(judged(rows, widest)[1], "not measurable here")

  local slow = rows_with({ "float32", "mixed_float16_unscaled" }, { 1, 2 })[2]
  testing.contains(slow.verdict, "wrong: its loss is ")
  testing.is_true(not slow.verdict:find("fast", 1, true), "a slow one is not called fast")

  rows[4].loss_gap, rows[2].loss_gap, rows[3].loss_gap = 0.5, 2, 2
  local contrary = judged(rows, narrowest)
  testing.equal({ contrary[3], contrary[4], contrary[5] }, { "refuted", "refuted", "refuted" })
end)

testing.case("the answer is about speed, memory and learning", function()
  local rows = rows_with(on_every_device, { 2, 1, 1, 1 })
  for _, row in ipairs(rows) do row.width = widest end
  local one = experiments.judge(declaration, rows, { gb.axis("precision", declaration.axes[4].values) })
  testing.contains(one[1].answer,
    "Use mixed_bfloat16: with the widest layers and the largest batch a step is 2 times [2, 2] as fast")
  testing.contains(one[2].answer, "With mixed_bfloat16 a step takes ")
  testing.contains(one[3].answer, "The model learns the same: with mixed_bfloat16 its loss changes by at most ")
end)

testing.case("TF32 is for GPUs", function()
  testing.contains(declaration.skip { device = "cpu:0", precision = "tf32" }, "NVIDIA's GPUs from Ampere on")
  testing.contains(declaration.skip { device = "emulated:t4:0", precision = "tf32" }, "NVIDIA's GPUs from Ampere on")
  testing.equal(declaration.skip { device = "gpu:0", precision = "tf32" }, nil)
  testing.equal(declaration.skip { device = "cpu:0", precision = "float32" }, nil)
end)

testing.case("precisions are of the list", function()
  local sweep = require "gpubench.sweep.points"
  testing.raises("--set precision=float8: possible: float32, mixed_bfloat16, mixed_float16, mixed_float16_unscaled, "
    .. "tf32", sweep.override, declaration.axes, { precision = { "float8" } })
end)
