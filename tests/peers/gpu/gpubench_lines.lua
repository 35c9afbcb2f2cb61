-- gpubench's side of the comparison on a GPU: measures the lines of a plan (the module peers_plan, written by
-- compare.py) and prints a line of JSON with the samples of each figure as soon as it is there. Models train on batches
-- that stay on the device.
local gb = require "gpubench"
local plan = require "peers_plan"

local LEAST_BLOCK_S = 0.005  -- steps are put together as PyTorch's are, see torch_lines.py
local CLASSES = 10

-- JSON of what compare.py reads: strings, numbers, arrays and tables with names.
local function json(value)
  if type(value) == "string" then
    return '"' .. value:gsub('[%c"\\]', function(c) return string.format("\\u%04x", c:byte()) end) .. '"'
  elseif type(value) ~= "table" then
    return type(value) == "number" and string.format("%.9g", value) or tostring(value)
  end
  local parts = {}
  if #value > 0 then
    for index, one in ipairs(value) do parts[index] = json(one) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for name, one in pairs(value) do parts[#parts + 1] = json(name) .. ":" .. json(one) end
  return "{" .. table.concat(parts, ",") .. "}"
end

local function give(record)
  print(json(record))
  io.stdout:flush()  -- what is printed is kept when time ends
end

-- What measure returns are samples; an error is the reason why there are none, and the other lines go on.
local function take(name, measure)
  local ok, result = pcall(measure)
  if not ok then result = tostring(result) end
  give(ok and { name = name, samples = result } or { name = name, reason = result })
end

-- Means of blocks of steps: single steps return before the GPU is done.
local function blocks(samples)
  local total = 0
  for _, seconds in ipairs(samples) do total = total + seconds end
  local count = math.max(1, math.floor(LEAST_BLOCK_S / (total / #samples) + 0.5))
  local means = {}
  for first = 1, #samples - count + 1, count do
    local sum = 0
    for index = first, first + count - 1 do sum = sum + samples[index] end
    means[#means + 1] = sum / count
  end
  return #means > 0 and means or { total / #samples }
end

-- Two batches of random images and labels; on the host, which is where datasets are.
local function random_data(model)
  return gb.device("cpu:0", function()
    local shape = #model.image > 0 and { 2 * model.batch, table.unpack(model.image) }
      or { 2 * model.batch, model.inputs }
    local images = gb.random.uniform(shape):cast(model.dtype)
    local labels = (gb.random.uniform { 2 * model.batch } * model.classes):cast "int64"
    return gb.data.Dataset.from_tensor_slices { images, labels }:batch(model.batch)
  end)
end

local function compiled(net, from_logits)
  net:compile { optimizer = gb.optimizers.Adam { learning_rate = 0.001 }, metrics = { "accuracy" },
    loss = gb.losses.SparseCategoricalCrossentropy { from_logits = from_logits } }
  gb.config.set_floatx "float32"
  return net
end

local function build(model)
  gb.config.set_floatx(model.dtype)
  if #model.image > 0 then
    return compiled(gb.zoo.resnet50 { input_shape = model.image, classes = model.classes, width = model.width }, true)
  end
  local layers = {}
  if #model.hidden == 0 then
    layers = { gb.layers.Reshape({ 28, 28, 1 }, { input_shape = { model.inputs } }),
      gb.layers.Conv2D(32, 3, { activation = "relu" }), gb.layers.MaxPooling2D(2), gb.layers.Flatten() }
  end
  for index, width in ipairs(model.hidden) do
    local input_shape = index == 1 and { model.inputs } or nil
    layers[index] = gb.layers.Dense(width, { activation = "relu", input_shape = input_shape })
  end
  layers[#layers + 1] = gb.layers.Dense(CLASSES, { activation = "softmax" })
  return compiled(gb.Sequential(layers), false)
end

local function measure(model, resident)
  -- Without a trace: it would come behind the samples, but a fault of CUPTI would end the process and its other lines.
  local limits = { budget = plan.seconds, min_time = plan.seconds, warmup = plan.seconds, resident = resident,
    trace = false }
  local row = gb.measure.training(build(model), random_data(model), limits)
  collectgarbage()
  return row
end

local function host_time(resident)
  local row = measure(plan.models.m1, resident)
  if not row.host_time_s then error("a CPU computes in the calls themselves", 0) end
  return { row.host_time_s }
end

local function product(dtype)
  local n = plan.matmul
  local rows = gb.measure.kernels { { op = "matmul", m = n, n = n, k = n, dtype = dtype }, budget = plan.seconds }
  return rows[1].samples
end

local lines = {}

function lines.matmul()
  if plan.tf32 then
    take("matmul float32 tf32", function() return product "float32" end)
    return
  end
  for _, dtype in ipairs { "bfloat16", "float16", "float32" } do
    take("matmul " .. dtype, function() return product(dtype) end)
  end
  if plan.device:find "^cpu" then take("matmul float32 tf32", function() error("a CPU has no TF32", 0) end) end
end

function lines.copies()
  local rates
  for _, direction in ipairs { "to device", "from device", "on device" } do
    take("copy " .. direction, function()
      rates = rates or gb.measure.copies(plan.device)
      local rate = rates[direction:gsub(" ", "_") .. "_bytes_per_s"]
      if not rate then error("a CPU has no link", 0) end
      return { rate }
    end)
  end
end

function lines.host()
  take("host resident", function() return host_time(true) end)
  take("host fed", function() return host_time(false) end)
end

if plan.tf32 then gb.config.set_tf32(true) end  -- before a device is used
local library
for _, one in ipairs(gb._native.device_facts()) do
  if one.name == plan.device then library = one.library end
end
give({ facts = { version = gb.version or "unknown", library = library, execution = "graph" } })
for _, line in ipairs(plan.lines) do
  if lines[line] then
    lines[line]()
  else
    take(line, function() return blocks(measure(plan.models[line], true).samples) end)
  end
end
