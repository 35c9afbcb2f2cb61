-- The verdict of measured rows, and what gb._native.findings tells tune of a row.
local gb = require "gpubench"
local testing = require "testing"
local native = gb._native

local function row(cells)
  local all = {
    status = "ok", quality = "ok", device = "gpu:0", execution = "graph", precision = "mixed_bfloat16", replicas = 1,
    batch_size = 32, examples_per_s = 3200.0, compute_share = 0.35, launch_share = 0.6, copy_share = 0.01,
    input_wait_share = 0.02, host_share = 0.01, other_share = 0.01, mfu = 0.28,
  }
  for name, value in pairs(cells or {}) do all[name] = value end
  return all
end

testing.case("findings come with their remedies, the largest gain first", function()
  local first = native.findings(row { input_wait_share = 0.06 })[1]
  testing.equal({ first.name, first.kind, first.headline },
    { "launch_bound", "batch too small", "launch bound (batch too small): 60 % of the step" })
  testing.equal({ first.gain_share, first.at_most_times_as_fast }, { 0.6, 2.5 })
  local names = {}
  for index, remedy in ipairs(first.remedies) do names[index] = remedy.name end
  testing.equal(names, { "larger_batch", "fused_kernels" })
  testing.is_true(first.remedies[1].changes_results)
  testing.equal(native.findings(row { input_wait_share = 0.06 })[2].name, "input_bound")
end)

testing.case("a row without steps has none, and no row is a mistake", function()
  testing.equal(native.findings { figure_per_s = 1.0 }, {})
  testing.raises("got number", native.findings, 3)
end)

testing.case("training, loops and inference have a verdict", function()
  local model = gb.Sequential { gb.layers.Dense(4, { input_shape = { 8 } }) }
  model:compile { loss = "mse" }
  local input = gb.data.Dataset.from_tensor_slices { gb.zeros { 64, 8 }, gb.zeros { 64, 4 } }:batch(16)
  local short = { budget = 0.05, min_time = 0.01, warmup = 0.02 }
  local step = gb.compile(function(x) return x:mean() end)
  for _, measured in ipairs {
    gb.measure.training(model, input, short), gb.measure.loop(step, input, short),
    gb.measure.inference(model, { batch = 4, duration = 0.02 }),
  } do
    testing.is_true(#measured.verdict > 0)
    testing.equal(measured.verdict:find "\n", nil)
  end
end)
