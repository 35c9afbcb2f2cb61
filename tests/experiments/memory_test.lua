-- The experiments about memory: their rows and verdicts, for whatever does not depend on how fast the machine is.
local gb = require "gpubench"
local experiments = require "declared"
local testing = require "testing"

local declared, rows_of = experiments.of, experiments.rows_of
local device = gb.devices()[1]

gb._native.keep_configuration()

-- All points of a declaration whose first axis is the device.
local function swept(declaration)
  local points = { { device = device } }
  for index = 2, #declaration.axes do
    local axis, longer = declaration.axes[index], {}
    for _, point in ipairs(points) do
      for _, value in ipairs(axis.values) do
        local next = { [axis.name] = value }
        for name, known in pairs(point) do next[name] = known end
        longer[#longer + 1] = next
      end
    end
    points = longer
  end
  local rows = {}
  for _, point in ipairs(points) do
    for _, row in ipairs(rows_of(declaration, point)) do rows[#rows + 1] = row end
  end
  return rows
end

-- Verdicts by claim.
local function judged(declaration, rows)
  for _, row in ipairs(rows) do row.quality = row.status == "ok" and "ok" or nil end  -- however busy this machine is
  local verdicts = {}
  for _, one in ipairs(experiments.judge(declaration, rows)) do
    verdicts[one.claim] = one.verdict .. (one.verdict == "confirmed" and "" or ": " .. one.reason)
  end
  return verdicts
end

local function confirmed(name, wanted)
  local declaration = declared(name)
  local rows = swept(declaration)
  local verdicts = judged(declaration, rows)
  for _, claim in ipairs(wanted) do
    testing.is_true(verdicts[claim], claim .. " is claimed")
    testing.equal(verdicts[claim], "confirmed")
  end
  return rows
end

testing.case("gradient_accumulation: less memory, the same update", function()
  local rows = confirmed("gradient_accumulation", {
    "activations_ratio falls with gradient_accumulation_steps for every device",
    "four parts hold a quarter of the activations",
    "four parts at least halve all that the step takes",
    "the update is the whole batch's, but for rounding",
  })
  testing.equal(#rows, 4)
end)

testing.case("dynamic_batch_size: the largest batch that fits, in few attempts", function()
  confirmed("dynamic_batch_size", {
    "batch_size rises with limit_bytes for every device",
    "it takes at most four attempts",
    "what was predicted is what is used, within 2 %",
    "the batch puts most of the limit to use",
    "a tenth more examples run out of memory",
  })
end)

testing.case("memory_exhaustion: the row of what ran out names tensors, and remedies fit", function()
  local rows = confirmed("memory_exhaustion", {
    "without a remedy the large batch runs out of memory, and the small one does not",
    "a smaller batch trains within the limit",
    "the large batch trains within the limit in four parts",
    "the large batch trains within the limit when activations are computed again",
    "the large batch trains within the limit when activations wait in the host's memory",
    "accumulation lowers the peak of a batch that fits too",
  })
  for _, row in ipairs(rows) do
    if row.status == "out_of_memory" then testing.contains(row.detail, "the plan's largest tensors: dense") end
  end
end)

testing.case("memory_exhaustion: the answer names a remedy, what it costs, and no speed that does not count", function()
  local declaration, rows = declared "memory_exhaustion", {}
  for index, remedy in ipairs(declaration.axes[3].values) do
    rows[index] = {
      device = device, asked_batch_size = 4096, remedy = remedy, status = remedy == "none" and "out_of_memory" or "ok",
      quality = "ok", limit_ratio = 0.1 * index, examples_per_s = 100 * index, examples_low_per_s = 100 * index,
      examples_high_per_s = 100 * index,
    }
  end
  testing.equal(declaration.answer(rows), {
    "Train the batch of 4096, which runs out of memory, with offload: it takes 50 % of the memory limit and reaches "
      .. "2.5 times [2.5, 2.5] the examples/s of the smaller batch",
    "It fits with these too: accumulation (30 %, 1.5 times [1.5, 1.5]), recomputation (40 %, 2 times [2, 2]), "
      .. "mixed_bfloat16 (60 %, 3 times [3, 3])",
  })
  rows[3].examples_low_per_s, rows[3].examples_high_per_s = 250, 600  -- it may be as fast
  testing.contains(declaration.answer(rows)[1],
    "with accumulation: it takes 30 % of the memory limit and reaches 1.5 times")
  for _, row in ipairs(rows) do
    row.quality = "unreliable: other programs took 14 % of the processor time that it wanted"
  end
  testing.equal(declaration.answer(rows), {
    "Train the batch of 4096, which runs out of memory, with accumulation: it takes 30 % of the memory limit",
    "It fits with these too: recomputation (40 %), offload (50 %), mixed_bfloat16 (60 %)",
  })
  rows[1].status = "ok"
  testing.equal(declaration.answer(rows), nil)
end)

testing.case("swapping: beyond the limit only with activations on the host, and what goes "
    .. "there is predicted", function()
  local declaration, rows = declared "swapping", {}
  for _, size in ipairs(declaration.axes[1].values) do
    for _, offload in ipairs { false, true } do
      local row = experiments.row_of(declaration, { size_over_limit = size, offload = offload })
      rows[#rows + 1] = row
      if offload then
        testing.is_true(row.offloaded_bytes > 0.3 * size * row.limit_bytes)
        testing.is_true(row.predicted_examples_per_s > 0 and row.agreement > 0)
      end
    end
  end
  local verdicts = judged(declaration, rows)
  testing.equal(verdicts["a step that keeps everything runs out of memory beyond the limit, and only there"],
    "confirmed")
  testing.equal(verdicts["with activations offloaded every size trains within the limit"], "confirmed")
end)

testing.case("fragmentation: shown on the eager pool, absent under the planner", function()
  confirmed("fragmentation", {
    "executed eagerly, growing batches reserve half as much again as the largest alone, at least",
    "most of what is then free is not in one piece",
    "planned, they reserve no more than the largest alone",
    "a plan is within 5 % of the most that is alive at one time",
    "preallocated, what is free is in one piece",
  })
end)
