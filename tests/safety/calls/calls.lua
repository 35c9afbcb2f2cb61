-- Calls everything that scripts reach with random arguments. run starts it, once for each batch, with
--   SAFETY_META    the files of lua/meta, between colons
--   SAFETY_SEED, SAFETY_BATCH, SAFETY_COUNT   the same calls for the same three
--   SAFETY_FIRST   the point to begin with (1)
--   SAFETY_OUT     the folder given as --out; calls.log in it gets a line for each call before it is made
-- Calls are spread over points of an experiment, so that objects meet another point, and --timeout ends what goes on
-- for ever because it was told to.
local gb = require "gpubench"
local signatures = require "signatures"
local values = require "values"

local function setting(name)
  local value = assert(os.getenv("SAFETY_" .. name), name)
  return value
end
local seed, batch, count = tonumber(setting "SEED"), tonumber(setting "BATCH"), tonumber(setting "COUNT")
local out = setting "OUT"
local calls_in_a_point <const> = 50

local files = {}
for file in setting("META"):gmatch "[^:]+" do files[#files + 1] = file end
local doc = signatures.read(files)
signatures.complete(doc)

-- What the reference does not name: gb._native, while scripts reach it.
local function add_tables(members, prefix)
  for name, member in next, members do
    if type(member) == "table" then
      add_tables(member, prefix .. name .. ".")
    elseif type(member) == "function" and not doc.names[prefix .. name] then
      doc.names[prefix .. name] = { "any", "any", "any" }
    end
  end
end
add_tables(gb, "gb.")

local function is_left_out(name)
  for pattern in (os.getenv "SAFETY_LEAVE_OUT" or ""):gmatch "[^,]+" do
    if name:find(pattern) then return true end
  end
end
local names = {}
for name in pairs(doc.names) do
  local class = name:match "^(%w+) "
  if (not class or doc.bound[class]) and not is_left_out(name) then names[#names + 1] = name end
end
table.sort(names)
math.randomseed(seed, 0)  -- the same order for all batches of a seed, so that they call all names equally often
for i = #names, 2, -1 do
  local j = math.random(i)
  names[i], names[j] = names[j], names[i]
end

local function member_of_gb(path)
  local member = gb
  for part in path:gmatch "[^.]+" do member = rawget(member, part) end
  return member
end

local operators = {
  add = function(a, b) return a + b end, sub = function(a, b) return a - b end, mul = function(a, b) return a * b end,
  div = function(a, b) return a / b end, mod = function(a, b) return a % b end, pow = function(a, b) return a ^ b end,
  idiv = function(a, b) return a // b end, unm = function(a) return -a end, len = function(a) return #a end,
  concat = function(a, b) return a .. b end, call = function(a, ...) return a(...) end,
  index = function(a, k) return a[k] end, newindex = function(a, k, v) a[k] = v return a end,
  tostring = function(a) return tostring(a) end, eq = function(a, b) return a == b end,
  lt = function(a, b) return a < b end,
  loop = function(a)
    local last
    for one in a do
      last = one
      if math.random() < 0.2 then break end
    end
    return last
  end,
  ipairs = function(a)
    local last
    for k, one in ipairs(a) do
      last = one
      if k > 3 then break end
    end
    return last
  end,
}

-- Of a name: the function, and the number of arguments that are the object itself.
local function callable(name)
  local path = name:match "^gb%.(.*)"
  if path then return member_of_gb(path), nil end
  local class, method = name:match "^(%w+):([%w_]+)$"
  if class then return function(object, ...) return object[method](object, ...) end, class end
  local of, operator = name:match "^(%w+) (%a+)$"
  if of then return operators[operator], of end
  local owner, field = name:match "^(%w+)%.([%w_]+)$"
  return function(object, value)
    if math.random() < 0.6 then return object[field] end
    object[field] = value
  end, owner
end

local function arguments_of(name, class)
  local types, list, size = doc.names[name], {}, 0
  if class then
    size = 1
    if math.random() < 0.96 then list[1] = values.object(class) else list[1] = values.any() end
  end
  local most = math.max(#types, operators[name:match "%a+$"] and 1 or 0)
  local given = math.random() < 0.8 and most or math.random(0, most + 2)
  for k = 1, given do
    size = size + 1
    if math.random() < 0.85 then list[size] = values.typed(types[k] or "any") else list[size] = values.any() end
  end
  return list, size
end

-- Where a call is made: each runs the function that it is given.
local function model_to_fit(options)
  local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
  model:compile(options or { optimizer = "sgd", loss = "mse" })
  return model
end
local x, y = { { 1, 2, 3 }, { 4, 5, 6 } }, { { 1, 2 }, { 3, 4 } }
local contexts = {
  coroutine = function(call) coroutine.wrap(call)() end,
  map = function(call) gb.data.Dataset.range(2):map(function(v) call(v) return v end) end,
  filter = function(call) gb.data.Dataset.range(2):filter(function(v) call(v) return v:gt(0) end) end,
  generator = function(call)
    local made = gb.data.Dataset.from_generator(function() call() coroutine.yield(1) end, { types = { "int64" } })
    for _ in made:iter() do end
  end,
  callback = function(call)
    local moment = values.one_of { "on_train_begin", "on_epoch_end", "on_batch_end", "on_batch_begin" }
    local model = model_to_fit()
    values.keep_result(model)
    model:fit(gb.tensor(x), gb.tensor(y), { verbose = 0, callbacks = { { [moment] = call } } })
  end,
  loss = function(call)
    local model = model_to_fit { optimizer = "sgd",
      loss = function(a, b) call(a, b) return (a - b):square():mean() end }
    model:fit(gb.tensor(x), gb.tensor(y), { verbose = 0 })
  end,
  layer = function(call) gb.layers.Lambda(function(v) call(v) return v end)(gb.ones { 2, 3 }) end,
  layer_in_fit = function(call)
    local model = gb.Sequential { gb.layers.Input { 3 }, gb.layers.Lambda(function(v) call(v) return v end),
      gb.layers.Dense(2) }
    model:compile { optimizer = "sgd", loss = "mse" }
    values.keep_result(model)
    model:fit(gb.tensor(x), gb.tensor(y), { verbose = 0 })
  end,
  metric = function(call)
    local model = model_to_fit { optimizer = "sgd", loss = "mse",
      metrics = { function(a, b) call(a, b) return (a - b):mean() end } }
    values.keep_result(model)
    model:evaluate(gb.tensor(x), gb.tensor(y), { verbose = 0 })
  end,
  schedule = function(call)
    local model = model_to_fit()
    values.keep_result(model)
    model:fit(gb.tensor(x), gb.tensor(y),
      { verbose = 0, callbacks = { gb.callbacks.LearningRateScheduler(function(epoch) call(epoch) return 0.1 end) } })
  end,
  fed_by_generator = function(call)
    local model = model_to_fit()
    values.keep_result(model)
    local pairs_of = gb.data.Dataset.from_generator(function()
      for _ = 1, 2 do call(model) coroutine.yield(gb.ones { 3 }, gb.ones { 2 }) end
    end, { types = { "float32[3]", "float32[2]" } })
    local use = values.one_of { "fit", "evaluate", "predict" }
    model[use](model, pairs_of:batch(2), { verbose = 0 })
  end,
  measured = function(call)
    local model = model_to_fit()
    values.keep_result(model)
    local data = gb.data.Dataset.from_generator(function()
      while true do call(model) coroutine.yield(gb.ones { 3 }, gb.ones { 2 }) end
    end, { types = { "float32[3]", "float32[2]" } })
    gb.measure.training(model, data:batch(2), { budget = 0.01, warmup = 0 })
  end,
  once = function(call) gb.once(tostring(call), call) end,
  closed_coroutine = function(call)
    local co = coroutine.create(function()
      local _ <close> = setmetatable({}, { __close = function() call() coroutine.wrap(call)() end })
      coroutine.yield()
    end)
    coroutine.resume(co)
    coroutine.close(co)
  end,
  failing_coroutine = function(call)
    pcall(coroutine.wrap(function()
      local _ <close> = setmetatable({}, { __close = function() coroutine.wrap(call)() end })
      error "fails"
    end))
  end,
  dataset_loop = function(call) for v in gb.data.Dataset.range(2) do call(v) end end,
  interleave = function(call)
    local made = gb.data.Dataset.range(2):interleave(function(v) call(v) return gb.data.Dataset.range(1) end)
    for _ in made:iter() do end
  end,
  strategy = function(call)
    gb.distribute.MirroredStrategy { devices = { "cpu:0" } }:run(function(v) call(v) return v end, gb.ones { 2 })
  end,
  closing = function(call) local _ <close> = setmetatable({}, { __close = function() call() end }) end,
  error_object = function(call) error(setmetatable({}, { __tostring = function() call() return "text" end })) end,
  sorting = function(call) table.sort({ 1, 2, 3 }, function(a, b) call() return a < b end) end,
  substitution = function(call) return ("ab"):gsub(".", function() call() end) end,
  loading = function(call) return load(function() call() end) end,
  wrapped_twice = function(call)
    local outer = coroutine.wrap(function()
      local inner = coroutine.wrap(function() coroutine.yield(call()) call() end)
      inner()
      coroutine.yield(inner)
    end)
    local inner = outer()
    inner()
  end,
  finalizer = function(call)
    do setmetatable({}, { __gc = function() pcall(call) end }) end
    collectgarbage()
  end,
  metamethod = function(call)
    return gb.tensor(setmetatable({}, { __len = function() call() return 0 end, __index = function() call() end }))
  end,
  scope = function(call) gb.distribute.MirroredStrategy { devices = { "cpu:0" } }:scope(call) end,
  tape = function(call) gb.tape(function(tape) call(tape) return gb.ones {} end) end,
  compiled = function(call) gb.compile(function(v) call(v) return v + 1 end)(gb.ones { 2 }) end,
  device = function(call) gb.device("cpu:0", call) end,
  error_handler = function(call) xpcall(error, call) end,
}
local context_names = {}
for name in pairs(contexts) do context_names[#context_names + 1] = name end
table.sort(context_names)

-- An example of the reference with something in it replaced.
local replacements = { "0", "-1", "1 << 62", "math.maxinteger", "nil", "{}", "''", "0/0", "gb", "function() end",
  "1e308", "'cpu:0'" }
local function changed_example()
  local example = values.one_of(doc.examples)
  local places = {}
  for from, to in example.text:gmatch "()%f[%w_\"][%w_.\"]+()" do places[#places + 1] = { from, to } end
  local place = values.one_of(places)
  local text = example.text:sub(1, place[1] - 1) .. values.one_of(replacements) .. example.text:sub(place[2])
  return load(text, "=" .. example.where), example.where .. " at " .. place[1]
end

local log
local made = 0
local function announce(name, context, list, size)
  local parts = {}
  for k = 1, size do parts[k] = values.show(list[k]) end
  log:write(name, "\t", context, "\t", table.concat(parts, ", "), "\n")
end

-- In a finalizer or a callback the call comes later, so the log says "then" when it does.
local function make_call()
  local name = names[(batch * count + made) % #names + 1]
  made = made + 1
  if math.random() < 0.002 then
    local changed, where = changed_example()
    if changed then
      log:write("example\t", where, "\n")
      return pcall(changed)
    end
  end
  local called, class = callable(name)
  local list, size = arguments_of(name, class)
  local context = math.random() < 0.25 and values.one_of(context_names) or "plain"
  announce(name, context, list, size)
  local function call(given)
    if given ~= nil and math.random() < 0.3 then list[math.max(1, math.random(size))] = given end
    local ok, result = pcall(called, table.unpack(list, 1, size))
    if ok then values.keep_result(result) end
    return ok and result or nil
  end
  if context == "plain" then call() else pcall(contexts[context], call) end
end
values.again = function() return gb.ones { 2 } + 1 end

local points = {}
for i = tonumber(os.getenv "SAFETY_FIRST" or 1), count // calls_in_a_point do points[#points + 1] = i end
-- The sweep starts the folder, in which the log and the files of calls are.
gb.experiment { name = "place", title = "A place for files", run = function() return {} end }
values.open(doc, out .. "/results")
if batch == 0 then values.check() end
log = assert(io.open(out .. "/results/calls.log", "w"))
log:setvbuf "line"
local experiment = gb.experiment
-- The functions of an experiment that the library calls, in and out of its points.
local function now_and_then(result)
  return function()
    if log and math.random() < 0.1 then make_call() end
    return result
  end
end
experiment { name = "calls", title = "Calls", axes = { gb.axis("part", points) }, skip = now_and_then(nil),
  seconds = now_and_then(0.1), answer = now_and_then "Nothing.", run = function(point)
  -- a batch that goes on at a point makes the same calls from there on
  math.randomseed(seed, (batch << 32) + point.part)
  log:write("part\t", point.part, "\n")
  if math.random() < 0.3 then values.forget() end
  made = (point.part - 1) * calls_in_a_point
  while made < point.part * calls_in_a_point do make_call() end
  return { v = 1.0 }
end }
-- Objects of the points, behind them, with the same limit of time.
made = 0
gb._native.protect(function()
  for _ = 1, 20 do make_call() end
end)
log:write "done\n"
