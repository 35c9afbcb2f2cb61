-- Arguments without names stand where Keras has them (signatures_values.lua, written by signatures.py): a value that no
-- option takes is refused with the option's name.
local gb = require "gpubench"
local testing = require "testing"
local reference = dofile "tests/peers/conformance/signatures_values.lua"

-- What is no option here may be missing at the end too; some take values of any type.
local missing = { name = true, dtype = true, loss_scale_factor = true, gradient_accumulation_steps = true,
  input_axes = true, output_axes = true, verbose = true, raise_error = true, inner_optimizer = true,
  embeddings_metadata = true, warmup_target = true, warmup_steps = true }

-- Values for required arguments in front of the one that is looked at.
local given = { filepath = "x", filename = "x", inner_optimizer = "sgd" }
local wrong = coroutine.create(function() end)

local function check(constructor, positions)
  for place, name in ipairs(positions) do
    local arguments = {}
    for before = 1, place - 1 do arguments[before] = given[positions[before]] end
    arguments[place] = wrong
    local ok, message = pcall(constructor, table.unpack(arguments, 1, place))
    local named = not ok and message:find(name, 1, true)
    if not named and not missing[name] then
      error(string.format("argument %d is '%s' in Keras; here: %s", place, name, message), 0)
    end
    testing.note()
  end
end

local count = 0
for module, classes in pairs(reference) do
  for _, class in ipairs(classes) do
    local constructor = rawget(gb[module], class.class)
    -- Here lists and functions alone.
    local other = class.class == "PiecewiseConstantDecay" or class.class == "LearningRateScheduler"
    if constructor and not other and #class.positions > 0 then
      count = count + 1
      testing.case(module .. "." .. class.class, function() check(constructor, class.positions) end)
    end
  end
end
testing.case("classes of every kind", function() testing.is_true(count > 80, count .. " classes") end)

local case, equal, raises = testing.case, testing.equal, testing.raises

case("values reach their options", function()
  local function fit(optimizer)
    gb.config.set_seed(4)
    local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
    model:compile { optimizer = optimizer, loss = "mse" }
    local x = gb.random.normal({ 8, 3 }, { seed = 1 })
    model:fit(x, gb.zeros { 8, 2 }, { epochs = 3, verbose = 0, shuffle = false })
    return model:get_weights()[1]:to_table()
  end
  local O = gb.optimizers
  local halved = gb.schedules.ExponentialDecay(0.1, 2, 0.5)
  for _, pair in ipairs {
    { O.SGD(0.1, 0.9, true), O.SGD { learning_rate = 0.1, momentum = 0.9, nesterov = true } },
    { O.SGD(0.1, nil, nil, 0.1, { clipnorm = 1 }), O.SGD { learning_rate = 0.1, weight_decay = 0.1, clipnorm = 1 } },
    { O.SGD(halved, 0.9), O.SGD { learning_rate = halved, momentum = 0.9 } },
    { O.Adam(0.1, 0.8, 0.9, 0.1, true, 0.2),
      O.Adam { learning_rate = 0.1, beta_1 = 0.8, beta_2 = 0.9, epsilon = 0.1, amsgrad = true, weight_decay = 0.2 } },
    { O.AdamW(0.1, 0.2, 0.8), O.AdamW { learning_rate = 0.1, weight_decay = 0.2, beta_1 = 0.8 } },
    { O.RMSprop(0.1, nil, 0.5), O.RMSprop { learning_rate = 0.1, momentum = 0.5 } },
  } do
    equal(fit(pair[1]), fit(pair[2]))
  end
  equal(gb.constraints.MinMaxNorm(0.5, 2), "min_max_norm(min_value=0.5, max_value=2, rate=1, axis=[0])")
  equal(gb.regularizers.L1(0.5), gb.regularizers.L1 { l1 = 0.5 })
  equal(gb.initializers.RandomNormal(0, 0.5, 3), gb.initializers.RandomNormal { mean = 0, stddev = 0.5, seed = 3 })
  local loss = gb.losses.SparseCategoricalCrossentropy(true, -1, "none")
  local logits = gb.tensor { { 1, 2 }, { 0, 1 } }
  equal(#loss(gb.tensor({ 0, -1 }, { dtype = "int64" }), logits).shape, 1)
end)

case("what cannot be is refused", function()
  raises("option 'patience' is given twice, by its place and by its name", gb.callbacks.EarlyStopping, "loss", 0, 1,
    { patience = 2 })
  for _, first in ipairs { 0.1, gb.schedules.ExponentialDecay(0.1, 10, 0.5) } do
    raises("option 'learning_rate' is given twice, by its place and by its name", gb.optimizers.SGD, first, 0.9,
      { learning_rate = 0.2 })
  end
  raises("option 'units' is given twice, by its place and by its name", gb.layers.Dense, 3, { units = 4 })
  raises("unknown option 'verbose'", gb.callbacks.EarlyStopping, "loss", 0, 1, 1)
  raises("argument #3: table of options expected, got number", gb.regularizers.L1L2, 0, 1, 2)
  raises("option 'filepath' is required", gb.callbacks.ModelCheckpoint)
  raises("argument #5: the options must come last", gb.optimizers.SGD, 0.1, 0, false, 0, {}, 1)
end)
