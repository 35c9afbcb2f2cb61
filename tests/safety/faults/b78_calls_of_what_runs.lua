-- Every call on a model, its parts and its data, at every moment at which the model's own fit, evaluate, predict or
-- measurement calls the script: it is refused with a message, or works, and what runs goes on as if nothing had
-- happened.
local gb = require "gpubench"
local testing = require "testing"

local out = "out/results"
local rows <const>, batch_size <const>, epochs <const> = 6, 2, 2
local x = gb.tensor { { 1, 2, 3 }, { 3, 2, 1 }, { 0, 1, 0 }, { 1, 1, 1 }, { 2, 0, 2 }, { 0, 0, 1 } }
local y = gb.tensor { { 1, 0 }, { 0, 1 }, { 1, 0 }, { 1, 0 }, { 0, 1 }, { 1, 0 } }
local examples = gb.data.Dataset.from_tensor_slices { x, y }
local kinds = { types = { "float32[3]", "float32[2]" } }

-- The learning rate is 0: figures of a training tell which batches they are of, and nothing else.
local subject
local hook = function() end  -- what the moment calls
local function build(options)
  options = options or {}
  gb.config.set_seed(7)
  local model = gb.Sequential {
    gb.layers.Dense(4, { input_shape = { 3 }, activation = options.activation }),
    gb.layers.Dense(2, { activation = "softmax" }),
  }
  model:compile { optimizer = gb.optimizers.SGD { learning_rate = options.learning_rate or 0 },
    loss = options.loss or "mse", metrics = options.metrics or { "accuracy" } }
  return model
end
local armed = false  -- while the moment's model is built, nothing happens
local function build_subject(options)
  armed = false
  subject = build(options)
  armed = true
  return subject
end
local function at(moment, nth)
  local count = 0
  return { [moment] = function()
    count = count + 1
    if count == (nth or 1) then hook() end
  end }
end
local function with_hook(result)
  return function(...)
    hook()
    return result(...)
  end
end
local function generated(nth)
  return gb.data.Dataset.from_generator(function()
    local _ <close> = setmetatable({}, { __close = function() if nth == "closed" then hook() end end })
    for i = 1, rows do
      if i == nth then hook() end
      coroutine.yield(x:rows(i, i):reshape { 3 }, y:rows(i, i):reshape { 2 })
    end
  end, kinds):batch(batch_size)
end
local function fit(model, callback, data)
  if data then return model:fit(data, { verbose = 0, epochs = epochs, callbacks = { callback } }) end
  return model:fit(x, y,
    { verbose = 0, batch_size = batch_size, epochs = epochs, shuffle = false, callbacks = { callback } })
end

-- Each runs the model and returns figures that do not depend on what happens at the moment.
local moments = {
  on_train_begin = function() return fit(build_subject(), at "on_train_begin").history end,
  on_epoch_begin = function() return fit(build_subject(), at("on_epoch_begin", 2)).history end,
  on_batch_begin = function() return fit(build_subject(), at("on_batch_begin", 2)).history end,
  on_batch_end = function() return fit(build_subject(), at("on_batch_end", 2)).history end,
  on_epoch_end = function() return fit(build_subject(), at "on_epoch_end").history end,
  on_train_end = function() return fit(build_subject(), at "on_train_end").history end,
  logs_of_a_batch = function()
    return fit(build_subject(),
      { on_batch_end = function(step, logs) if step == 2 then hook(logs.loss) end end }).history
  end,
  closing_handler = function()
    return fit(build_subject(), { on_batch_begin = function(step)
      local _ <close> = setmetatable({}, { __close = function() if step == 2 then hook() end end })
    end }).history
  end,
  finalizer = function()
    return fit(build_subject(), { on_batch_begin = function(step)
      if step ~= 2 then return end
      setmetatable({}, { __gc = function() hook() end })
      collectgarbage() collectgarbage()
    end }).history
  end,
  coroutine = function()
    return fit(build_subject(),
      { on_batch_begin = function(step) if step == 2 then coroutine.wrap(hook)() end end }).history
  end,
  scheduler = function()
    return fit(build_subject(), gb.callbacks.LearningRateScheduler(with_hook(function() return 0.0 end))).history
  end,
  loss = function()
    return fit(
      build_subject { loss = with_hook(function(labels, predictions) return ((labels - predictions) ^ 2):mean() end) },
      {}).history
  end,
  metric = function()
    return fit(
      build_subject {
      metrics = { with_hook(function(labels, predictions) return (labels - predictions):abs():mean() end) } },
      {}).history
  end,
  activation = function()
    return fit(build_subject { activation = with_hook(function(v) return v:relu() end) }, {}).history
  end,
  learning_rate = function()
    return fit(build_subject { learning_rate = with_hook(function(step) return step * 0.0 end) }, {}).history
  end,
  generator_of_fit = function() return fit(build_subject(), {}, generated(4)).history end,
  generator_of_fit_closed = function() return fit(build_subject(), {}, generated "closed").history end,
  generator_of_evaluate = function() return build_subject():evaluate(generated(4)) end,
  generator_of_predict = function() return build_subject():predict(generated(4)):to_table() end,
  generator_of_validation = function()
    return build_subject()
      :fit(x, y, { verbose = 0, batch_size = batch_size, shuffle = false, validation_data = generated(4) }).history
  end,
  generator_of_train_on_batch = function()
    return { build_subject():train_on_batch(x, y), fit(subject, {}, generated(2)).history.loss }
  end,
  generator_of_measure = function()
    local row = gb.measure.training(build_subject(), generated(4):repeated(), { budget = 0.001, trace = false })
    return { row.batch_size, row.device }
  end,
  measured_loop = function()
    local count, model = 0, build_subject()
    local row = gb.measure.loop(function(a, b)
      count = count + 1
      if count == 2 then hook() end
      return model:test_on_batch(a, b).loss
    end, examples:batch(rows):repeated(), { budget = 0.001, trace = false })
    return row.last_loss
  end,
  interleave = function()
    local is_read = false
    local data = gb.data.Dataset.range(2):interleave(function()
      if is_read then hook() end
      return examples:take(2)
    end, { cycle_length = 1 }):batch(batch_size)
    build_subject()
    is_read = true
    return fit(subject, {}, data).history
  end,
}

-- What it calls then. Most leave the model as it was.
local quiet = { verbose = 0 }
local calls = {
  fit = function(m) m:fit(x, y, { verbose = 0, batch_size = 3 }) end,
  fit_of_the_same_batch = function(m) m:fit(x, y, { verbose = 0, batch_size = batch_size, shuffle = false }) end,
  fit_autotune = function(m) m:fit(x, y, { verbose = 0, batch_size = gb.AUTOTUNE }) end,
  fit_class_weight = function(m) m:fit(x, y, { verbose = 0, class_weight = { [0] = 3 } }) end,
  fit_that_fails = function(m)
    m:fit(x, y, { verbose = 0, callbacks = { { on_batch_end = function() error "odd" end } } })
  end,
  fit_generated = function(m) m:fit(generated(0), quiet) end,
  evaluate = function(m) m:evaluate(x, y) end,
  evaluate_in_batches = function(m) m:evaluate(examples:batch(batch_size)) end,
  predict = function(m) m:predict(x, quiet) end,
  train_on_batch = function(m) m:train_on_batch(x, y) end,
  train_on_the_same_batch = function(m) m:train_on_batch(x:rows(1, 2), y:rows(1, 2)) end,
  test_on_batch = function(m) m:test_on_batch(x, y) end,
  predict_on_batch = function(m) m:predict_on_batch(x) end,
  compile = function(m) m:compile { optimizer = "adam", loss = "mae" } end,
  find_batch_size = function(m) gb.find_batch_size(m, examples, 1 << 30) end,
  find_batch_size_made = function(m)
    gb.find_batch_size(m, function(size) return examples:repeated():batch(size):take(2) end, 1 << 20)
  end,
  memory = function(m) m:memory(4) end,
  memory_report = function(m) gb.memory.report(m) end,
  profile = function(m) m:profile(examples:repeated():batch(batch_size), { steps = 2 }) end,
  measure_training = function(m)
    gb.measure.training(m, examples:repeated():batch(batch_size), { budget = 0.001, trace = false })
  end,
  measure_inference = function(m) gb.measure.inference(m, { batch = 2, duration = 0.001 }) end,
  input_proof = function(m) gb.measure.input_proof(m, examples:repeated():batch(batch_size), { budget = 0.001 }) end,
  save_and_load = function(m)
    m:save_weights(out .. "/weights.safetensors")
    m:load_weights(out .. "/weights.safetensors")
  end,
  save = function(m) m:save(out .. "/model") end,
  weights = function(m) m:set_weights(m:get_weights()) end,
  summary = function(m) assert(#m:summary_text() > 0 and m:count_params() > 0) end,
  trainable = function(m) m.layers[2].trainable = false m.layers[2].trainable = true end,
  variables = function(m) for _, v in ipairs(m.variables) do v:assign(v + 0) end end,
  call = function(m) m(x) m(x, { training = true }) m.layers[2](x) end,
  tape = function(m)
    local tape = gb.tape()
    local loss = m(x):mean()
    tape:gradient(loss, m.variables)
  end,
  compiled = function(m)
    local f
    f = gb.compile(function(v) return m(v) * 2 end)
    f(x) f(x) f(x:rows(1, 2))
  end,
  quantize = function(m) gb.quantize.int8(m, { calibration = examples:batch(batch_size) }) end,
  quantize_aware = function(m) gb.quantize.aware(m) end,
  prune = function(m)
    gb.prune.low_magnitude(m, { schedule = gb.prune.ConstantSparsity { target_sparsity = 0.5, begin_step = 0 } })
  end,
  shrink = function(m) gb.prune.shrink(m, { dense = 0.5 }) end,
  map = function() for _ in examples:map(function(a, b) return a * 2, b end):batch(2):iter() do break end end,
  strategy = function()
    local strategy = gb.distribute.MirroredStrategy { devices = { "cpu:0" } }
    strategy:scope(function() build() end)
    strategy:run(function(v) return v * 2 end, x)
  end,
  device = function(m) gb.device("cpu:0", function() m:predict(x, quiet) end) end,
  collect = function() collectgarbage() collectgarbage() end,
  os_exit_refused = function() os.exit() end,
  settings = function()
    for _, name in ipairs { "set_memory_limit", "set_logical_devices", "set_visible_devices", "set_memory_growth" } do
      assert(not pcall(gb.config[name], "cpu:0", 1 << 30), name)
    end
  end,
  pipeline = function() gb.measure.pipeline(examples:repeated():batch(batch_size), { budget = 0.001 }) end,
  forget = function()
    subject = nil
    collectgarbage() collectgarbage()
  end,
}
local function sorted(names)
  local list = {}
  for name in pairs(names) do list[#list + 1] = name end
  table.sort(list)
  return list
end
local function same(actual, expected, where)
  if type(expected) == "table" then
    for key, value in pairs(expected) do same(actual[key], value, where .. "." .. tostring(key)) end
  elseif type(expected) == "number" then
    if not (math.abs(actual - expected) <= 1e-6) then
      error(("%s: %.9g, expected %.9g"):format(where, actual, expected), 0)
    end
  elseif actual ~= expected then
    error(("%s: %s, expected %s"):format(where, tostring(actual), tostring(expected)), 0)
  end
end

local guarded = { compile = true, find_batch_size = true, find_batch_size_made = true, fit_autotune = true,
  fit_class_weight = true }
-- These take long, and differ from others in what they measure only.
local costly = { input_proof = true, pipeline = true, measure_inference = true }
local with_costly = { on_batch_begin = true, generator_of_fit = true, loss = true, measured_loop = true }
local idle = { measured_loop = true }  -- between its steps
local report = os.getenv "FAULT_REPORT"
for _, moment in ipairs(sorted(moments)) do
  hook = function() end
  local expected = moments[moment]()
  testing.case(moment, function()
    for _, name in ipairs(sorted(calls)) do
      if costly[name] and not with_costly[moment] then goto done end
      local happened, refusal = 0, nil
      hook = function()
        if not armed then return end
        happened = happened + 1
        if happened > 1 then return end
        local model = subject
        local ok, reason = pcall(calls[name], model)
        if not ok then refusal = tostring(reason) end
      end
      local ok, figures = pcall(moments[moment])
      hook = function() end
      if report then print(moment, name, ok and "goes on" or figures, refusal and "refused: " .. refusal or "done") end
      if happened == 0 then error(name .. ": it did not happen", 0) end
      if refusal then testing.refuses(error, refusal, 0) end
      if not ok then error(name .. ": " .. tostring(figures), 0) end
      same(figures, expected, name)
      if guarded[name] and not idle[moment] then
        if not (refusal or ""):find "before %a+ after fit" then
          error(name .. ": not refused for what runs: " .. tostring(refusal), 0)
        end
      end
      if subject then
        local loss = fit(subject, {}).history.loss[1]
        if loss ~= loss then error(name .. ": the model is broken", 0) end
      end
      ::done::
    end
    testing.note()
  end)
end
