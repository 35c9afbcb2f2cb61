-- Which devices a night leaves out, by what doctor finds on them.
local gb = require "gpubench"
local testing = require "testing"
local native = gb._native

-- What a dry run says where the look at the devices prints these lines.
local function night(lines, suite_text)
  local path = native.options.out .. "/night.lua"
  local file <close> = assert(io.open(path, "w"))
  file:write(suite_text or 'return { minutes = 1, free_memory_bytes = 8e9, scripts = { "batch_size" } }')
  file:close()
  local said, warned, host, print_before, stderr = {}, {}, native.host, print, io.stderr
  native.host = {
    program = "gpubench",
    run_program = function() return { status = 0, out = table.concat(lines, "\n") .. "\n", out_of_time = false } end,
  }
  print = function(text) said[#said + 1] = text end
  io.stderr = { write = function(_, ...) warned[#warned + 1] = table.concat { ... } end }
  package.loaded["gpubench.commands.nightly"] = nil
  local ok, reason = pcall(function() return require "gpubench.commands.nightly" { suite = path, dry_run = true } end)
  native.host, print, io.stderr = host, print_before, stderr
  assert(ok, reason)
  return table.concat(said, "\n"), table.concat(warned)
end

local free = "\tfree_memory_bytes\t9e9"

testing.case("a GPU that is throttled, shared or faulty is left out, and the others are measured", function()
  local text = night {
    "gpu:0" .. free, "gpu:1" .. free, "gpu:2" .. free, "gpu:3\tfree_memory_bytes\t1e9", "gpu:4" .. free, "cpu:0" .. free,
    "gpu:0\tgpu_throttling\tthermal slowdown, 92 °C",
    "gpu:1\tgpu_sharing\tused by python3 (process 17)",
    "gpu:2\tgpu_errors\t2 uncorrected since the driver was loaded",
    "gpu:4\tgpu_persistence\toff",
  }
  testing.contains(text, "left out: gpu:0: it is throttled: thermal slowdown, 92 °C")
  testing.contains(text, "left out: gpu:1: others use it: used by python3 (process 17)")
  testing.contains(text, "left out: gpu:2: errors of its memory: 2 uncorrected")
  testing.contains(text, "left out: gpu:3: 954 MiB are free")
  testing.contains(text, "batch_size on gpu:4:")
  testing.contains(text, "batch_size on cpu:0:")
end)

testing.case("a suite may allow a throttled GPU", function()
  local text = night({ "gpu:0" .. free, "gpu:0\tgpu_throttling\tthermal slowdown" },
    'return { minutes = 1, allow_throttled = true, scripts = { "batch_size" } }')
  testing.contains(text, "batch_size on gpu:0:")
end)

testing.case("what is wrong with the whole machine is said", function()
  local _, warned = night { "cpu:0" .. free, "\tcpu_governor\tprocessor 0: powersave" }
  testing.contains(warned, "doctor: cpu_governor: processor 0: powersave")
end)
