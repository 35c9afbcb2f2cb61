-- Names that Keras, tf.data and PyTorch have, and that are called something else here or are missing, are answered with
-- that. The answers stand in core/base/other_names.
local gb = require "gpubench"
local testing = require "testing"
local first_names = require "other_names.first_names"
local more_names = require "other_names.more_names"

local absent, guess = "; not in gpubench: ", "did you mean"

local function subjects()
  local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
  model:compile { optimizer = "adam", loss = "mse" }
  return setmetatable({
    gb = gb,
    x = gb.ones { 2, 3 },
    labels = gb.tensor({ 0, 1 }, { dtype = "int64" }),
    model = model,
    layer = model.layers[1],
    optimizer = gb.optimizers.Adam(),
    metric = gb.metrics.Mean(),
    loss = gb.losses.MeanSquaredError(),
    dataset = gb.data.Dataset.from_tensor_slices(gb.ones { 4, 3 }),
    strategy = gb.distribute.MirroredStrategy(),
    tape = gb.tape(),
  }, { __index = _G })
end

-- Why the answer to a line of code is wrong; nil where it is right.
local function fault_of(code, right, texts, names)
  local ok, answer = pcall(assert(load(code, code, "t", names)))
  if right == "works" then return not ok and tostring(answer) or nil end
  if ok then return "no error" end
  answer = tostring(answer)
  if (right == "absent") ~= (answer:find(absent, 1, true) ~= nil) then return answer end
  if right == "absent" and answer:find(guess, 1, true) then return answer end
  for _, text in ipairs(texts) do
    if not answer:find(text, 1, true) then return string.format("without %q: %s", text, answer) end
  end
end

local function faults_in(rows)
  local names, faults = subjects(), {}
  for _, row in ipairs(rows) do
    local fault = fault_of(row[1], row[2], table.move(row, 3, #row, 1, {}), names)
    if fault then faults[#faults + 1] = row[1] .. "\n    " .. fault end
    testing.note()
  end
  return faults
end

testing.case("what users type first", function()
  local faults = faults_in(first_names)
  testing.is_true(#faults == 0, string.format("%d of %d answers are wrong:\n%s\n", #faults, #first_names,
    table.concat(faults, "\n")))
end)

testing.case("names of Keras and PyTorch drawn from their lists", function()
  local faults = faults_in(more_names)
  testing.is_true(#faults == 0, string.format("%d of %d answers are wrong:\n%s\n", #faults, #more_names,
    table.concat(faults, "\n")))
end)

local function raises(text, code)
  testing.raises(text, assert(load(code, code, "t", subjects())))
end

testing.case("a name is looked up with those that follow it in its line", function()
  raises("no 'tf.keras.layers.Dense'; here: gb.layers.Dense", "local d = tf.keras.layers.Dense")
  raises("no 'keras.layers'; here: gb.layers", "local layers = keras.layers")
  raises("no 'tf'; here: its members are in gb, methods of tensors", "local t = tf")
  raises("gb: no 'keras'; here: its members are in gb", "local k = gb.keras")
  raises("no 'np.zeros'; here: gb.zeros", "print(np . zeros, np.zeros)")
  raises("no 'torch.backends.cuda.matmul.allow_tf32'; here: gb.config.set_tf32(true)",
    "torch.backends.cuda.matmul.allow_tf32 = true")
  raises("no 'keras.layers.Foo'; not in gpubench: gb.layers has no 'Foo'", "local d = keras.layers.Foo")
  raises("not in gpubench: gb.layers has no 'Dens' (did you mean 'Dense'?)", "local d = tf.keras.layers.Dens")
  raises("no 'torch.foo'; not in gpubench: foo; others of torch are in gb, methods of tensors", "torch.foo()")
  raises("gb.config: no 'experimental'; here: gb.config.set_memory_growth",
    "gb.config.experimental.set_memory_growth('gpu:0', true)")
  -- Of a script in a file the line is read again.
  local path = gb._native.options.out .. "/results/of_torch.lua"
  local file <close> = assert(io.open(path, "w"))
  file:write("\nlocal layer = torch.nn.Linear(3, 2)\n")
  file:close()
  testing.raises("of_torch.lua:2: no 'torch.nn.Linear'; here: gb.layers.Dense", dofile, path)
end)

testing.case("globals of Python's are errors, others are nil", function()
  raises("no 'True'; here: true", "local yes = True")
  raises("no 'len'; here: #x", "print(len(x))")
  testing.equal(load("return no_such_global")(), nil)
  testing.equal(rawget(_G, "True"), nil)
end)

testing.case("what gpubench alone has answers with its own names", function()
  raises("gb.chart: no 'histogram' (known: ", "gb.chart.histogram {}")
  raises("gb.expect: no 'less' (known: ", "gb.expect.less {}")
end)

testing.case("names that stand elsewhere in gb", function()
  raises("gb: no 'Conv2D'; here: gb.layers.Conv2D", "gb.Conv2D(8, 3)")
  raises("gb: no 'CosineSimilarity'; here: gb.losses.CosineSimilarity, or gb.metrics.CosineSimilarity",
    "gb.CosineSimilarity()")
  raises("Tensor: no member 'matmul_'", "x:matmul_(x)")
  raises("Tensor: no member 'full'; here: gb.full", "x:full { 2 }")
end)

testing.case("options", function()
  raises("unknown option 'jit_compile'; here: execution = 'graph'",
    'model:compile { optimizer = "sgd", loss = "mse", jit_compile = true }')
  raises("unknown option 'epoch' (did you mean 'epochs'?) (known: ", "model:fit(x, x, { epoch = 1 })")
  raises("unknown option 'num_workers'; here: num_parallel_calls",
    "dataset:map(function(v) return v end, { num_workers = 1 })")
  raises("Dense: unknown option 'bias'; here: use_bias", "gb.layers.Dense(2, { bias = false })")
  raises("gb.zoo.resnet50: unknown option 'weights'; here: model:load_weights(path) after the making",
    'gb.zoo.resnet50 { weights = "imagenet" }')
  raises("gb.zoo.resnet50: unknown option 'include_top'; not in gpubench: a net of gb.zoo ends in logits: ",
    "gb.zoo.resnet50 { include_top = false }")
  raises("gb.experiment: unknown option 'axis' (did you mean 'axes'?)", "gb.experiment { axis = {} }")
  -- An answer that is another option is none where there is no such option.
  raises("Dense: unknown option 'stride' (known: ", "gb.layers.Dense(2, { stride = 1 })")
end)

testing.case("values in the place of options", function()
  raises("got boolean; options are named: { drop_remainder = ... }", "dataset:batch(2, true)")
  raises("got number; options are named: { epochs = ... }", "model:fit(x, x, 10)")
  raises("got string; options are named: { activation = ... }", 'gb.layers.Dense(8, "relu")')
  raises("array of Dataset, such as { a, b }, expected, got Dataset", "gb.data.Dataset.zip(dataset, dataset)")
  raises("Model expected, got Tensor (call methods with ':')", "model.fit(x, x)")
end)

testing.case("functions for map that are called with an element", function()
  local makers = { "gb.image.decode", 'gb.data.decode_raw', "gb.data.parse_example", "gb.data.read_file" }
  for _, maker in ipairs(makers) do
    raises("here: it makes a function for map: dataset:map(gb.",
      "dataset:map(function(path) return " .. maker .. "(path) end)")
  end
end)

testing.case("names of kinds that are misspelt", function()
  raises("unknown activation 'rellu' (did you mean 'relu'?)", 'gb.layers.Dense(1, { activation = "rellu" })')
  raises("unknown option 'activaton' (did you mean 'activation'?)", 'gb.layers.Dense(1, { activaton = "relu" })')
  raises("unknown loss 'categorical_crossentrpy' (did you mean 'categorical_crossentropy'?)",
    'model:compile { optimizer = "sgd", loss = "categorical_crossentrpy" }')
  raises("unknown optimizer 'adm' (did you mean 'adam'?)", 'model:compile { optimizer = "adm", loss = "mse" }')
  raises("unknown dtype 'double'; not in gpubench: the floating types are ", 'gb.zeros({ 1 }, { dtype = "double" })')
  raises("unknown policy 'half'; here: ", 'gb.config.set_dtype_policy("half")')
end)

testing.case("a word that is like nothing gets no guess", function()
  testing.raises("gb: no 'q' (known: ", function() return gb.q end)
  testing.raises("gb: no '' (known: ", function() return gb[""] end)
  testing.raises("gb: no '" .. ("x"):rep(5000) .. "'", function() return gb[("x"):rep(5000)] end)
  testing.refuses(function() return gb["a\0b"] end)
end)

-- The table itself.

-- { places = {...}, names = {...}, kind = "here" | "absent" | "folder", text = "..." } for each line.
local function entries()
  local list = {}
  for _, name in ipairs { "keras", "layers", "other", "tensors", "training" } do
    local file <close> = assert(io.open("core/base/other_names/" .. name .. ".txt"))
    local places = {}
    for entry in file:read("a"):gsub("\n +", " "):gmatch "[^\n]+" do
      local section = entry:match "^%[(.+)%]$"
      if section then
        places = {}
        for place in section:gmatch "[^,]+" do places[#places + 1] = place:match "^%s*(.*)$" end
      elseif not entry:find "^#" then
        local names, mark, text = entry:match "^([^:]+): ([->]? ?)(.+)$"
        testing.is_true(names and #places > 0, entry)
        local one = { places = places, names = {}, text = text,
          kind = mark == "- " and "absent" or mark == "> " and "folder" or "here" }
        for word in names:gmatch "%S+" do one.names[#one.names + 1] = word end
        list[#list + 1] = one
      end
    end
  end
  return list
end

local function value_at(path)
  local value = gb
  for name in path:gmatch("[%w_]+", 3) do value = type(value) == "table" and rawget(value, name) or nil end
  return value
end

local classes = gb._native.classes()
local members = {}
for class, parts in pairs(classes) do
  members[class] = {}
  for _, part in ipairs { "methods", "getters" } do
    for _, name in ipairs(parts[part]) do members[class][name] = true end
  end
end
local class_of = { x = "Tensor", a = "Tensor", v = "Tensor", labels = "Tensor", images = "Tensor", dataset = "Dataset",
  model = "Model", optimizer = "Optimizer", tape = "Tape", strategy = "Strategy", metric = "Metric", layer = "Layer" }

testing.case("each name has one answer at its place, and is missing there", function()
  local seen = {}
  for _, entry in ipairs(entries()) do
    for _, place in ipairs(entry.places) do
      for _, name in ipairs(entry.names) do
        testing.is_true(not seen[place .. " " .. name], "[" .. place .. "] has " .. name .. " twice")
        seen[place .. " " .. name] = true
        local there = members[place] or type(value_at(place)) == "table" and value_at(place) or {}
        testing.is_true(not rawget(there, name), place .. " has " .. name .. " itself")
      end
    end
  end
end)

testing.case("answers name what exists", function()
  local sections = {}
  for _, entry in ipairs(entries()) do
    for _, place in ipairs(entry.places) do sections[place] = true end
  end
  for _, entry in ipairs(entries()) do
    for path in entry.text:gmatch "gb%.[%w_.]*[%w_]" do
      testing.is_true(value_at(path) ~= nil, string.format("%q: there is no %s", entry.text, path))
    end
    for object, name in (" " .. entry.text):gmatch "[^%w_.](%a[%w_]*)[:.](%a[%w_]*)" do
      local class = class_of[object]
      testing.is_true(not class or members[class][name],
        string.format("%q: there is no %s:%s", entry.text, object, name))
    end
    if entry.kind == "folder" then
      for place in entry.text:gmatch "%S+" do
        testing.is_true(sections[place] or members[place] or type(value_at(place)) == "table", entry.text)
      end
    end
  end
end)
