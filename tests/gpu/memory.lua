-- The memory of a GPU: growth, limits, recovery when it is used up, and what is said of what cannot be had.
-- GPU_CHECK_CHUNK is the size of the tensors, in numbers, that fill the whole GPU.
local gb = require "gpubench"
local measurement = require "gpubench.sweep.measurement"
local testing = require "testing"

local native = gb._native
local chunk = math.tointeger(os.getenv "GPU_CHECK_CHUNK" or tostring(1 << 26))
local gpu = "gpu:0"

-- Runs a point by itself, with devices of its own.
local function point(run)
  collectgarbage()
  collectgarbage()
  native.reset_devices()
  return measurement.measure({ run = run }, {}, {}, 1).call:rows()[1]
end

local function on_gpu(body)
  return gb.device(gpu, body)
end

local function sum_of_ones()
  return on_gpu(function() return gb.ones({ 1 << 10 }):sum():item() end)
end

testing.case("memory is taken as it is needed", function()
  local row = point(function()
    local before = gb.config.memory_info(gpu)
    local held = on_gpu(function() return gb.zeros { 4 << 20 } end)
    local after = gb.config.memory_info(gpu)
    return { before = before.reserved, in_use = after.in_use - before.in_use, reserved = after.reserved,
      shape = held.shape[1] }
  end)
  testing.equal(row.detail, nil)
  testing.equal(row.in_use, 16 << 20)
  testing.is_true(row.reserved >= row.before + (16 << 20), "the device gave more")
end)

testing.case("without growth the limit is taken whole", function()
  local row = point(function()
    gb.config.set_memory_limit(gpu, 64 << 20)
    gb.config.set_memory_growth(gpu, false)
    sum_of_ones()
    local use = gb.config.memory_info(gpu)
    return { reserved = use.reserved, limit = use.limit }
  end)
  testing.equal({ row.reserved, row.limit }, { 64 << 20, 64 << 20 })
end)

testing.case("a limit that is too small is an out_of_memory row, and the next point runs", function()
  local failed = point(function()
    gb.config.set_memory_limit(gpu, 1 << 20)
    return on_gpu(function() return { sum = gb.zeros({ 1 << 20 }):sum():item() } end)
  end)
  testing.equal(failed.status, "out_of_memory")
  testing.contains(failed.detail, "gpu:0: out of memory: 4 MiB asked for")
  testing.equal(point(function() return { sum = sum_of_ones() } end).sum, 1024.0)
end)

testing.case("a GPU that is full to the brim says so and works on", function()
  local count = 0
  local failed = point(function()
    return on_gpu(function()
      local held = {}
      while true do
        held[#held + 1] = gb.zeros { chunk }
        count = #held
      end
    end)
  end)
  testing.equal(failed.status, "out_of_memory")
  testing.contains(failed.detail, "gpu:0: out of memory")
  testing.is_true(count > 1, "some tensors fitted")
  print(string.format("%d tensors of %d MiB fitted", count, chunk >> 18))
  testing.equal(point(function() return { sum = sum_of_ones() } end).sum, 1024.0)
end)

testing.case("a limit above the device's memory is refused", function()
  local row = point(function()
    gb.config.set_memory_limit(gpu, 1 << 50)
    return { first = gb.devices()[1] }
  end)
  testing.equal(row.status, "error")
  testing.contains(row.detail, "gpu:0: a memory limit of 1 PiB is more than the ")
end)

testing.case("a device that is not there is refused", function()
  local row = point(function()
    return gb.device("gpu:99", function() return { sum = gb.ones({ 4 }):sum():item() } end)
  end)
  testing.equal(row.status, "error")
  testing.contains(row.detail, "there is no device gpu:99; there ")
end)

testing.case("types and shapes that cannot be computed with are refused with the reason", function()
  local function product(left, right, dtype)
    return point(function()
      return on_gpu(function()
        return { sum = gb.zeros(left, { dtype = dtype }):matmul(gb.zeros(right, { dtype = dtype })):sum():item() }
      end)
    end)
  end
  local of_type, of_shape = product({ 4, 4 }, { 4, 4 }, "int32"), product({ 4, 0 }, { 0, 4 }, "float32")
  testing.equal({ of_type.status, of_shape.status }, { "error", "error" })
  testing.contains(of_type.detail, "matmul: int32[4, 4] is not floating-point; cast it to float32")
  testing.contains(of_shape.detail, "cuda: matmul: sums of no products are not supported")
end)
