-- The experiments about devices and their memory: their points run by themselves, on a GPU too where there is one, and
-- their claims are refuted when what they are about is taken away. Also run by the program with CUDA on the CPU.
local gb = require "gpubench"
local experiments = require "declared"
local testing = require "testing"

local native = gb._native
native.keep_configuration()

local has_gpu = #gb.config.list_physical_devices("GPU") > 0
local accelerator = has_gpu and "gpu:0" or "emulated:h200:0"

local verdicts, repeated = experiments.verdicts, experiments.repeated

local function check_ok(rows)
  for _, row in ipairs(rows) do
    testing.equal(row.status .. (row.detail or ""):gsub("^no shares: .*", ""), "ok")
    testing.equal(row.quality, nil)
  end
end

for _, kind in ipairs(has_gpu and { "gpu", "cpu" } or { "cpu" }) do
  testing.case("visible_devices: what is hidden is neither listed nor used, on " .. kind, function()
    local declaration = experiments.of "visible_devices"
    local point = { kind = kind, visible = "3+1" }
    local rows = experiments.rows_of(declaration, point)
    check_ok(rows)
    testing.equal({ rows[1].listed, rows[1].used, rows[1].refused }, { 2, 2, 2 })
    local function expected(verdict)
      local list = repeated(verdict, #declaration.expect)
      list[3] = "not measurable here"  -- about CUDA_VISIBLE_DEVICES, which is empty here
      return list
    end
    testing.equal(verdicts(declaration, rows), expected "confirmed")

    local function leaves_all_visible() end
    experiments.with(gb.config, { set_visible_devices = leaves_all_visible }, function()
      rows = experiments.rows_of(declaration, point)
      check_ok(rows)
      testing.equal(verdicts(declaration, rows), expected "refuted")
    end)
  end)

  testing.case("memory_growth: preallocated, two programs do not fit, on " .. kind, function()
    local declaration = experiments.of "memory_growth"
    local function rows_of_all()
      local rows = {}
      for _, limit in ipairs(declaration.axes[2].values) do
        for _, growth in ipairs(declaration.axes[3].values) do
          local point = { device = kind .. ":0", limit_bytes = limit, growth = growth }
          local more = experiments.rows_of(declaration, point)
          check_ok(more)
          table.move(more, 1, #more, #rows + 1, rows)
        end
      end
      return rows
    end
    testing.equal(verdicts(declaration, rows_of_all()), repeated("confirmed", #declaration.expect))

    -- With growth whatever is asked for, the claims on preallocation and those that compare with it are wrong.
    experiments.with(gb.config, { set_memory_growth = function() end }, function()
      testing.equal(verdicts(declaration, rows_of_all()),
        { "refuted", "refuted", "refuted", "refuted", "confirmed", "confirmed", "refuted", "confirmed", "confirmed" })
    end)
  end)
end

testing.case("transfer_overhead: moved data is copied in every step, resident data is not", function()
  local declaration = experiments.of "transfer_overhead"
  local bytes, calls, held, best = 1 << 16, {}, nil, 1e6
  local function copies(device)
    testing.equal(device, accelerator)
    return { to_device_bytes_per_s = best }
  end
  local function loop(step)
    held = gb.config.memory_info(accelerator).in_use
    for _ = 1, 2 do calls[#calls + 1] = step() end
    return { step_time_s = 0.5, step_time_low_s = 0.25, step_time_high_s = 1, batch_size = 1 }
  end
  experiments.with(gb.measure, { loop = loop, copies = copies }, function()
    for _, placement in ipairs { "pageable", "pinned", "resident" } do
      local row = experiments.row_of(declaration, { device = accelerator, data_bytes = bytes, placement = placement })
      testing.equal(row.status .. (row.detail or ""), "ok")
      testing.equal(row.emulation ~= nil, not has_gpu)
      testing.equal({ row.copied_bytes_per_s, row.copied_bytes_low_per_s, row.copied_bytes_high_per_s, row.link_share },
        placement ~= "resident" and { bytes / 0.5, bytes / 1.0, bytes / 0.25, bytes / 0.5 / best } or {})
      testing.equal(held >= bytes, placement == "resident")
      -- The mean of uniform numbers, so the step did add up all of its data.
      if has_gpu then testing.near(calls[#calls] / (bytes / 4), 0.5, 0.05) end
    end
  end)
end)

testing.case("transfer_overhead: there is no link within a CPU", function()
  local declaration = experiments.of "transfer_overhead"
  local row = experiments.row_of(declaration, { device = "cpu:0", data_bytes = 4096, placement = "pinned" })
  testing.equal(row.status, "skipped")
end)

testing.case("transfer_overlap: one input slot and two, from page-locked memory", function()
  local declaration = experiments.of "transfer_overlap"
  local batches = {}
  local function training(_, input, options)
    testing.equal({ gb.device(), options.trace }, { accelerator, true })
    for x, y in input:take(2):iter() do batches[#batches + 1] = { x.shape, y.shape } end
    return { step_time_s = 1 }
  end
  local rows = {}
  experiments.with(gb.measure, { training = training }, function()
    for _, slots in ipairs { 1, 2 } do
      local row = experiments.row_of(declaration, { device = accelerator, width = 16, input_slots = slots })
      for width, time in pairs { [16] = 1, [1024] = 2, [4096] = 6 } do
        local copy = {}
        for column, value in pairs(row) do copy[column] = value end
        copy.width, copy.step_time_s = width, time + (slots == 1 and 1 or 0)
        rows[#rows + 1] = copy
      end
    end
  end)
  check_ok(rows)
  testing.equal(batches[1], { { 4096, 2048 }, { 4096, 1 } })
  testing.equal(verdicts(declaration, rows), repeated("confirmed", #declaration.expect))
  for _, row in ipairs(rows) do row.step_time_s = 2 end  -- the second slot changes nothing
  testing.equal(verdicts(declaration, rows), { "confirmed", "refuted", "confirmed" })
end)

testing.case("transfer_overlap: a CPU reads its inputs where they lie", function()
  local declaration = experiments.of "transfer_overlap"
  local row = experiments.row_of(declaration, { device = "cpu:0", width = 16, input_slots = 1 })
  testing.equal(row.status, "skipped")
end)

testing.case("cpu_gpu_crossover: reported with its interval", function()
  local declaration = experiments.of "cpu_gpu_crossover"
  local devices = {}
  local function training()
    devices[#devices + 1] = gb.device()
    return { step_time_s = 1 }
  end
  local rows = {}
  experiments.with(gb.measure, { training = training }, function()
    for _, device in ipairs { accelerator, "cpu:0" } do
      for _, width in ipairs { 8, 16, 32 } do
        rows[#rows + 1] = experiments.row_of(declaration, { device = device, batch_size = 16, width = width })
      end
    end
  end)
  testing.equal(devices, { accelerator, accelerator, accelerator, "cpu:0", "cpu:0", "cpu:0" })
  check_ok(rows)
  -- The GPU takes as long whatever the width, the CPU longer and longer.
  for index, time in ipairs { 2, 2, 2, 1, 2, 4 } do rows[index].step_time_s = time end
  local one = experiments.judge(declaration, rows)[1]
  testing.equal({ one.verdict, one.reason },
    { "confirmed", "between width 8 and 32: ratio 2 at width 8, 0.5 at width 32 at batch_size=16" })
end)

-- What a process with each fault gives: its outcome, and what doctor finds in it.
local function process_with_faults(asked)
  return function(options)
    asked[#asked + 1] = options
    local checks = {}
    for index, name in ipairs(options.checks or {}) do
      checks[index] = { name = name, problem = true, found = "a fault", remedy = "mend it" }
    end
    local result = { status = "ok", checks = checks,
      row = { step_time_s = options.device and 1 or #asked == 1 and 1 or 3 } }
    if options.memory_limit then
      result = { status = "out_of_memory", detail = "cpu:0: out of memory", checks = checks }
    end
    if options.device and not options.soft then
      local hidden = options.environment and "CUDA_VISIBLE_DEVICES hides " or "there is no device "
      result = { status = "error", detail = hidden .. options.device, checks = checks }
    elseif options.soft then
      result.detail = options.device .. " is missing, cpu:0 took its place"
    end
    return result
  end
end

local function rows_with_faults(declaration, process)
  local rows = {}
  experiments.with(gb.measure, { in_process = process }, function()
    for _, fault in ipairs(declaration.axes[1].values) do
      for _, row in ipairs(experiments.rows_of(declaration, { fault = fault })) do rows[#rows + 1] = row end
    end
  end)
  return rows
end

testing.case("misconfiguration: every fault is made, named, and stops or falls back as asked", function()
  local declaration, asked = experiments.of "misconfiguration", {}
  local rows = rows_with_faults(declaration, process_with_faults(asked))
  local outcomes = {}
  for _, row in ipairs(rows) do
    testing.is_true(row.status == "ok" or row.status == "skipped", row.fault .. ": " .. (row.detail or ""))
    if row.status == "ok" then testing.equal({ row.fault, row.named }, { row.fault, row.nameable }) end
    outcomes[row.fault] = row.outcome
  end
  testing.equal({ outcomes.none, outcomes.missing_device, outcomes.missing_device_soft, outcomes.small_memory_limit },
    { "ran", "stopped", "fell back", "stopped" })
  local list = verdicts(declaration, rows)
  for index, verdict in ipairs(list) do
    testing.is_true(verdict == "confirmed" or verdict == "not measurable here", index .. ": " .. verdict)
  end
end)

testing.case("misconfiguration: a fault that nothing names refutes the claim", function()
  local declaration = experiments.of "misconfiguration"
  local process = process_with_faults {}
  local rows = rows_with_faults(declaration, function(options)
    local result = process(options)
    result.checks = {}
    return result
  end)
  testing.equal(verdicts(declaration, rows)[1], "refuted")
end)
