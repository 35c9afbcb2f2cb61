-- Measures what a profile of an emulated accelerator describes, on a device that is there.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local native = gb._native
local seconds = native.system.seconds

local device_calibration = {}

local mib = 1 << 20
-- Of products [m, k] times [k, n], from about the time below which profiles are not checked to that which a calibration
-- can afford.
local products = {
  { 512, 512, 512 }, { 1024, 512, 1024 }, { 1024, 1024, 1024 }, { 2048, 1024, 1024 }, { 1024, 4096, 1024 },
  { 2048, 2048, 2048 }, { 4096, 1024, 4096 }, { 4096, 2048, 2048 }, { 4096, 4096, 4096 }, { 8192, 2048, 8192 },
}
local memory_sizes = { 16 * mib, 32 * mib, 64 * mib, 128 * mib, 256 * mib }
local row_lengths = { 1024, 4096, 16384 }
local repetitions = 5
local half = { ["float32"] = false, ["bfloat16"] = true }

-- Seconds of one call of `op` on the device, in a row of many, without what a row costs once. Of several rows the
-- shortest counts, which nothing has disturbed.
local function time_of(op, count)
  local tiny = gb.zeros { 1 }
  local function row(calls)
    local started = seconds()
    for _ = 1, calls do op() end
    tiny:sum():item()  -- waits for the device
    return seconds() - started
  end
  row(1)
  local one, many = math.huge, math.huge
  for _ = 1, repetitions do
    many, one = math.min(many, row(count + 1)), math.min(one, row(1))
  end
  return (many - one) / count
end

local function product_samples(device, dtype)
  local kernels = {}
  for index, size in ipairs(products) do
    kernels[index] = { op = "matmul", m = size[1], n = size[2], k = size[3], dtype = dtype }
  end
  kernels.device, kernels.budget = device, 0.1 * #products
  local samples = {}
  for index, row in ipairs(gb.measure.kernels(kernels)) do
    samples[index] = {
      kind = "product", flops = row.flops_per_step, bytes = row.bytes_per_s * row.step_time_s,
      seconds = row.step_time_s, half = half[dtype],
    }
  end
  return samples
end

-- The operations of an element decide nothing here.
local function memory_samples(kind, op)
  local samples = {}
  for _, length in ipairs(kind == "softmax" and row_lengths or { row_lengths[1] }) do
    for _, bytes in ipairs(memory_sizes) do
      local x = gb.random.uniform { bytes // 4 // length, length }
      samples[#samples + 1] = {
        kind = kind, flops = bytes // 4, bytes = 2 * bytes, row_bytes = 4 * length,
        seconds = time_of(function() return op(x) end, 20),
      }
    end
  end
  return samples
end

local function launch_time()
  local x = gb.zeros { 256 }
  return time_of(function() return x:relu() end, 2000)
end

local function pageable_rate(device)
  local bytes = 64 * mib
  local data = gb.device("cpu:0", function() return gb.zeros { bytes // 4 } end)
  return bytes / time_of(function() return data:to(device) end, 4)
end

local function concatenated(...)
  local all = {}
  for _, list in ipairs { ... } do table.move(list, 1, #list, #all + 1, all) end
  return all
end

-- { numbers, sources, samples = { [kind] = samples } }. `like`: the profile from which comes what is not measured.
function device_calibration.measure(device, like)
  if device:find "^cpu" then
    check.fail("calibrate-device: %s computes in the host's own memory; a profile describes an "
      .. "accelerator with a memory of its own",
      device)
  end
  return gb.device(device, function()
    local measured = {
      ["products of float32"] = product_samples(device, "float32"),
      ["products of bfloat16"] = product_samples(device, "bfloat16"),
      ["element-wise kernels"] = memory_samples("elements", function(x) return x:relu() end),
      ["softmax"] = memory_samples("softmax", function(x) return x:softmax() end),
    }
    local all = concatenated(measured["products of float32"], measured["products of bfloat16"],
      measured["element-wise kernels"],
      measured["softmax"])
    local numbers = native.emulation.fit({ like = like }, all)
    local copies = gb.measure.copies(device)
    numbers.launch_s = launch_time()
    numbers.pinned_bytes_per_s = copies.to_device_bytes_per_s
    numbers.pageable_bytes_per_s = pageable_rate(device)
    local source, sources = "measured by gpubench calibrate-device", {}
    for _, name in ipairs { "memory_bytes_per_s", "float32_flops_per_s", "float16_flops_per_s", "ramp_s", "row_bytes",
      "launch_s", "pinned_bytes_per_s", "pageable_bytes_per_s" } do
      sources[name] = source
    end
    return { numbers = numbers, sources = sources, samples = measured }
  end)
end

return device_calibration
