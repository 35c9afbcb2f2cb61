-- A cache is measured when it is full, or the row says that it was not; what was dropped before costs no step its time.
local gb = require "gpubench"
local testing = require "testing"

local function slow(elements, cached)
  local data = gb.data.Dataset.from_tensor_slices { gb.ones { elements, 3 }, gb.ones { elements, 1 } }
    :throttle { latency = 0.002 }
  return cached(data):batch(10)
end
local function in_memory(data) return data:cache() end
local number = 0
local function in_a_file(data)
  number = number + 1
  return data:cache(gb._native.options.out .. "/results/cache_" .. number)
end
local function model()
  local made = gb.Sequential { gb.layers.Dense(1, { input_shape = { 3 } }) }
  made:compile { optimizer = "sgd", loss = "mse" }
  return made
end

for name, cached in pairs { memory = in_memory, file = in_a_file } do
  testing.case("a cache in " .. name .. " that fits into half of the budget is filled first", function()
    local options = { budget = 1.0, min_time = 0.05, warmup = 0.05 }
    local row = gb.measure.pipeline(slow(150, cached), options)  -- 0.3 s
    testing.is_true(row.elements_per_s * 10 > 5000, row.elements_per_s)
    testing.is_true(not tostring(row.quality):find "cache", row.quality)
    local trained = gb.measure.training(model(), slow(150, cached), options)
    testing.is_true(trained.examples_per_s > 1000, trained.examples_per_s)
    testing.is_true(not tostring(trained.quality):find "cache", trained.quality)
  end)
  testing.case("a cache in " .. name .. " that does not is named", function()
    local options = { budget = 0.2, min_time = 0.05, warmup = 0.02 }
    for _, row in ipairs { (gb.measure.pipeline(slow(2000, cached), options)),
      (gb.measure.training(model(), slow(2000, cached), options)) } do
      testing.contains(row.quality, "unreliable: a cache was still being filled")
      testing.equal(row.doubt, "cache")
    end
  end)
end

testing.case("what the script has dropped is freed before the first measured step", function()
  local options = { budget = 0.2, min_time = 0.05, warmup = 0.05, trace = false }
  local data = gb.data.Dataset.from_tensor_slices { gb.ones { 8, 3 }, gb.ones { 8, 1 } }:batch(4)
  local ways = {
    loop = function(seen) gb.measure.loop(function() seen() end, data, options) end,
    pipeline = function(seen)
      local ones = gb.data.Dataset.from_generator(function()
        seen()
        for _ = 1, 100 do coroutine.yield(1.0) end
      end, { types = { "float32" } })
      gb.measure.pipeline(ones, options)
    end,
  }
  for name, measure in pairs(ways) do
    local dropped = setmetatable({}, { __mode = "v" })
    for i = 1, 1000 do dropped[i] = gb.ones { 1 } end
    local left
    measure(function()
      if left then return end
      left = 0
      for _ in pairs(dropped) do left = left + 1 end
    end)
    testing.equal(left, 0, name)
  end
end)
