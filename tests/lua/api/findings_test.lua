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
  testing.equal(first.gain_share, 0.6)
  local names = {}
  for index, remedy in ipairs(first.remedies) do names[index] = remedy.name end
  testing.equal(names, { "larger_batch", "fused_kernels" })
  testing.is_true(first.remedies[1].changes_results)
  testing.equal(first.remedies[1].at_most_times_as_fast, nil)  -- how much of the arithmetic is fixed is not known
  local fixed = native.findings(row { flops_per_step = 100, fixed_flops_per_step = 50 })[1].remedies[1]
  testing.near(fixed.at_most_times_as_fast, 1 / 0.14, 1e-9)
  testing.near(fixed.expected_gain_share, 0.6, 1e-9)
  testing.equal(native.findings(row { input_wait_share = 0.06 })[2].name, "input_bound")
end)

testing.case("rows say what their steps are of, and what the script chose", function()
  local model = gb.Sequential { gb.layers.Dense(4, { input_shape = { 8 } }) }
  model:compile { loss = "mse", passes = { fuse_epilogue = false } }
  local input = gb.data.Dataset.from_tensor_slices { gb.zeros { 64, 8 }, gb.zeros { 64, 4 } }
    :map(function(x, y) return x * 2, y end, { num_parallel_calls = 2 }):batch(16):prefetch(2)
  local short = { budget = 0.05, min_time = 0.01, warmup = 0.02 }
  local trained = gb.measure.training(model, input, short)
  testing.equal({ trained.steps_of, trained.passes_off, trained.pipeline_stages },
    { "model", "fuse_epilogue", "from_tensor_slices; map workers=2; batch; prefetch" })
  testing.is_true(trained.fixed_flops_per_step > 0 and trained.fixed_flops_per_step < trained.flops_per_step)
  local function mean(x) return x:mean() end
  local plain, compiled = gb.measure.loop(mean, input, short), gb.measure.loop(gb.compile(mean), input, short)
  testing.equal({ plain.steps_of, plain.execution or "", compiled.steps_of, compiled.execution, compiled.passes_off },
    { "loop", "", "loop", "graph", "none" })
  testing.equal(gb.measure.inference(model, { batch = 4, duration = 0.02 }).steps_of, "inference")
end)

testing.case("what the script has already is not proposed, and tune is told why", function()
  local cells = row { pipeline_stages = "idx; batch; prefetch", input_wait_share = 0.6, launch_share = 0.02,
    passes_off = "none" }
  local names = {}
  for _, remedy in ipairs(native.findings(cells)[1].remedies) do names[remedy.name] = true end
  testing.equal(names, { cache = true })
  local reasons = native.remedies_of_no_use(cells)
  testing.equal({ reasons.prefetch, reasons.graph, reasons.more_workers, reasons.cache },
    { "the pipeline runs ahead of the training already", "the model runs as a graph already",
      "the pipeline has no map" })
  testing.equal(native.remedies_of_no_use { status = "ok" }, {})
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
