-- Iterators that a script forgot do not pile up threads and memory.
local gb = require "gpubench"
local testing = require "testing"

local function now()
  local status = io.open("/proc/self/status"):read "a"
  return tonumber(status:match "Threads:%s+(%d+)"), tonumber(status:match "VmRSS:%s+(%d+)") // 1024
end
local function most(dataset, count)
  local threads, mebibytes = 0, 0
  for _ = 1, count do
    local iterator = dataset:iter()
    iterator()
    local t, m = now()
    threads, mebibytes = math.max(threads, t), math.max(mebibytes, m)
  end
  return threads, mebibytes
end

testing.case("threads", function()
  local threads = most(gb.data.Dataset.range(50):map(function(v) return v * 2 end, { num_parallel_calls = 2 }):batch(4)
    :prefetch(2), 400)
  testing.is_true(threads <= 256, threads .. " threads")
end)
testing.case("memory", function()
  local _, mebibytes = most(gb.data.Dataset.from_tensor_slices(gb.zeros { 64, 1024, 256 }):shuffle(64):batch(16)
    :prefetch(4), 100)
  testing.is_true(mebibytes <= 1536, mebibytes .. " MiB")
end)
