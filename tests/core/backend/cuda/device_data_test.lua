-- Pipelines whose elements end on gpu:0, through all layers of the program with CUDA on the CPU.
local gb = require "gpubench"
local testing = require "testing"

local function on_host(fn)
  return gb.device("cpu:0", fn)
end

-- 48 examples of 12 numbers whose class is which third is largest.
local function examples()
  local x, y = {}, {}
  math.randomseed(7)
  for i = 1, 48 do
    local class = math.random(0, 2)
    x[i], y[i] = {}, class
    for k = 1, 12 do x[i][k] = math.random() + ((k - 1) // 4 == class and 1 or 0) end
  end
  return on_host(function()
    return gb.data.Dataset.from_tensor_slices { gb.tensor(x), gb.tensor(y, { dtype = "int64" }) }
  end)
end

local function trained(data)
  gb.config.set_seed(3)
  local model = gb.Sequential {
    gb.layers.Dense(16, { activation = "relu", input_shape = { 12 } }),
    gb.layers.Dense(3, { activation = "softmax" }),
  }
  model:compile { optimizer = "adam", loss = "sparse_categorical_crossentropy", metrics = { "accuracy" } }
  local history = model:fit(data, { epochs = 3, verbose = 0 }).history
  return { history.loss, history.accuracy, model:evaluate(data).loss }
end

testing.case("a model trains on elements that are on its device as on those of the host", function()
  local data = examples():batch(16)
  local expected = trained(data)
  testing.equal(trained(data:prefetch_to_device "gpu:0"), expected)
  testing.equal(trained(data:prefetch_to_device("gpu:0", 1)), expected)
  testing.equal(trained(data:prefetch_to_device "cpu:0"), expected)
end)

testing.case("a map reads tensors of the device, on the host too", function()
  local prices = gb.tensor({ 5, 7, 9 }, { dtype = "int64" })
  testing.equal(prices.device, "gpu:0")
  local function priced(x) return (prices + 1):gather(x) end
  for _, options in ipairs { {}, { num_parallel_calls = 2 }, { device = "gpu:0" } } do
    local values = {}
    for x in gb.data.Dataset.range(3):map(priced, options):iter() do values[#values + 1] = x:item() end
    testing.equal(values, { 6, 8, 10 })
  end
end)

testing.case("a map on the device gives what it gives on the host, before and behind a batch", function()
  local function noisy(x, y)
    return x * 2 + gb.random.uniform({ 12 }, { seed = 4 }), y
  end
  local function collect(data)
    local values = {}
    for x, y in data:iter { from = { epoch = 3, position = 1 } } do
      values[#values + 1] = { x:to_table(), y:to_table() }
    end
    return values
  end
  local host = collect(examples():map(noisy))
  testing.equal(#host, 47)
  testing.equal(collect(examples():map(noisy, { device = "gpu:0" })), host)
  testing.equal(collect(examples():map(noisy, { device = "cpu:0" })), host)
  testing.equal(collect(examples():prefetch_to_device("gpu:0"):map(noisy, { device = "gpu:0" })), host)
  local function doubled(x, y) return x * 2, y end
  testing.equal(collect(examples():batch(5):map(doubled, { device = "gpu:0" })),
    collect(examples():map(doubled):batch(5)))
end)

testing.case("a loop gets tensors on the device, and its state goes on there", function()
  local data = examples():batch(16):map(function(x, y) return x:sqrt(), y end, { device = "gpu:0" })
  testing.equal(tostring(data),
    "Dataset(from_tensor_slices > batch(size=16) > map(device=gpu:0): (float32[16, 12], int64[16]))")
  local iterator = data:iter()
  local first = iterator()
  testing.equal(first.device, "gpu:0")
  local state = iterator:state()
  local second = iterator():to_table()
  for x in data:iter { from = state } do
    testing.equal(x:to_table(), second)
    break
  end
  testing.near(first[1][1]:item() ^ 2, examples():batch(16):iter()()[1][1]:item(), 1e-6)
end)

testing.case("statistics tell of the copies", function()
  local data = examples():batch(16):prefetch_to_device("gpu:0", 2):take(3)
  for _ in data:iter() do end
  local row = data:stats()[3]
  testing.equal({ row.stage, row.elements, row.workers }, { "prefetch_to_device", 3, 1 })
end)

testing.case("loops written by hand and pipelines are measured", function()
  local data = examples():batch(16):prefetch_to_device "gpu:0"
  local limits = { budget = 0.1, min_time = 0.05, warmup = 0.05 }
  local row = gb.measure.loop(function(x) return (x * x):sum() end, data, limits)
  testing.equal(row.batch_size, 16)
  testing.is_true(gb.measure.pipeline(data, limits).elements > 0, "elements")
end)

testing.case("what cannot be says so", function()
  local data = examples():batch(16)
  local function same(x, y) return x, y end
  testing.raises("there is no device gpu:5; there is gpu:0, cpu:0", data.prefetch_to_device, data, "gpu:5")
  testing.raises("there is no device gpu:5; there is gpu:0, cpu:0", data.map, data, same, { device = "gpu:5" })
  testing.raises("prefetch_to_device: a buffer of 0 elements; at least 1 is needed", data.prefetch_to_device, data,
    "gpu:0", 0)
  testing.raises("batch: its source's elements are on gpu:0; put the map behind the batch",
    function() return data:map(same, { device = "gpu:0" }):batch(2) end)
  testing.raises("map: a map on a device has no parallel calls: it runs in the consumer's thread, in order", data.map,
    data, same, { device = "gpu:0", num_parallel_calls = 2 })
  testing.raises("map: only a function that is traced runs on a device", data.map, data, gb.data.lua_function(same),
    { device = "gpu:0" })
  local model = on_host(function()
    local dense = gb.Sequential { gb.layers.Dense(3, { activation = "softmax", input_shape = { 12 } }) }
    dense:compile { loss = "sparse_categorical_crossentropy" }
    return dense
  end)
  testing.raises("is on cpu:0, and the dataset's elements are on gpu:0", function()
    model:fit(data:prefetch_to_device "gpu:0", { verbose = 0 })
  end)
end)
