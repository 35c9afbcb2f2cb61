-- Names that Keras, TensorFlow and PyTorch have, and that are called something else here, are answered with that.
local gb = require "gpubench"
local testing = require "testing"

local function member(owner, name, answer)
  testing.raises("'" .. name .. "'; here: " .. answer, function() return owner[name] end)
end

testing.case("members", function()
  member(gb, "function", "gb.compile(f)")
  member(gb, "keras", "what Keras has stands in gb itself: gb.Sequential, gb.layers, gb.optimizers")
  member(gb, "mixed_precision", "gb.config.set_dtype_policy('mixed_float16')")
  member(gb, "GradientTape", "gb.tape(function(tape) ... end)")
  member(gb, "nn", "gb.layers for layers")
  member(gb.config, "get_memory_growth", "gb.config.set_memory_growth sets it")
  member(gb.config, "reset_memory_stats", "every point of a sweep begins with empty memory")
  member(gb.config, "get_soft_device_placement", "gb.config.soft_device_placement()")
  member(gb.config, "set_logical_device_configuration", "gb.config.set_logical_devices")
  member(gb.config, "get_visible_devices", "gb.config.list_logical_devices(kind)")
  member(gb.config, "threading", "--threads for all CPU devices")
  member(gb.callbacks, "TensorBoard", "gb.callbacks.Profiler writes a trace")
  member(gb.config, "experimental", "its members stand one level higher")
  member(gb.data, "experimental", "its members stand one level higher")
  member(gb.data, "from_tensor_slices", "gb.data.Dataset.from_tensor_slices")
  member(gb.distribute.MirroredStrategy(), "experimental_distribute_dataset", "strategy:distribute(dataset)")
  local dataset = gb.data.Dataset.range(2)
  member(dataset, "as_numpy_iterator", "dataset:iter(), or `for x, y in dataset do`")
  member(dataset, "cardinality", "the property `size`")
  member(gb.ones { 1 }, "numpy", "x:to_table(), or x:item() of a single element")
  member(gb.ones { 1 }, "cuda", "x:to('gpu:0') for a tensor")
end)

testing.case("options", function()
  local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 1 } }) }
  testing.raises("unknown option 'jit_compile'; here: execution = 'graph'", model.compile, model,
    { optimizer = "sgd", loss = "mse", jit_compile = true })
  model:compile { optimizer = "sgd", loss = "mse" }
  local x = gb.ones { 2, 1 }
  testing.raises("unknown option 'workers'; here: num_parallel_calls of dataset:map", model.fit, model, x, x,
    { workers = 4 })
  testing.raises("unknown option 'epoch' (did you mean 'epochs'?) (known: ", model.fit, model, x, x, { epoch = 1 })
  local numbers = gb.data.Dataset.range(2)
  testing.raises("unknown option 'num_workers'; here: num_parallel_calls", numbers.map, numbers,
    function(v) return v end, { num_workers = 1 })
end)

testing.case("names of kinds that are misspelt", function()
  testing.raises("unknown activation 'rellu' (did you mean 'relu'?)", gb.layers.Dense, 1, { activation = "rellu" })
  testing.raises("unknown option 'activaton' (did you mean 'activation'?)", gb.layers.Dense, 1, { activaton = "relu" })
  local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 1 } }) }
  testing.raises("unknown loss 'categorical_crossentrpy' (did you mean 'categorical_crossentropy'?)",
    model.compile, model,
    { optimizer = "sgd", loss = "categorical_crossentrpy" })
  testing.raises("unknown optimizer 'adm' (did you mean 'adam'?)", model.compile, model,
    { optimizer = "adm", loss = "mse" })
end)

testing.case("a word that is like nothing gets no guess", function()
  testing.raises("gb: no 'q' (known: ", function() return gb.q end)
  testing.raises("gb: no '' (known: ", function() return gb[""] end)
  testing.raises("gb: no '" .. ("x"):rep(5000) .. "'", function() return gb[("x"):rep(5000)] end)
  testing.refuses(function() return gb["a\0b"] end)
end)
