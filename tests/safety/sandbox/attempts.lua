-- Attempts to leave the sandbox. run prepares the folders and starts a group at a time: SAFETY_GROUP. An attempt gives
-- true where it got out; what it leaves outside of the output folder is found by run. Ends with "N attempts, M got
-- out".
local gb = require "gpubench"

local outside = "../outside"  -- with "victim", which must stay as it is
local group = os.getenv "SAFETY_GROUP"
local attempts, got_out = 0, 0

local function attempt(name, body)
  attempts = attempts + 1
  local ok, result = pcall(body)
  if ok and result then
    got_out = got_out + 1
    print("got out: " .. group .. ": " .. name)
  end
end

-- What is tried wherever a script's code may run: each gives true where it got its way.
local function model()
  local built = gb.Sequential { gb.layers.Dense(1, { input_shape = { 1 } }) }
  built:compile { optimizer = "sgd", loss = "mse" }
  return built
end
local function fit(options)
  local x = gb.ones { 2, 1 }
  options.verbose = 0
  model():fit(x, x, options)
  return true
end
local function tries(folder)
  return {
    { "io.open w", function() return io.open(folder .. "/new", "w") end },
    { "io.open a", function() return io.open(folder .. "/victim", "a") end },
    { "io.open r+", function() return io.open(folder .. "/victim", "r+") end },
    { "io.output", function() return io.output(folder .. "/new") end },
    { "os.remove", function() return os.remove(folder .. "/victim") end },
    { "os.rename away", function() return os.rename(folder .. "/victim", "out/results/taken") end },
    { "os.rename over", function() return os.rename("out/results/mine", folder .. "/victim") end },
    { "save_npy", function() gb.save_npy(folder .. "/new.npy", gb.ones { 1 }) return true end },
    { "Model:save", function() model():save(folder .. "/new_model") return true end },
    { "Model:save_weights", function() model():save_weights(folder .. "/new.safetensors") return true end },
    { "tfrecord_writer", function() return gb.data.tfrecord_writer(folder .. "/new.tfrecord") end },
    { "cache", function()
      for _ in gb.data.Dataset.range(2):cache(folder .. "/new.cache"):iter() do end
      return true
    end },
    { "CSVLogger", function() return fit { callbacks = { gb.callbacks.CSVLogger(folder .. "/new.csv") } } end },
    { "ModelCheckpoint",
      function() return fit { callbacks = { gb.callbacks.ModelCheckpoint(folder .. "/new_{epoch}") } } end },
    { "Profiler",
      function() return fit { callbacks = { gb.callbacks.Profiler { path = folder .. "/new",
      steps = { 1, 1 } } } } end },
    { "TensorBoard", function() return fit { callbacks = { gb.callbacks.TensorBoard(folder .. "/new") } } end },
    { "resume", function() return fit { resume = folder .. "/new.state" } end },
  }
end
local function without_paths()
  local code = string.dump(function() return 7 end)
  return {
    { "os.execute", function() return os.execute("touch " .. outside .. "/new") end },
    { "io.popen", function() return io.popen("touch " .. outside .. "/new") end },
    { "os.tmpname", function() return os.tmpname() end },
    { "io.tmpfile", function() return io.tmpfile() end },
    { "os.setlocale", function() return os.setlocale "C" end },
    { "a binary chunk", function() return load(code, "x", "b") end },
    { "a binary chunk by pieces", function()
      local at = 0
      return load(function() at = at + 1 return at <= #code and code:sub(at, at) or nil end, "x", "bt")
    end },
    { "package.loadlib", function() return package.loadlib("libc.so.6", "*") end },
    { "debug", function() return debug.getregistry() or debug.sethook() or debug.getupvalue(io.open, 1) end },
    { "experiment's name", function()
      gb.experiment { name = "../../../outside/new", title = "t", run = function() end }
      return true
    end },
  }
end
local function all()
  local list = tries(outside)
  return table.move(without_paths(), 1, #without_paths(), #list + 1, list)
end

-- One row of any tensor, for what must run something.
local function anywhere(wrap)
  for _, one in ipairs(all()) do
    attempt(one[1], function()
      local result
      wrap(function() result = one[2]() end)
      return result
    end)
  end
end

local groups = {}

function groups.script() anywhere(function(call) call() end) end

function groups.coroutines()
  anywhere(function(call) coroutine.wrap(call)() end)
  anywhere(function(call)
    local made = gb.data.Dataset.from_generator(function() pcall(call) coroutine.yield(1) end, { types = { "int64" } })
    for _ in made:iter() do end
  end)
end

function groups.finalizers()
  anywhere(function(call)
    do setmetatable({}, { __gc = call }) end
    collectgarbage()
    collectgarbage()
  end)
  anywhere(function(call) local _ <close> = setmetatable({}, { __close = call }) end)
end

function groups.callbacks()
  anywhere(function(call) fit { callbacks = { { on_epoch_end = function() pcall(call) end } } } end)
  anywhere(function(call) gb.data.Dataset.range(1):map(function(x) pcall(call) return x end) end)
  anywhere(function(call) xpcall(error, call) end)
end

function groups.workers()
  -- They run in other states, from their own source: no upvalue but what is written here.
  local bodies = {
    io = "return io ~= nil and 1 or 0", os = "return os ~= nil and 1 or 0",
    package = "return package ~= nil and 1 or 0",
    debug = "return debug ~= nil and 1 or 0", require = "return require ~= nil and 1 or 0",
    dofile = "return dofile ~= nil and 1 or 0", loadfile = "return loadfile ~= nil and 1 or 0",
    binary = "return load and string.dump and load(string.dump(function() end), 'x', 'b') and 1 or 0",
    binary_by_default = "return load and string.dump and load(string.dump(function() end)) and 1 or 0",
    binary_by_pieces = [[if not (load and string.dump) then return 0 end
      local code, at = string.dump(function() end), 0
      return load(function() at = at + 1 return at <= #code and code:sub(at, at) or nil end) and 1 or 0]],
    load_of_globals = "return load and load('return io or os or package or debug or require')() and 1 or 0",
    of_strings = "local m = getmetatable('') return m and (m.__index.io or m.__index.os) and 1 or 0",
    of_environment = "local n = 0 for k in pairs(_G) do if k == 'io' or k == 'os' or k == "
      .. "'gb' then n = 1 end end return n",
    of_coroutines = "return coroutine and coroutine.wrap(function() return (io or os or "
      .. "require) and 1 or 0 end)() or 0",
    of_finalizers = [[local got = 0
      do setmetatable({}, { __gc = function() if io or os or require then got = 1 end end }) end
      collectgarbage() return got]],
    of_the_element = "local m = getmetatable((...)) return type(m) == 'table' and (m.io or m.__gc) and 1 or 0",
  }
  for name, body in pairs(bodies) do
    for _, threads in ipairs { 1, 2 } do
      attempt(name, function()
        local tried = gb.data.Dataset.range(1):map(gb.data.lua_function(load(body), { output = { "int64" } }),
          { num_parallel_calls = threads })
        for result in tried:iter() do return result:item() ~= 0 end
      end)
    end
  end
end

function groups.metatables()
  local path = outside .. "/new"
  local texts = {
    path = setmetatable({}, { __tostring = function() return path end }),
    named = setmetatable({}, { __name = "FILE*", __tostring = function() return path end }),
  }
  for name, text in pairs(texts) do
    attempt("io.open of an object " .. name, function() return io.open(text, "w") end)
    attempt("io.output of an object " .. name, function() return io.output(text) end)
    attempt("os.remove of an object " .. name, function() return os.remove(text) end)
    attempt("save_npy to an object " .. name, function() gb.save_npy(text, gb.ones { 1 }) return true end)
  end
  for _, mode in ipairs { "w", "wb", "a", "ab", "r+", "r+b", "w+", "a+", "rw", "+r", "W", " w", "r\0w", "w\0", 5 } do
    attempt("the mode " .. tostring(mode), function()
      return io.open(path, mode)
    end)
  end
  attempt("a mode that is an object", function()
    return io.open(path, setmetatable({}, { __tostring = function() return "w" end }))
  end)
  attempt("debug's metatable taken away", function() return setmetatable(debug, nil) end)
  attempt("debug's fields, raw", function() return next(debug) end)
  attempt("another library of debug", function() return rawget(require "debug", "getregistry") end)
  for _, module in ipairs { gb, gb.data, gb.layers, gb.config } do
    attempt("a module's metatable", function()
      local metatable = getmetatable(module)
      return type(metatable) == "table" and metatable.__index and pcall(metatable.__index, {}, "x")
    end)
  end
  for _, object in ipairs { gb.ones { 1 }, gb.data.Dataset.range(1), gb.layers.Dense(1), gb.optimizers.SGD {} } do
    attempt("an object's metatable",
      function() return type(getmetatable(object)) == "table" and getmetatable(object) end)
    attempt("an object's metatable replaced", function() return setmetatable(object, {}) end)
  end
  attempt("a file's methods on another object", function()
    local close = getmetatable(io.stdout).__gc
    return close and pcall(close, gb.ones { 1 })
  end)
  local replaced = { "type", "pairs", "ipairs", "next", "tostring", "error", "pcall", "rawget", "select", "require" }
  for _, name in ipairs(replaced) do
    attempt("with another " .. name, function()
      local own = _G[name]
      _G[name] = function() return nil end
      local opened, file = pcall(io.open, path, "w")
      _G[name] = own
      return opened and file
    end)
  end
  attempt("strings that find nothing", function()
    local own = {}
    for name, member in pairs(string) do own[name], string[name] = member, function() return nil end end
    local opened, file = pcall(io.open, path, "w")
    for name, member in pairs(own) do string[name] = member end
    return opened and file
  end)
end

function groups.packages()
  local own = { path = package.path, cpath = package.cpath, searchers = package.searchers }
  local function try(name, body)
    attempt(name, body)
    for field, value in pairs(own) do package[field] = value end
  end
  for _, name in ipairs { "planted", "sub.planted", "out.planted" } do
    for _, path in ipairs { "./?.so", "?.so", "out/?.so;;", "../outside/?.so" } do
      try("cpath " .. path .. " of " .. name, function()
        package.cpath = path
        return require(name)
      end)
    end
  end
  try("every searcher", function()
    package.cpath = "./?.so"
    for _, searcher in ipairs(package.searchers) do
      local ok, loader = pcall(searcher, "planted")
      if ok and type(loader) == "function" then return loader("planted") end
    end
  end)
  try("searchers that are taken away", function()
    package.searchers = nil
    return require "planted"
  end)
  try("loadlib of what searchpath finds", function()
    return package.loadlib(package.searchpath("planted", "./?.so"), "luaopen_planted")
  end)
  try("loaded.package.loadlib", function() return package.loaded.package.loadlib("./planted.so", "*") end)
  for _, name in ipairs { "binary", "sub.binary", "out.binary" } do
    try("a binary chunk as the module " .. name, function() return require(name) end)
  end
  try("a binary chunk elsewhere", function()
    package.path = "../outside/?.lua"
    return require "binary"
  end)
  try("a binary chunk by searchpath", function() return loadfile(package.searchpath("binary", "./?.lua"), "b") end)
  try("preload of a binary chunk", function()
    package.preload.made = load(string.dump(function() return true end), "x", "b")
    return require "made"
  end)
  for _, library in ipairs { "os", "io", "debug" } do
    try("the loaded library " .. library, function()
      local loaded = package.loaded[library]
      return loaded.execute and loaded.execute("touch ../outside/new") or loaded.popen and loaded.popen("true") or
        loaded.getregistry and loaded.getregistry()
    end)
  end
  try("a library loaded anew", function()
    package.loaded.os = nil
    return require("os").execute "touch ../outside/new"
  end)
  try("ending another run", function()
    local native = package.loaded["gpubench.native"]
    return native._native.results.end_abandoned("../outside/run", "ended by another")
  end)
end

function groups.planted()
  for _, file in ipairs { "binary.lua", "sub/binary.lua", "out/binary.lua", "../outside/binary.lua" } do
    attempt("dofile " .. file, function() return dofile(file) end)
    attempt("loadfile " .. file, function() return loadfile(file, "b") end)
    attempt("loadfile by default " .. file, function() return loadfile(file) end)
  end
  for _, name in ipairs { "chart.gp", "style.gp", "plots/style.gp", "x/../y.gp", "y.gp/" } do
    attempt("writing " .. name, function() return io.open("out/results/" .. name, "w") end)
    attempt("renaming to " .. name, function()
      io.open("out/results/text", "w"):write("system('touch ../outside/new')"):close()
      return os.rename("out/results/text", "out/results/" .. name)
    end)
  end
  gb.experiment { name = "planted", title = "t", axes = { gb.axis("n", { 1, 2 }) },
    charts = { gb.chart.line { x = "n", y = "v" } }, run = function(point) return { v = point.n } end }
end

function groups.links()
  for _, link in ipairs { "link", "chain", "up/outside", "deep/../link", "absolute" } do
    for _, one in ipairs(tries("out/results/" .. link)) do attempt(link .. ": " .. one[1], one[2]) end
  end
  for _, file in ipairs { "victim", "dangling", "loop", "hard" } do
    attempt("io.open of the link " .. file, function() return io.open("out/results/" .. file, "w") end)
    attempt("io.open to append to the link " .. file, function() return io.open("out/results/" .. file, "a") end)
    attempt("save_npy to the link " .. file,
      function() gb.save_npy("out/results/" .. file, gb.ones { 1 }) return true end)
    attempt("tfrecord_writer to the link " .. file,
      function() return gb.data.tfrecord_writer("out/results/" .. file) end)
    attempt("weights to the link " .. file, function() model():save_weights("out/results/" .. file) return true end)
  end
  for _, path in ipairs { "/proc/self/cwd/../outside/new", "/proc/self/root" .. "/tmp/gpubench-new",
      "/dev/shm/gpubench-new" } do
    attempt(path, function() return io.open(path, "w") end)
  end
  -- Paths that are checked before they exist, and lead through a link when they are opened.
  local late = {
    CSVLogger = function(path) return { callbacks = { gb.callbacks.CSVLogger(path .. "/new.csv") } } end,
    ModelCheckpoint = function(path)
      return { callbacks = { gb.callbacks.ModelCheckpoint(path .. "/new_{epoch}") } }
    end,
    Profiler = function(path)
      return { callbacks = { gb.callbacks.Profiler { path = path .. "/new", steps = { 1, 1 } } } }
    end,
    TensorBoard = function(path) return { callbacks = { gb.callbacks.TensorBoard(path .. "/new") } } end,
    resume = function(path) return { resume = path .. "/new.state" } end,
  }
  for name, options in pairs(late) do
    attempt("a folder with a link is renamed: " .. name, function()
      local given = options "out/results/moved/link"
      given.callbacks = given.callbacks or {}
      table.insert(given.callbacks, 1,
        { on_train_begin = function() os.rename("out/results/tree", "out/results/moved") end })
      return fit(given) and not os.rename("out/results/moved", "out/results/tree")
    end)
  end
  attempt("a folder with a link is renamed: cache", function()
    local cached = gb.data.Dataset.range(2):cache "out/results/moved/link/new.cache"
    local renamed = os.rename("out/results/tree", "out/results/moved")
    for _ in cached:iter() do end
    return renamed
  end)
  for _, place in ipairs { "linked", "up" } do
    pcall(gb.experiment, { name = place, title = "t", charts = { gb.chart.line { x = "n", y = "v" } },
      axes = { gb.axis("n", { 1, 2 }) }, run = function(point) return { v = point.n } end })
  end
end

require "native_attempts"(groups, attempt, outside)

gb.experiment { name = "place", title = "A place for files", run = function() return {} end }
io.open("out/results/mine", "w"):write("mine"):close()
groups[group]()
print(attempts .. " attempts, " .. got_out .. " got out")
