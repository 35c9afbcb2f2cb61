-- What no argument may do: make a size wrap around, reach memory that is not there, or leave the sandbox.
local gb = require "gpubench"
local testing = require "testing"

local most = math.maxinteger

testing.case("sizes that no memory has are errors with the extents", function()
  local too_large = "is too large for any memory; at most 2^47 bytes (128 TiB) are possible"
  testing.raises("broadcast_to: float32[4611686018427387904] " .. too_large, gb.zeros, { 1 << 62 })
  testing.raises("float32[2147483648, 2147483648] " .. too_large, gb.ones, { 1 << 31, 1 << 31 })
  testing.raises("float32[4294967296, 4294967296] " .. too_large, gb.ones, { 1 << 32, 1 << 32 })
  testing.raises("int64[2305843009213693952] " .. too_large, gb.zeros, { 1 << 61 }, { dtype = "int64" })
  testing.raises("int64[9223372036854775807] " .. too_large, gb.arange, most)
  testing.raises(too_large, gb.random.uniform, { most, 2 })
  testing.raises(too_large, gb.random.normal, { 1 << 62 })
  testing.raises(too_large, gb.pad, gb.ones { 2 }, { { most, 0 } })
  testing.raises(too_large, gb.pad, gb.ones { 2 }, { { most, most } })
  testing.raises("one_hot: float32[2, 4611686018427387904] " .. too_large, gb.arange(2).one_hot, gb.arange(2), 1 << 62)
  testing.raises(too_large, gb.image.resize, gb.ones { 1, 2, 2, 1 }, { 1 << 31, 1 << 31 })
  testing.raises(too_large, gb.ones({ 2 }).tile, gb.ones { 2 }, { most })
  testing.raises(too_large, gb.ones({ 2 }).reshape, gb.ones { 2 }, { 3, 6148914691236517206 })
  testing.raises(too_large, gb.ones({ 2 }).reshape, gb.ones { 2 }, { most, most, -1 })
  testing.raises(too_large, function() gb.layers.Dense(most)(gb.ones { 1, 2 }) end)
  testing.raises(too_large, function() gb.layers.Conv2D(1 << 62, 1)(gb.ones { 1, 2, 2, 1 }) end)
  testing.raises("batch: at most 268435456 rows are possible in a batch, got 8589934592", function()
    gb.data.Dataset.from_tensor_slices { gb.zeros { 1 << 33, 0 } }:batch(1 << 33):iter()
  end)
  testing.raises("pool_size must be at most 2147483647",
    function() gb.layers.MaxPooling2D({ 1 << 32, 1 << 32 }, { padding = "same" })(gb.ones { 1, 2, 2, 1 }) end)
  testing.raises(too_large, function()
    gb.Sequential { gb.layers.Dense(1 << 31, { input_shape = { 1 << 31 } }) }
  end)
  testing.raises(too_large, function()
    gb.Sequential { gb.layers.Reshape({ 3, 6148914691236517206 }, { input_shape = { 2 } }) } (gb.ones { 1, 2 })
  end)
  for name, layer in pairs {
    ZeroPadding2D = gb.layers.ZeroPadding2D(3), UpSampling2D = gb.layers.UpSampling2D(1 << 30),
    Conv2DTranspose = gb.layers.Conv2DTranspose(3, 3, { strides = 1 << 30 }),
  } do
    testing.raises(name .. ": float32[", layer, gb.Input { 1 << 42, 1, 8 })
    testing.raises(too_large, layer, gb.Input { 1 << 42, 1, 8 })
  end
  testing.raises("Input: float32[9223372036854775807, 3, 1] " .. too_large, gb.Input, { most, 3, 1 })
  testing.raises(too_large, gb.data.Dataset.synthetic, { types = { "float32[4611686018427387904]" } })
end)

testing.case("the rank of a tensor is limited", function()
  local shape = {}
  for i = 1, 100000 do shape[i] = 1 end
  testing.raises("a tensor of rank 100000; at most 32 is possible", gb.ones, shape)
  testing.raises("rank", gb.ones({}).reshape, gb.ones {}, shape)
  local nested = 1
  for _ = 1, 100000 do nested = { nested } end
  testing.refuses(gb.tensor, nested)
  testing.equal(#gb.ones(table.move(shape, 1, 32, 1, {})).shape, 32)
  testing.raises("a tensor of rank 33", function() gb.ones(table.move(shape, 1, 32, 1, {})):expand_dims(0) end)
end)

testing.case("lists that say their length themselves are refused", function()
  local refused = "array expected, got a table whose metatable has __len"
  for _, length in ipairs { -5, 2, 1 << 40 } do
    local list = setmetatable({ 1, 2 }, { __len = function() return length end })
    testing.raises(refused, gb.tensor, list)
    testing.raises(refused, gb.ones, list)
    testing.raises(refused, gb.tensor, { list })
    testing.raises(refused, gb.data.Dataset.from_tensor_slices, list)
    testing.raises(refused, function() return gb.ones {} :gt(list) end)
  end
  testing.equal(gb.tensor(setmetatable({ 1, 2 }, { __index = function() error "asked" end })):to_table(), { 1.0, 2.0 })
end)

testing.case("metatables are closed", function()
  testing.equal({ getmetatable(gb), getmetatable(gb.config), getmetatable(gb.data.Dataset) }, { false, false, false })
  testing.equal(pcall(setmetatable, gb.config, nil), false)
  testing.raises("no 'confg'", function() return gb.confg end)
  local varying = gb.data.Dataset.from_generator(function()
    for i = 1, 4 do coroutine.yield(gb.zeros { i, 2 }) end
  end, { types = { "float32[?, 2]" } })
  local seen = {}
  for row in varying:map(function(x)
    local shape = x.shape
    seen[#seen + 1] = getmetatable(shape)
    testing.equal({ pcall(setmetatable, shape, {}) }, { false, "cannot change a protected metatable" })
    testing.equal({ #shape, shape[2], shape[3], shape.x }, { 2, 2 })
    shape[1] = -1
    return x:reshape(shape)
  end):iter() do testing.equal(row.shape[2], 2) end
  testing.equal(seen[1], false)
end)

testing.case("worker states load no binary chunks", function()
  local loads = gb.data.Dataset.range(1):map(gb.data.lua_function(function()
    local binary = string.dump(function() return 7 end)
    local refused, why = load(binary, "x", "b")
    assert(refused == nil and why:find "attempt to load a binary chunk", why)
    assert(load(function() local one = binary binary = nil return one end) == nil)
    assert(dofile == nil and loadfile == nil)
    return load "return 5" ()
  end, { output = { "int64" } }))
  for value in loads:iter() do testing.equal(value:item(), 5) end
end)

testing.case("errors in worker states are errors of the pipeline", function()
  local function failing(what)
    return function()
      for _ in gb.data.Dataset.range(2):map(gb.data.lua_function(what, { output = { "int64" } })):iter() do end
    end
  end
  testing.raises("lua_function: (the error is a table whose __tostring fails)", failing(function()
    error(setmetatable({}, { __tostring = function() error "x" end }))
  end))
  testing.raises("lua_function: (the error is a table)", failing(function() error {} end))
  testing.refuses(failing(function() error(nil) end))
  testing.refuses(failing(function() error(setmetatable({}, { __name = 5 })) end))
  testing.raises("stack overflow", failing(function()
    local function deeper() return 1 + deeper() end
    return deeper()
  end))
  testing.raises("lua_function: a text", failing(function()
    error(setmetatable({}, { __tostring = function() return "a text" end }))
  end))
  testing.raises("result 1", failing(function() return setmetatable({}, { __len = function() return -5 end }) end))
end)

testing.case("metrics refuse scalars", function()
  for _, name in ipairs { "Accuracy", "TopKCategoricalAccuracy" } do
    testing.raises("predictions must be [batch] or [batch, classes], got float32[]", function()
      gb.metrics[name] {}:update_state(1, 1)
    end)
  end
  testing.raises("predictions must be", function() gb.metrics.TopKCategoricalAccuracy {}:update_state({ {} }, -0.5) end)
end)

testing.case("products without elements", function()
  testing.equal(gb.matmul(gb.ones { 2, 3 }, gb.ones { 3, 0 }).shape, { 2, 0 })
  testing.equal(gb.matmul(gb.ones { 0, 3 }, gb.ones { 3, 2 }).shape, { 0, 2 })
  testing.equal(gb.matmul(gb.ones { 2, 0 }, gb.ones { 0, 3 }):to_table(), { { 0.0, 0.0, 0.0 }, { 0.0, 0.0, 0.0 } })
  local layer = gb.layers.Dense(2)
  local x = gb.ones { 0, 3 }
  testing.equal(layer(x).shape, { 0, 2 })
  local tape = gb.tape()
  local total = layer(x):sum()
  local gradients = tape:gradient(total, layer.variables)
  testing.equal(gradients[1]:to_table(), { { 0.0, 0.0 }, { 0.0, 0.0 }, { 0.0, 0.0 } })
  testing.equal(gradients[2]:to_table(), { 0.0, 0.0 })
end)

testing.case("a model that is not defined needs an input", function()
  testing.raises("model 'sequential': expects a tensor, got an empty list", function()
    gb.Sequential { gb.layers.Dense(2) } {}
  end)
  testing.refuses(function() gb.Sequential {} {} end)
end)

testing.case("nothing is no input, also in the function of a layer", function()
  local input = gb.Input { 3 }
  for what, inner in pairs {
    ["layer Dense"] = gb.layers.Dense(2),
    ["layer Add"] = gb.layers.Add(),
    ["layer Lambda"] = gb.layers.Lambda(function(v) return v end),
    ["model 'sequential'"] = gb.Sequential { gb.layers.Dense(2) },
    ["model 'whole'"] = gb.Model { inputs = input, outputs = gb.layers.Dense(2)(input), name = "whole" },
  } do
    local refusal = what .. ": expects a tensor, got an empty list"
    testing.raises(refusal, inner, {})
    gb.layers.Lambda(function(v)
      testing.raises(refusal, inner, {})
      return v
    end)(gb.ones { 2, 3 })
  end
  local inner = gb.Model { inputs = input, outputs = gb.layers.Dense(2)(input), name = "whole" }
  testing.raises("model 'whole': expects 1 input of shape [3] per example, got 1 of shape [4]", function()
    gb.layers.Lambda(function(v) return inner(v) end)(gb.ones { 2, 4 })
  end)
end)

testing.case("a model that is running is not compiled", function()
  local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
  local x, y = gb.ones { 8, 3 }, gb.ones { 8, 2 }
  local reasons = {}
  local function compile()
    local ok, why = pcall(model.compile, model, { optimizer = "adam", loss = "mse" })
    reasons[#reasons + 1] = tostring(ok) .. ": " .. tostring(why)
  end
  local function loss(labels, predictions)
    compile()
    return ((labels - predictions) ^ 2):mean()
  end
  model:compile { optimizer = "sgd", loss = loss }
  model:fit(x, y,
    { verbose = 0, callbacks = { { on_epoch_begin = compile, on_batch_end = compile, on_epoch_end = compile } } })
  model:evaluate(gb.data.Dataset.from_generator(function()
    compile()
    coroutine.yield(x, y)
  end, { types = { "float32[8, 3]", "float32[8, 2]" } }))
  testing.is_true(#reasons > 4)
  for _, reason in ipairs(reasons) do
    testing.contains(reason, "false: ")
    testing.contains(reason, "compile is possible before and after fit, evaluate, predict")
  end
  model:fit(x, y,
    { verbose = 0, callbacks = { { on_epoch_end = function() model:set_weights(model:get_weights()) end } } })
  model:compile { optimizer = "adam", loss = "mse" }
  testing.is_true(model:fit(x, y, { verbose = 0 }).history.loss[1])
end)

testing.case("what is made before a sweep works in every point", function()
  local strategy = gb.distribute.MirroredStrategy { devices = { "cpu:0" } }
  local of_the_point_before = strategy
  local metric = gb.metrics.Accuracy {}
  local optimizer, variable = gb.optimizers.SGD { learning_rate = 0.5 }, gb.Variable { 1 }
  local unbuilt = gb.layers.Dense(2)
  local empty = gb.zeros { 0, 3 }
  local step = gb.compile(function(a) return a + 1 end)
  local rows = gb.experiment { name = "kept", title = "t", axes = { gb.axis("n", { 1, 2, 3 }) }, run = function()
    local model = strategy:scope(function()
      local made = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
      made:compile { optimizer = "sgd", loss = "mse" }
      return made
    end)
    testing.equal(of_the_point_before:scope(function() return (gb.ones { 1 } + 1):item() end), 2.0)
    of_the_point_before = gb.distribute.MirroredStrategy { devices = { "cpu:0" } }
    model:fit(gb.ones { 4, 3 }, gb.ones { 4, 2 }, { verbose = 0 })
    metric:update_state(gb.ones { 2, 1 }, gb.ones { 2, 1 })
    optimizer:apply_gradients({ gb.ones { 1 } }, { variable })
    return { v = step(gb.ones { 1 })
      :item() + unbuilt(gb.ones { 1, 3 }).shape[2] + gb.concat({ empty, gb.ones { 1, 3 } }).shape[1] }
  end }
  for _, row in ipairs(rows) do testing.equal({ row.status, row.v }, { "ok", 5.0 }) end
  testing.equal(#rows, 3)
end)

testing.case("devices that tensors use are not reset", function()
  local kept = gb.ones { 3 }
  gb._native.reset_devices()
  testing.equal((kept + gb.ones { 3 }):to_table(), { 2.0, 2.0, 2.0 })
end)

testing.case("the library's own functions refuse what is not theirs", function()
  local native = gb._native
  for _, name in ipairs { "barrier", "conclude", "agree", "from_first", "threads" } do
    local arguments = ({ conclude = { {}, "x" }, agree = { "a", "b" }, from_first = { "a" } })[name] or {}
    testing.raises("gb._native.processes: this process runs the script alone", native.processes[name],
      table.unpack(arguments))
  end
  testing.refuses(native.name_members, "text", "name")
  testing.raises("is not below the output folder", native.results.end_abandoned, "/tmp/elsewhere", "a text")
  local function call(row, timeline) return native.results.call({ { row = row, timeline = timeline } }, {}) end
  testing.raises("run returned the status 'weird'; ok, out_of_memory, error, timeout, skipped are possible", call,
    { status = "weird" })
  testing.raises("run returned a timeline that gb.measure has not made", call, {}, 5)
  testing.raises("run returned a column that is no cell: 'x': ", call, { x = {} })
  testing.raises("'a\\x00b' cannot name a column", call, { ["a\0b"] = 1 })
end)

testing.case("stages of a dataset are limited", function()
  local chain = gb.data.Dataset.range(10)
  for _ = 1, 999 do chain = chain:take(10) end
  local count = 0
  for _ in chain:iter() do count = count + 1 end
  testing.equal(count, 10)
  testing.raises("take: a dataset of 1001 stages in a row; at most 1000 are possible", chain.take, chain, 10)
  local wide = gb.data.Dataset.range(10)
  testing.raises("zip: a dataset of 1048575 stages and sources; at most 1000000 are possible", function()
    for _ = 1, 64 do wide = gb.data.Dataset.zip { wide, wide } end
  end)
end)

testing.case("numbers that do not fit are named", function()
  testing.raises("batch: at most 268435456 rows are possible in a batch, got 9223372036854775807", function()
    for _ in gb.data.Dataset.from_tensor_slices(gb.ones { 3 }):filter(function(x) return x:gt(0) end)
        :batch(most):iter() do
    end
  end)
  testing.raises("option 'k': 1 to 2147483647 is expected, got 4294967296", gb.metrics.TopKCategoricalAccuracy,
    { k = 1 << 32 })
end)

testing.case("messages are the program's own", function()
  testing.raises("io.open: the path is empty", io.open, "", "w")
  testing.raises("Optimizer:apply_gradients: table of gradients expected, got number", function()
    gb.optimizers.SGD {} :apply_gradients(5, { gb.Variable { 1 } })
  end)
  local kept
  do
    local closed <close> = gb.ones { 2 }
    kept = closed
  end
  testing.equal(tostring(kept), "Tensor (closed)")
end)

testing.case("batches and classes of nothing", function()
  testing.raises("has nothing to take mean and variance of", function()
    gb.layers.BatchNormalization()(gb.ones { 0, 3 }, { training = true })
  end)
  testing.raises("are of no class; at least one is needed", function()
    return gb.losses.CategoricalCrossentropy {}(gb.ones { 2, 0 }, gb.ones { 2, 0 })
  end)
end)
