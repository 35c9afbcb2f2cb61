-- Shares of a step on the CPU, and profiles: of measurements, of models and of fit.
local gb = require "gpubench"
local testing = require "testing"

gb.config.set_visible_devices({}, "GPU")
gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 } })
gb._native.keep_configuration()

local x = gb.random.uniform { 64, 8 }
local y = gb.zeros({ 64 }, { dtype = "int64" })
local input = gb.data.Dataset.from_tensor_slices { x, y }:batch(16)
local quick = { budget = 0.05, min_time = 0.01, warmup = 0.05 }

local function small(options)
  local model = gb.Sequential {
    gb.layers.Dense(16, { activation = "relu", input_shape = { 8 }, name = "hidden" }),
    gb.layers.Dense(2, { name = "classes" }),
  }
  model:compile { optimizer = "sgd", loss = "sparse_categorical_crossentropy",
    execution = options and options.execution }
  return model
end

local function with(options, more)
  local all = {}
  for name, value in pairs(options) do all[name] = value end
  for name, value in pairs(more) do all[name] = value end
  return all
end

local function check_shares(row)
  local sum = 0
  for _, class in ipairs { "compute", "communication", "peer_wait", "copy", "input_wait", "launch", "host", "other" } do
    local column = class .. "_share"
    testing.is_true(row[column] or class == "peer_wait", column)  -- the latter of replicas
    sum = sum + (row[column] or 0)
  end
  testing.is_true(math.abs(sum - 1) < 1e-6, "sum of shares")
  testing.is_true(row.other_share <= 0.05 and row.observer_share > 0)
end

-- layers and ops sum to the step; some layer has this name.
local function check_profile(profile, name)
  for _, list in ipairs { "entries", "layers", "ops" } do
    local sum = 0
    for _, entry in ipairs(profile[list]) do sum = sum + entry.time_s end
    testing.is_true(math.abs(sum / profile.step_s - 1) < 0.02, list)
  end
  local found = false
  for _, entry in ipairs(profile.layers) do found = found or entry.layer == name end
  testing.is_true(found or not name, name)
  for _, entry in ipairs(profile.entries) do
    testing.equal(entry.flops ~= nil, entry.bytes ~= nil)
    if entry.op == "matmul" and entry.flops then
      testing.is_true(entry.flops > 0 and entry.bytes > 0, "the work of a product")
    end
  end
  testing.is_true(#profile.gaps <= 5)
  testing.contains(profile.text, "steps of ")
end

testing.case("the shares of every kind of step sum to it", function()
  for _, execution in ipairs { "graph", "eager" } do
    check_shares(gb.measure.training(small { execution = execution }, input, quick))
  end
  local w = gb.Variable(1)
  local eager = function(batch) w:assign_add(batch:mean() * 0.001) return w * 1 end
  check_shares(gb.measure.loop(eager, input, quick))
  check_shares(gb.measure.loop(gb.compile(eager), input, quick))
  check_shares(gb.measure.inference(small(), { duration = 0.02 }))
  local row = gb.measure.training(small(), input, with(quick, { trace = false }))
  testing.equal({ row.compute_share, row.observer_share }, {})
end)

testing.case("replicas in threads of the CPU have all shares", function()
  local strategy = gb.distribute.MirroredStrategy { devices = { "cpu:0", "cpu:1" } }
  local model = strategy:scope(function() return small() end)
  local row = gb.measure.training(model, input, with(quick, { profile = true }))
  check_shares(row)
  check_profile(row.profile, "hidden")
  testing.equal(row.replicas, 2)
  testing.is_true(row.peer_wait_share >= 0 and row.communication_share > 0)
end)

testing.case("a training and a loop are profiled where that is asked for", function()
  testing.equal(gb.measure.training(small(), input, quick).profile, nil)
  local row = gb.measure.training(small(), input, with(quick, { profile = true }))
  check_profile(row.profile, "hidden")
  testing.is_true(#row.profile.memory > 0)
  local w = gb.Variable(1)
  local loop = gb.measure.loop(function(batch) w:assign_add(batch:mean()) end, input, with(quick, { profile = true }))
  check_profile(loop.profile)
  testing.equal(#loop.profile.memory, 0)
  testing.raises("option 'profile': it needs a trace; leave trace = false out", gb.measure.training, small(), input,
    { profile = true, trace = false })
  testing.raises("option 'profile': input_proof measures several trainings", gb.measure.input_proof, small(), input,
    { profile = true })
end)

testing.case("model:profile trains a few steps", function()
  check_profile(small():profile(input), "hidden")
  local profile = small { execution = "eager" }:profile(input, { steps = 3 })
  check_profile(profile, "classes")
  testing.equal(profile.steps, 3)
  testing.raises("option 'steps': 1 to 1000 are expected, got 0", function() small():profile(input, { steps = 0 }) end)
  testing.raises("unknown option 'step'", function() small():profile(input, { step = 3 }) end)
end)

local Profiler = gb.callbacks.Profiler
local folder = gb._native.options.out .. "/results/profile"

testing.case("the Profiler writes trace and profile of a fit", function()
  small():fit(input, { epochs = 2, verbose = 0, callbacks = { Profiler { path = folder, steps = { 3, 6 } } } })
  local text = io.open(folder .. "/profile.txt"):read "a"
  testing.contains(text, "4 steps of ")
  testing.contains(text, "hidden")
  testing.contains(io.open(folder .. "/trace.json"):read "a", '"layer":"hidden"')
  testing.contains(io.open(folder .. "/profile.json"):read "a", '"gaps"')
end)

testing.case("the Profiler names its mistakes before it trains", function()
  testing.raises("Profiler: argument #1: option 'path' is required", Profiler, {})
  testing.raises("Profiler: steps = { 3, 2 }: the first and the last step are expected, "
    .. "from 1, in this order", Profiler,
    { path = folder, steps = { 3, 2 } })
  testing.raises("option 'steps': { first, last } is expected, got 3 numbers", Profiler,
    { path = folder, steps = { 1, 2, 3 } })
  testing.raises("Profiler: ", Profiler, { path = "/nowhere/profile", steps = { 1, 2 } })
  testing.raises("Profiler: steps = { 2, 9 }: the training has only 4 steps (1 epoch of 4)", function()
    small():fit(input, { verbose = 0, callbacks = { Profiler { path = folder, steps = { 2, 9 } } } })
  end)
end)
