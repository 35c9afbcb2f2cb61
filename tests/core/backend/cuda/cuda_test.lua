-- Models on gpu:0 through all layers of the program; run by the program with CUDA on the CPU.
local gb = require "gpubench"
local measurement = require "gpubench.sweep.measurement"
local testing = require "testing"
local thirds = require "thirds"

local native = gb._native

local function dense()
  return gb.Sequential {
    gb.layers.Dense(16, { activation = "relu", input_shape = { 12 } }),
    gb.layers.Dense(8, { activation = "gelu" }),
    gb.layers.Dense(8, { activation = "gelu_tanh" }),
    gb.layers.Dense(3, { activation = "softmax" }),
  }
end

local function convolutional()
  return gb.Sequential {
    gb.layers.Reshape({ 6, 2, 1 }, { input_shape = { 12 } }),
    gb.layers.Conv2D(4, { 3, 3 }, { activation = "relu", padding = "same" }),
    gb.layers.BatchNormalization(),
    gb.layers.MaxPooling2D({ 2, 2 }),
    gb.layers.Dropout(0.25),
    gb.layers.Flatten(),
    gb.layers.Dense(3, { activation = "softmax" }),
  }
end

-- The losses of a few epochs on a device.
local function losses(device, model_of, options)
  gb.config.set_seed(3)
  return gb.device(device, function()
    local x, y = thirds.rows(48)
    local inputs = gb.device("cpu:0", function() return gb.tensor(x) end)
    local labels = gb.device("cpu:0", function() return gb.tensor(y, { dtype = "int64" }) end)
    local model = model_of()
    model:compile { optimizer = gb.optimizers.Adam { learning_rate = 0.02 }, loss = "sparse_categorical_crossentropy",
      metrics = { "accuracy" }, run_eagerly = options and options.eager }
    local history = model:fit(inputs, labels, { epochs = 6, batch_size = 16, verbose = 0 })
    return history.history.loss, history.history.accuracy
  end)
end

local function same(a, b, tolerance)
  testing.equal(#a, #b)
  for i = 1, #a do testing.near(a[i], b[i], tolerance) end
end

testing.case("the GPU comes first and is used without a device scope", function()
  testing.equal(gb.devices(), { "gpu:0", "cpu:0" })
  testing.equal(gb.tensor({ 1 }).device, "gpu:0")
  testing.contains(gb.config.device_description "gpu:0", "CUDA on the CPU")
end)

for name, model_of in pairs { dense = dense, convolutional = convolutional } do
  testing.case(name .. ": trains on the GPU as on the CPU, in both executions", function()
    local host, accuracy = losses("cpu:0", model_of)
    same(losses("gpu:0", model_of), host, 2e-4)
    same(losses("gpu:0", model_of, { eager = true }), host, 2e-4)
    testing.is_true(accuracy[6] > accuracy[1] or accuracy[6] == 1, "it learns")
  end)
end

for name, model_of in pairs { dense = dense, convolutional = convolutional } do
  testing.case(name .. ": trains in bfloat16 on the GPU much as on the CPU", function()
    local function in_bfloat16()
      gb.config.set_floatx "bfloat16"
      local model = model_of()
      gb.config.set_floatx "float32"
      return model
    end
    local host, accuracy = losses("cpu:0", in_bfloat16)
    same(losses("gpu:0", in_bfloat16), host, 0.15)
    same(losses("gpu:0", in_bfloat16, { eager = true }), host, 0.15)
    testing.is_true(accuracy[6] > accuracy[1] or accuracy[6] == 1, "it learns")
  end)
end

testing.case("steps on resident batches copy nothing in, and say what the host does for one", function()
  local x, y = thirds.rows(64)
  gb.config.set_floatx "bfloat16"
  local model = dense()
  gb.config.set_floatx "float32"
  model:compile { optimizer = "adam", loss = "sparse_categorical_crossentropy" }
  local data = gb.device("cpu:0", function()
    return gb.data.Dataset.from_tensor_slices { gb.tensor(x), gb.tensor(y, { dtype = "int64" }) }:batch(16)
  end)
  local row = gb.measure.training(model, data, { budget = 0.2, min_time = 0.1, resident = true })
  testing.equal({ row.precision, row.batch_size }, { "bfloat16", 16 })
  testing.is_true(row.host_time_s > 0, "host time")
  testing.is_true(model:evaluate(data).loss < 1.2, "it trains on them")
end)

testing.case("tensors go from device to device by themselves", function()
  local here = gb.device("cpu:0", function() return gb.tensor { 1, 2, 3 } end)
  local there = gb.device("gpu:0", function() return here * 2 end)
  testing.equal({ there.device, there:to_table()[3] }, { "gpu:0", 6.0 })
end)

testing.case("a training run is measured, with the memory of the GPU and its math in the row", function()
  local x, y = thirds.rows(64)
  local model = dense()
  model:compile { optimizer = "adam", loss = "sparse_categorical_crossentropy" }
  local data = gb.device("cpu:0", function()
    return gb.data.Dataset.from_tensor_slices { gb.tensor(x), gb.tensor(y, { dtype = "int64" }) }:batch(16)
  end)
  local row = gb.measure.training(model, data, { budget = 0.3 })
  testing.equal(row.device, "gpu:0")
  testing.is_true(row.peak_memory_bytes > 0 and row.reserved_memory_bytes >= row.peak_memory_bytes, "memory")
  testing.is_true(row.steps > 0 and row.step_time_s > 0, "steps")
  testing.contains(native.device_facts()[1].library, "CUDA 13.0")
end)

testing.case("rows say why our own kernels compute attention", function()
  local function measured(policy, dropout)
    gb.config.set_dtype_policy(policy)
    local x = gb.Input { 6, 16 }
    local attended = gb.layers.MultiHeadAttention(2, 8, { dropout = dropout })(x)
    local classes = gb.layers.Dense(3, { activation = "softmax" })(gb.layers.Flatten()(attended))
    local model = gb.Model { inputs = x, outputs = classes }
    gb.config.set_dtype_policy "float32"
    model:compile { optimizer = "sgd", loss = "sparse_categorical_crossentropy" }
    local data = gb.device("cpu:0", function()
      local examples, labels = gb.ones { 16, 6, 16 }, gb.zeros({ 16 }, { dtype = "int64" })
      return gb.data.Dataset.from_tensor_slices { examples, labels }:batch(8)
    end)
    return gb.measure.training(model, data, { budget = 0.1 }).own_attention
  end
  testing.equal({ measured("mixed_bfloat16", 0.1), measured("float32", 0) }, { "dropout", "float32" })
  testing.equal(measured("mixed_bfloat16", 0), nil)
end)

-- Runs a point by itself with devices of its own.
local function point(run)
  collectgarbage()
  collectgarbage()
  native.reset_devices()
  return measurement.measure({ run = run }, {}, {}, 1).call:rows()[1]
end

testing.case("a GPU is split into logical ones with limits of their own", function()
  local row = point(function()
    gb.config.set_logical_devices("gpu:0", { { memory_limit = 4 << 20 }, { memory_limit = 64 << 20 } })
    local names = table.concat(gb.devices(), " ")
    local fits = gb.device("gpu:1", function() return gb.zeros { 2 << 20 } end)
    local failed = not pcall(function() return gb.device("gpu:0", function() return gb.zeros { 2 << 20 } end) end)
    return { names = names, failed = tostring(failed), device = fits.device }
  end)
  testing.equal({ row.names, row.failed, row.device }, { "gpu:0 gpu:1 cpu:0", "true", "gpu:1" })
end)

testing.case("a limit that is too small is an out_of_memory row, and the next point runs", function()
  local failed = point(function()
    gb.config.set_memory_limit("gpu:0", 1 << 20)
    return { sum = gb.zeros({ 1 << 20 }):sum():item() }
  end)
  testing.equal(failed.status, "out_of_memory")
  testing.contains(failed.detail, "gpu:0: out of memory: 4 MiB asked for")
  testing.equal(point(function() return { sum = gb.ones({ 1 << 10 }):sum():item() } end).sum, 1024.0)
end)

testing.case("hidden GPUs are not used", function()
  local row = point(function()
    gb.config.set_visible_devices({}, "GPU")
    return { first = gb.devices()[1], count = #gb.config.list_physical_devices "GPU" }
  end)
  testing.equal({ row.first, row.count }, { "cpu:0", 1 })
end)

testing.case("a search for products leaves their results as they are", function()
  local row = point(function()
    gb.config.set_matmul_search(3)
    local product = gb.device("gpu:0", function() return gb.ones({ 4, 8 }):matmul(gb.ones { 8, 5 }) end)
    return { sum = product:sum():item() }
  end)
  testing.equal(row.sum, 160.0)
end)

testing.case("bad configurations say what there is", function()
  point(function()
    testing.raises("gb.config.set_matmul_search: a number of algorithms to measure, 0 for none, got -1",
      gb.config.set_matmul_search, -1)
    testing.raises("there is no physical device gpu:1 to split; there is gpu:0, cpu:0",
      gb.config.set_logical_devices, "gpu:1", { {} })
    testing.raises("there is no device gpu:2; there are gpu:0 and cpu:0", gb.config.set_memory_limit, "gpu:2", 1)
    testing.raises("gb.config.set_visible_devices: cpu:0 is no GPU", gb.config.set_visible_devices, { "cpu:0" }, "GPU")
    testing.raises("a logical GPU has no threads", gb.config.set_logical_devices, "gpu:0", { { threads = 1 } })
    return {}
  end)
  local row = point(function()
    gb.config.set_memory_limit("gpu:0", 1 << 40)
    return { first = gb.devices()[1] }
  end)
  testing.equal(row.status, "error")
  testing.contains(row.detail, "gpu:0: a memory limit of 1 TiB is more than the 512 MiB of CUDA on the CPU")
end)
