-- Arguments: right ones by their type, wrong ones of every kind, and objects of every class, also closed ones.
local gb = require "gpubench"
local signatures = require "signatures"
local wrong = require "wrong"

local values = {}

local random = math.random
local function one_of(list) return list[random(#list)] end
values.one_of = one_of

-- What the calls made, by class, and what is to be closed.
local pool = {}
local doc

local function keep(class, object)
  local list = pool[class] or {}
  pool[class] = list
  list[#list < 12 and #list + 1 or random(12)] = object
  return object
end

function values.forget() pool = {} end

-- A result of a call becomes an argument of later ones.
function values.keep_result(object)
  if type(object) ~= "userdata" then return end
  local class = tostring(object):match "^(%u%w+)"
  local name = class and doc.bound[class] and class
  keep(name or "any", object)
end

local function closed(object)
  pcall(function() local _ <close> = object end)
  return object
end

local function small_dataset() return gb.data.Dataset.range(random(6)) end
local function pairs_dataset() return gb.data.Dataset.from_tensor_slices { gb.ones { 4, 3 }, gb.ones { 4, 2 } } end
local function model()
  local built = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
  if random() < 0.8 then built:compile { optimizer = "sgd", loss = "mse", metrics = { "mean_squared_error" } } end
  return built
end
local shapes = { {}, { 1 }, { 3 }, { 4, 3 }, { 4, 2 }, { 0 }, { 0, 3 }, { 2, 0 }, { 1, 4, 4, 1 }, { 2, 3, 3, 3 },
  { 1, 1, 1, 1, 1 },
  { 1 << 33, 0 }, { 0, 1 << 33 } }
local dtypes = { "float32", "int64", "uint8", "bool", "float16", "bfloat16", "int32", "int8" }

local build
build = {
  Tensor = function()
    local made = gb.full(one_of(shapes), random(0, 2))
    return random() < 0.5 and made or made:cast(one_of(dtypes))
  end,
  Dataset = function()
    return one_of { small_dataset, pairs_dataset, function() return pairs_dataset():batch(2) end,
      function() return small_dataset():map(function(x) return x * 2 end, { num_parallel_calls = random(2) }) end,
      function() return small_dataset():shuffle(3):prefetch(2) end }()
  end,
  DatasetIterator = function() return small_dataset():iter() end,
  Model = model,
  Layer = function()
    return one_of { function() return gb.layers.Dense(2) end, function() return gb.layers.Flatten() end,
      function() return gb.layers.Conv2D(2, 2) end, function() return gb.layers.Dropout(0.5) end,
      function() return gb.layers.BatchNormalization() end, function() return gb.layers.Add() end,
      function() return gb.layers.MultiHeadAttention(2, 2) end, function() return gb.layers.LayerNormalization() end,
      function() return gb.layers.Embedding(3, 2) end }()
  end,
  SymbolicTensor = function() return gb.Input { 3 } end,
  Optimizer = function() return one_of { gb.optimizers.SGD, gb.optimizers.Adam, gb.optimizers.RMSprop } {} end,
  Loss = function() return one_of { gb.losses.MeanSquaredError, gb.losses.CategoricalCrossentropy } {} end,
  Metric = function()
    return one_of { gb.metrics.Accuracy, gb.metrics.MeanSquaredError, gb.metrics.TopKCategoricalAccuracy } {}
  end,
  Callback = function() return gb.callbacks.EarlyStopping {} end,
  Schedule = function() return gb.schedules.CosineDecay(0.1, 10) end,
  SparsitySchedule = function() return gb.prune.ConstantSparsity { target_sparsity = 0.5, begin_step = 0 } end,
  Pruning = function() return gb.prune.low_magnitude(model(), { schedule = build.SparsitySchedule() }) end,
  Strategy = function() return gb.distribute.MirroredStrategy { devices = { "cpu:0" } } end,
  PerReplica = function()
    return (gb.distribute.MirroredStrategy { devices = { "cpu:0" } }:run(function(x) return x + 1 end, gb.ones { 2 }))
  end,
  Tape = function()
    local kept
    gb.tape(function(tape) kept = tape return gb.ones {} end)
    return kept
  end,
  CompiledFunction = function() return gb.compile(function(x) return x + 1 end) end,
  ElementFunction = function() return one_of { gb.data.read_file, gb.image.decode }() end,
  Lookup = function()
    return one_of { function() return gb.layers.StringLookup { vocabulary = { "a", "b" } } end,
      function() return gb.layers.TextVectorization() end, function() return gb.layers.Hashing(3) end,
      function() return gb.layers.IntegerLookup { vocabulary = { 1, 2 } } end }()
  end,
  Run = function()
    return gb._native.results.new_run { experiment = one_of { "inner", "other" }, title = "t", axes = { "n" },
      columns = { { name = "v", unit = "s" } }, out = values.folder:match "(.*)/results" }
  end,
  PointCall = function() return gb._native.results.call({ { row = { v = 1 } } }, { n = 1 }) end,
  TfrecordWriter = function() return gb.data.tfrecord_writer(values.folder .. "/" .. random(3) .. ".tfrecord") end,
}

-- Every class can be made; without, nothing would be said of its methods.
function values.check()
  for _, class in ipairs(values.classes) do
    for attempt = 1, 5 do
      local ok, reason = pcall(build[class])
      if ok then break end
      assert(attempt < 5, reason)
    end
  end
end

-- An object of the class, or nil.
function values.object(class)
  local list = pool[class]
  if list and #list > 2 and random() < 0.8 then return one_of(list) end
  local ok, object = pcall(build[class] or error)
  return ok and keep(class, random() < 0.03 and closed(object) or object) or nil
end

local function integer() return random() < 0.7 and random(0, 4) or one_of(wrong.integers) end
local function text()
  if random() < 0.2 then return one_of(wrong.texts) end
  return random() < 0.3 and values.folder .. "/" .. one_of { "a", "b", "a.npy", "a.safetensors", "a.csv", "missing" } or
    one_of(doc.texts)
end

-- An element of a table is now and then of any kind.
local function table_of_anything(depth)
  local t = {}
  for k = 1, random(0, 4) do
    if random() < 0.7 then t[k] = values.any(depth + 1) else t[text()] = values.any(depth + 1) end
  end
  if random() < 0.05 then t.self = t end
  return t
end

local function anything_function(depth)
  local result = values.any(depth + 1)
  return one_of {
    function() end,
    function(...) return ... end,
    function() return result end,
    function() error(result) end,
    function() coroutine.yield(result) end,
    function(x) return x + 1 end,
    function(x) return x:sum() end,
    function(...) return result, ... end,
    function() collectgarbage() return gb.ones { 2 } end,
    function() return pcall(values.again or error) end,
    print and tostring, math.abs, string.rep, gb.ones, gb.zeros, gb.data.Dataset.range,
    coroutine.wrap(function(x) return x end),
  }
end

local kinds = {
  function() return nil end,
  function() return random() < 0.5 end,
  integer, integer, function() return one_of(wrong.integers) end,
  function() return one_of(wrong.numbers) end,
  text, text, function() return one_of(wrong.texts) end,
  table_of_anything, table_of_anything,
  function() return one_of(wrong.lying)() end, function() return one_of(wrong.tables)() end,
  anything_function,
  function() return one_of(wrong.coroutines)() end,
  function() return one_of { io.stdout, gb, gb.layers, gb.data, math, _G.os } end,
  function() return values.object(one_of(values.classes)) end,
  function() return values.object(one_of(values.classes)) end,
  function() return values.object "Tensor" end,
  function() return pool.any and one_of(pool.any) end,
  function() return one_of(shapes) end,
}

function values.any(depth)
  depth = depth or 0
  if depth > 3 then return integer() end
  return one_of(kinds)(depth)
end

local by_name = {
  integer = integer,
  number = function() return random() < 0.6 and random() or one_of(wrong.numbers) end,
  string = text,
  boolean = function() return random() < 0.5 end,
  ["true"] = function() return true end, ["false"] = function() return false end,
  ["nil"] = function() return nil end,
  ["function"] = anything_function,
  table = table_of_anything,
  Files = text,
  Claim = function() return gb.expect.increasing { y = "v", x = "n" } end,
  Chart = function() return gb.chart.line { x = "n", y = "v" } end,
  Axis = function() return gb.axis("n", { 1, 2 }) end,
  Cells = function() return { n = integer(), v = random(), [text()] = one_of { 1, true, text(), random() } } end,
  FinishOptions = function() return { status = one_of { "done", "error", text() } } end,
  TextOptions = function() return { width = integer(), color = random() < 0.5, all_columns = random() < 0.5 } end,
  Row = function() return { step_time_s = 0.1, samples = { 0.1, 0.2 }, v = 1 } end,
}

-- Work that is asked for by number stays small: what goes on for ever because it was told to is no fault.
local amounts = { epochs = true, steps_per_epoch = true, count = true, sizes = true, queries = true, repeats = true,
  budget = true, seconds = true, latency = true, bandwidth = true, patience = true, steps = true }

local function options(class, depth)
  local t = {}
  for _, name in ipairs(doc.field_names[class]) do
    local type = doc.fields[class][name]
    if random() < (type:find "%?$" and 0.25 or 0.9) then
      t[name] = amounts[name] and random(0, 3) or values.typed(type, depth + 1)
    end
  end
  if random() < 0.05 then t[text()] = values.any(depth + 1) end
  return t
end

-- A value of a type as lua/meta writes it; one in eight is of another.
function values.typed(type, depth)
  depth = depth or 0
  if depth > 4 or random() < 0.12 then return values.any(depth) end
  local choices = signatures.alternatives(type)
  type = one_of(choices):gsub("^%s+", ""):gsub("%s+$", "")
  if type:find "%?$" then
    if random() < 0.3 then return nil end
    type = type:sub(1, -2)
  end
  if type:find "%[%]$" then
    local t = {}
    for k = 1, random(0, 4) do t[k] = values.typed(type:sub(1, -3), depth + 1) end
    return t
  end
  local inner = type:match "^%((.*)%)$"
  if inner then return values.typed(inner, depth + 1) end
  if type:find "^fun%(" then return anything_function(depth) end
  if type:find '^"' then return type:sub(2, -2) end
  if type:find "^table<" then return table_of_anything(depth) end
  if by_name[type] then return by_name[type](depth) end
  if build[type] then return values.object(type) end
  if doc.fields[type] then return options(type, depth) end
  return values.any(depth)
end

-- For messages: short, and never calling what an argument brought with it.
function values.show(value)
  local kind = type(value)
  if kind == "string" then return ("%q"):format(#value > 24 and value:sub(1, 24) .. "..." or value):gsub("\n", "n") end
  if kind == "number" or kind == "boolean" or kind == "nil" then return tostring(value) end
  if kind ~= "table" or getmetatable(value) then return kind end
  local parts = {}
  for k, v in next, value do
    if #parts == 6 then parts[7] = "..." break end
    parts[#parts + 1] = (math.type(k) == "integer" and "" or values.show(k) .. "=") ..
      (type(v) == "table" and "{}" or values.show(v))
  end
  table.sort(parts)
  return "{" .. table.concat(parts, ",") .. "}"
end

function values.open(of, folder)
  doc, values.folder, values.classes = of, folder, {}
  for class in pairs(build) do values.classes[#values.classes + 1] = class end
  table.sort(values.classes)
end

return values
