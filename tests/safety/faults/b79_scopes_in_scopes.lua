-- What one call sets for its own duration is what it was when the call ends, also where the script's function within it
-- makes the same call again, and what a call uses lives as long as the call.
local gb = require "gpubench"
local testing = require "testing"

local out = "out/results"
local x, y
local function built()
  local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
  model:compile { optimizer = "sgd", loss = "mse" }
  return model
end
local function closing(body) return setmetatable({}, { __close = body }) end
local function collect() collectgarbage() collectgarbage() end
local function generated(next_value, types)
  return gb.data.Dataset.from_generator(function() return next_value end, { types = types or { "float32[2]" } })
end
local number = 0
local function experiment(run)
  number = number + 1
  testing.note()
  return gb.experiment { name = "e" .. number, title = "t",
    run = run or function() return { v = 1 } end }
end

-- While no tensor lives, the devices that the outer call uses would be freed.
testing.case("an experiment in a function that is traced, mapped or measured", function()
  gb.data.Dataset.range(3):map(function(v) experiment() return v + 1 end)
  gb.data.Dataset.range(3):filter(function(v) experiment() return v:gt(0) end)
  testing.equal(gb.compile(function(v) experiment() return v + 1 end)(gb.ones { 2 }):to_table(), { 2.0, 2.0 })
  local calls = 0
  gb.measure.loop(function()
    calls = calls + 1
    if calls == 2 then experiment() end
  end, gb.data.Dataset.range(4):repeated(), { budget = 0.001, trace = false })
  collect()
  local symbols = false
  local lambda = gb.layers.Lambda(function(v)
    if not symbols then symbols = true experiment() end
    return v * 2
  end)
  testing.equal(lambda(gb.ones { 1, 2 }):to_table(), { { 2.0, 2.0 } })
  gb.device("cpu:0", function() experiment() end)
  gb.distribute.MirroredStrategy({ devices = { "cpu:0" } }):scope(function() experiment() end)
  testing.equal((gb.ones { 2 } + 1):to_table(), { 2.0, 2.0 })
end)

x, y = gb.ones { 4, 3 }, gb.ones { 4, 2 }

testing.case("an iterator cannot be advanced by the function that makes its element", function()
  for name, stage in pairs {
    itself = function(d) return d end,
    batch = function(d) return d:batch(2) end,
    shuffle = function(d) return d:shuffle(3) end,
    window = function(d) return d:window(2) end,
    rows = function(d) return d:unbatch():batch(3) end,
    filter = function(d) return d:filter(function(v) return v:sum():gt(0) end) end,
    cache = function(d) return d:take(3):cache() end,
  } do
    local iterator, refusal
    local data = stage(generated(function()
      if iterator then
        local ok, reason = pcall(iterator)
        refusal = not ok and reason or "none"
        iterator = nil
      end
      return { 1, 2 }
    end))
    local own = data:iter()
    iterator = own
    for _ = 1, 3 do testing.is_true(own(), name) end
    if not refusal then error(name .. ": the function was not called") end
    testing.contains(refusal, "the loop's next element is being made")
    for v in data:take(2) do testing.is_true(v) end
  end
end)

testing.case("an iterator that is closed by the function that makes its element", function()
  local box = {}
  local data = generated(function()
    box[1] = nil
    collect()
    return { 1, 2 }
  end):batch(2)
  box[1] = data:iter()
  testing.is_true(box[1]())
  for v in data do
    testing.is_true(v)
    break
  end
end)

testing.case("devices and strategies are what they were", function()
  local before = gb.device()
  local one = gb.distribute.MirroredStrategy { devices = { "cpu:0" } }
  one:scope(function()
    testing.refuses(one.scope, one, function() gb.ones "x" end)
    testing.refuses(gb.device, "cpu:0", function() gb.ones "x" end)
    one:scope(function() gb.device("cpu:0", function() end) end)
    testing.equal(gb.device(), before)
  end)
  testing.equal(gb.device(), before)
end)

testing.case("a callback belongs to one fit at a time", function()
  local model, other = built(), built()
  for name, make in pairs {
    EarlyStopping = function() return gb.callbacks.EarlyStopping { monitor = "loss", patience = 9 } end,
    CSVLogger = function() return gb.callbacks.CSVLogger(out .. "/log.csv") end,
    Profiler = function() return gb.callbacks.Profiler { steps = { 1, 6 }, path = out .. "/profile" } end,
    ReduceLROnPlateau = function() return gb.callbacks.ReduceLROnPlateau { monitor = "loss" } end,
    TensorBoard = function() return gb.callbacks.TensorBoard(out .. "/board") end,
  } do
    local shared, refusal = make(), nil
    local function nested()
      local ok,
        reason = pcall(other.fit, other, x, y, { verbose = 0, batch_size = 1, epochs = 2, callbacks = { shared } })
      refusal = not ok and reason or "none"
    end
    model:fit(x, y, { verbose = 0, batch_size = 1, epochs = 2, callbacks = { shared, { on_batch_end = nested } } })
    testing.contains(refusal, "fit: callback 1 belongs to a fit that is running", name)
    other:fit(x, y, { verbose = 0, batch_size = 1, epochs = 2, callbacks = { shared } })
  end
end)

testing.case("a fit that fails leaves no trace behind, whatever its profiler outlives", function()
  local profiler = gb.callbacks.Profiler { steps = { 2, 4 }, path = out .. "/failed" }
  experiment(function()
    local model = built()
    testing.raises("odd", model.fit, model, x, y, { verbose = 0, batch_size = 1,
      callbacks = { profiler, { on_batch_end = function(step) if step == 3 then error "odd" end end } } })
    return { v = 1 }
  end)
  experiment(function()
    local model = built()
    testing.is_true(model:profile(gb.data.Dataset.from_tensor_slices { x, y }:repeated():batch(2), { steps = 2 }))
    model:fit(x, y, { verbose = 0, batch_size = 1, callbacks = { profiler } })
    return { v = 1 }
  end)
  profiler = nil
  collect()
  testing.is_true(io.open(out .. "/failed/trace.json"))
end)

testing.case("a trace in a trace is refused, and the outer one is whole", function()
  local model, other = built(), built()
  local data = gb.data.Dataset.from_tensor_slices { x, y }:repeated():batch(2)
  local refusal, row
  model:fit(x, y, { verbose = 0, batch_size = 1, epochs = 2, callbacks = {
    gb.callbacks.Profiler { steps = { 2, 6 }, path = out .. "/outer" }, { on_batch_end = function(step)
      if refusal or step ~= 4 then return end
      local ok, reason = pcall(other.profile, other, data, { steps = 2 })
      refusal = not ok and reason
      row = gb.measure.training(other, data, { budget = 0.001 })
    end } } })
  testing.contains(refusal, "tracing: another trace of the same steps is running")
  testing.contains(row.detail, "another trace of the same steps is running")
  testing.contains(io.open(out .. "/outer/profile.txt"):read "a", "dense")
  testing.is_true(other:profile(data, { steps = 2 }))
end)

testing.case("figures of a training are its own, whatever its callbacks evaluate and train", function()
  local values = gb.tensor { { 1, 2, 3 }, { 3, 2, 1 }, { 0, 9, 0 }, { 1, 1, 1 } }
  local function history(within)
    gb.config.set_seed(3)
    local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
    model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0 }, loss = "mse", metrics = { "mae" } }
    return model:fit(values, y, { verbose = 0, batch_size = 1, epochs = 2, shuffle = false,
      callbacks = { { on_batch_end = function(step) if step == 3 then within(model) end end } } }).history
  end
  local alone = history(function() end)
  for _, within in ipairs {
    function(model) model:evaluate(x, y) end,
    function(model) model:train_on_batch(x, y) end,
    function(model) model:fit(x, y, { verbose = 0 }) end,
    function(model)
      testing.raises("odd", model.fit, model, x, y,
        { verbose = 0, callbacks = { { on_batch_end = function() error "odd" end } } })
    end,
    function(model)
      gb.measure.training(model, gb.data.Dataset.from_tensor_slices { x, y }:repeated():batch(2),
        { budget = 0.001, trace = false })
    end,
  } do
    testing.equal(history(within), alone)
  end
end)

testing.case("an error keeps its kind while closing handlers catch others", function()
  local rows = gb.experiment { name = "skipped", title = "t", axes = { gb.axis("n", { 1, 2 }) }, run = function(point)
    if point.n == 2 then return { v = 1 } end
    local _ <close> = closing(function()
      pcall(gb.skip, "another reason")
      pcall(gb.ones, "x")
      pcall(gb.tape, error)
      for _ in generated(function() return { 1, 2 } end):take(1) do pcall(gb.tape, error, "x") end
      coroutine.wrap(function() pcall(gb.skip, "a third one") end)()
    end)
    gb.skip "not here"
  end }
  testing.equal(rows[1].status, "skipped")
  testing.contains(rows[1].detail, "not here")
end)

testing.case("loops measured in loops", function()
  local strategy = gb.distribute.MirroredStrategy { devices = { "cpu:0" } }
  local data = gb.data.Dataset.from_tensor_slices { x }:repeated():batch(2)
  local function sum(v) return v:sum() end
  local function step(v) strategy:run(sum, v) end
  -- Columns of replicas are there only where the loop's own steps are known to be those of a strategy.
  local function measured(within)
    local row = gb.measure.loop(function(v)
      if within then within = within() end
      step(v)
    end, data, { budget = 0.001, trace = false })
    testing.is_true(row.exchanges and row.ranks, "columns of replicas")
  end
  measured()
  measured(function() measured() end)
  measured(function() pcall(gb.measure.loop, error, data, { budget = 0.001 }) end)
end)

testing.case("lists that change while they are walked", function()
  local model, calls = built(), 0
  local callbacks = {}
  callbacks[1] = { on_epoch_begin = function()
    calls = calls + 1
    callbacks[1], callbacks[2] = nil, { on_epoch_begin = error }
    collect()
  end }
  model:fit(x, y, { verbose = 0, epochs = 3, callbacks = callbacks })
  testing.equal(calls, 3)
  local metrics = {}
  metrics[1] = function(labels, predictions)
    metrics[1], metrics[2] = nil, "accuracy"
    collect()
    return (labels - predictions):mean()
  end
  model:compile { optimizer = "sgd", loss = "mse", metrics = metrics }
  testing.is_true(model:fit(x, y, { verbose = 0 }).history.loss[1])
  local values = { 1, 2, 3 }
  local declaration = { name = "changed", title = "t", axes = { gb.axis("n", values) } }
  declaration.run = function(point)
    values[#values + 1] = 4
    declaration.run, declaration.axes, declaration.extra = nil, {}, {}
    point.n, point.other = nil, 1
    return { v = 1 }
  end
  testing.equal(#gb.experiment(declaration), 3)
end)

testing.case("what a call uses is let go of within it", function()
  local model = built()
  local data = gb.data.Dataset.from_tensor_slices { x, y }:batch(2)
  model:fit(data, { verbose = 0, callbacks = { { on_epoch_begin = function() data = nil collect() end } } })
  local history = model:fit(x, y,
    { verbose = 0, callbacks = { { on_epoch_begin = function() model = nil collect() end } } })
  testing.is_true(history.history.loss[1])
  local f
  f = gb.compile(function(v) f = nil collect() return v + 1 end)
  testing.equal(f(gb.ones { 2 }):to_table(), { 2.0, 2.0 })
  local strategy = gb.distribute.MirroredStrategy { devices = { "cpu:0" } }
  testing.equal(strategy:scope(function() strategy = nil collect() return 5 end), 5)
  strategy = gb.distribute.MirroredStrategy { devices = { "cpu:0" } }
  testing.is_true(strategy:run(function(v) strategy = nil collect() return v end, x))
  local tape
  tape = gb.tape()
  local one = gb.ones { 2 }
  do
    local _ <close> = tape
    tape = nil
    collect()
    one = one * 2
  end
  testing.equal(one:to_table(), { 2.0, 2.0 })
end)
