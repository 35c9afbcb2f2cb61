-- Masks that travel: from layer to layer, to losses and metrics, eagerly, planned and in replicas. Their numbers are
-- held against Keras in tests/peers/conformance/sequences_test.lua.
local gb = require "gpubench"
local testing = require "testing"

local L, case, raises, equal = gb.layers, testing.case, testing.raises, testing.equal
gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 } })
local tokens = gb.tensor({ { 1, 2, 0, 0 }, { 3, 1, 2, 0 }, { 2, 0, 0, 0 }, { 1, 1, 3, 2 } }, { dtype = "int32" })
local kept = { { true, true, false, false }, { true, true, true, false }, { true, false, false, false },
  { true, true, true, true } }

local function close(actual, expected, what)
  testing.is_true((actual - expected):abs():max():item() < 1e-6, what)
end
local function embedding() return L.Embedding(5, 3, { mask_zero = true, embeddings_initializer = "glorot_uniform" }) end

case("a tensor carries its mask, and operators drop it", function()
  local x = embedding()(tokens)
  local pool = L.GlobalAveragePooling1D()
  local short = x[{ { 1, 1 }, { 1, 2 } }]
  close(pool(x)[{ { 1, 1 } }], short:mean(1), "pooling counts two steps")
  close(pool(x + 0), x:mean(1), "without a mask it counts all")
  equal(L.Dense(2):compute_mask(x):to_table(), kept)
  equal(L.Dense(2)(x) and L.GlobalAveragePooling1D():compute_mask(x), nil)
  equal(L.LSTM(2, { return_sequences = true }):compute_mask(x):to_table(), kept)
  equal(L.Flatten():compute_mask(x), nil)
  equal(L.Masking(9):compute_mask(gb.tensor { { { 9, 9 }, { 9, 1 } } }):to_table(), { { false, true } })
  local given = gb.tensor({ { 1, 0, 0, 0 }, { 1, 1, 1, 1 }, { 1, 1, 0, 0 }, { 0, 0, 0, 1 } }, { dtype = "int32" })
  close(pool(x, { mask = given })[{ { 1, 1 } }], x[{ { 1, 1 }, { 1, 1 } }]:mean(1), "an explicit mask wins")
  close(L.GRU(2, { kernel_initializer = "ones" })(x, { mask = given })[{ { 1, 1 } }],
    L.GRU(2, { kernel_initializer = "ones" })(x[{ { 1, 1 }, { 1, 1 } }]), "also in recurrent layers") -- h R is 0
end)

case("Embedding takes the whole part of numbers", function()
  local many = gb.tensor({ { 1, 0, 257 }, { 599, 3, 0 } }, { dtype = "int32" })
  for _, policy in ipairs { "float32", "mixed_bfloat16", "mixed_float16" } do
    local layer = L.Embedding(600, 3, { mask_zero = true, dtype = policy })
    local rows = layer(many)
    equal(layer(many:cast "float32"):to_table(), rows:to_table())
    equal(layer(many:cast "float32" + 0.75):to_table(), rows:to_table())
    equal(layer(many:ne(0)):to_table(), layer(many:minimum(1)):to_table())
    equal(L.Masking(9):compute_mask(layer(many:cast "float32")), L.Masking(9):compute_mask(rows))
    -- As in Keras: 0 alone is padding.
    local function mask(given) return L.Dense(2):compute_mask(layer(given)):to_table() end
    equal(mask(many:cast "float32"), { { true, false, true }, { true, true, false } })
    equal(mask(many:cast "float32" + 0.75), { { true, true, true }, { true, true, true } })
    local input = gb.Input { shape = { 3 } } -- float32
    local model = gb.Model { inputs = input, outputs = layer(input) }
    equal(model(many):to_table(), rows:to_table())
  end
end)

case("symbols know their masks", function()
  local symbol = gb.Input { shape = { 4 }, dtype = "int32" }
  local embed = embedding()
  local mask = embed:compute_mask(symbol)
  equal(mask.dtype, "bool")
  equal(mask.shape, { 4 })
  local model = gb.Model { inputs = symbol, outputs = mask:cast "int32" }
  equal(model:predict(tokens):to_table()[1], { 1, 1, 0, 0 })
  equal(L.Flatten():compute_mask(embed(symbol)), nil)
  equal(L.Flatten().supports_masking, false)
  equal(L.GlobalAveragePooling1D().supports_masking, true)
  equal(embed.supports_masking, true)
  equal(L.Embedding(5, 3).supports_masking, false)
end)

-- A tagger and labels: the mean over the steps that are not masked.
local function tagger()
  gb.config.set_seed(3)
  return gb.Sequential { gb.Input { shape = { 4 }, dtype = "int32" }, L.Embedding(5, 3, { mask_zero = true }),
    L.GRU(4, { return_sequences = true }), L.Dense(2) }
end
local labels = gb.random.normal({ 4, 4, 2 }, { seed = 8 })

case("losses and metrics leave masked steps out", function()
  local model = tagger()
  model:compile { optimizer = "sgd", loss = "mse", metrics = { "mae", "root_mean_squared_error" } }
  local logs = model:evaluate(tokens, labels, { batch_size = 4, verbose = 0 })
  local error = model:predict(tokens) - labels
  local weights = gb.tensor(kept):cast "float32":expand_dims(-1)
  local count = weights:sum():item() * 2
  testing.near(logs.loss, (error:square() * weights):sum():item() / count, 1e-5)
  testing.near(logs.mae, (error:abs() * weights):sum():item() / count, 1e-5)
  testing.near(logs.root_mean_squared_error, error:square():mean():item() ^ 0.5, 1e-5)
  local loss, metric = gb.losses.MeanSquaredError(), gb.metrics.MeanAbsoluteError()
  testing.near(loss(labels, model(tokens)):item(), logs.loss, 1e-5)
  metric:update_state(labels, model(tokens))
  testing.near(metric:result(), logs.mae, 1e-5)
end)

case("all steps may be masked", function()
  local model = tagger()
  model:compile { optimizer = "sgd", loss = "mse" }
  local nothing = gb.zeros({ 4, 4 }, { dtype = "int32" })
  testing.near(model:fit(nothing, labels, { epochs = 1, verbose = 0 }).history.loss[1], 0, 0)
end)

case("replicas compute the mean over the steps of all", function()
  local function trained(strategy)
    local model
    local function make()
      model = tagger()
      model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0.5 }, loss = "mse", metrics = { "mae" } }
    end
    if strategy then strategy:scope(make) else make() end
    local history = model:fit(tokens, labels, { epochs = 2, batch_size = 4, shuffle = false, verbose = 0 }).history
    local logs = model:evaluate(tokens, labels, { batch_size = 3, verbose = 0 })
    return history, logs, model:get_weights()
  end
  local history, logs, weights = trained()
  local strategy = gb.distribute.MirroredStrategy { devices = { "cpu:0", "cpu:1" } }
  local shared, shared_logs, shared_weights = trained(strategy)
  for epoch = 1, 2 do testing.near(shared.loss[epoch], history.loss[epoch], 1e-5) end
  testing.near(shared.mae[2], history.mae[2], 1e-5)
  testing.near(shared_logs.loss, logs.loss, 1e-5)
  for index, weight in ipairs(weights) do close(shared_weights[index], weight, "weight " .. index) end
end)

case("custom layers pass masks on, make them and read them", function()
  local seen
  local layer = L.custom {
    supports_masking = true,
    call = function(_, x, _, mask)
      seen = mask
      return x * 2
    end,
  }
  local x = embedding()(tokens)
  close(L.GlobalAveragePooling1D()(layer(x)), L.GlobalAveragePooling1D()(x) * 2, "passed on")
  equal(seen.shape, { 4, 4 })
  local first = L.custom {
    call = function(_, v) return v end,
    compute_mask = function(_, v) return v:sum(-1):gt(0) end,
  }
  equal(first:compute_mask(gb.tensor { { { 1, 2 }, { -1, 0 } } }):to_table(), { { true, false } })
  local whole = L.custom {
    build = function(self) self.embed = embedding() end,
    call = function(self, v) return self.embed(v) end,
  }
  local pooled = L.GlobalAveragePooling1D()(whole(tokens))
  testing.is_true((pooled - whole(tokens):mean(1)):abs():max():item() > 1e-4, "masks leave a layer made of layers")
  raises("compute_mask must return bools", L.custom {
    call = function(_, v) return v end, compute_mask = function(_, v) return v end,
  }.compute_mask, L.custom { call = function(_, v) return v end, compute_mask = function(_, v) return v end }, x)
end)

case("a layer may return several values", function()
  local split = L.Lambda(function(x) return x[{ {}, { 1, 2 } }], x[{ {}, { 3, 4 } }] end)
  local symbol = gb.Input { 4 }
  local a, b = split(symbol)
  local model = gb.Model { inputs = symbol, outputs = { a * 2, L.Dense(1)(b) } }
  local doubled = model:predict(gb.tensor { { 1, 2, 3, 4 } })[1]
  equal(doubled:to_table(), { { 2.0, 4.0 } })
  local first, second = split(gb.tensor { { 1, 2, 3, 4 } })
  equal({ first:to_table(), second:to_table() }, { { { 1.0, 2.0 } }, { { 3.0, 4.0 } } })
  raises("a layer of a Sequential returns one value, and layer 1 (Lambda) returns 2; gb.Model takes it", gb.Sequential,
    { L.Lambda(function(x) return x, x end, { input_shape = { 4 } }) })
end)

case("saved models keep masks and states", function()
  local symbol = gb.Input { shape = { 4 }, dtype = "int32" }
  local embed = embedding()
  local sequence, h, c = L.LSTM(3, { return_sequences = true, return_state = true })(embed(symbol))
  local again = L.LSTM(3)(sequence, { initial_state = { h, c }, mask = embed:compute_mask(symbol) })
  local model = gb.Model { inputs = symbol, outputs = { again, c } }
  local path = gb._native.options.out .. "/results/masks"
  model:save(path)
  local loaded = gb.load_model(path)
  for index, output in ipairs(model:predict(tokens)) do
    close(loaded:predict(tokens)[index], output, "output " .. index)
  end
  local shared = gb.Model { inputs = symbol, outputs = model(symbol) }
  close(shared:predict(tokens)[2], model:predict(tokens)[2], "a model in a model")
end)

case("what does not fit is named", function()
  local x = embedding()(tokens)
  raises("(Dense): takes no mask: its result does not depend on one", L.Dense(2), x, { mask = gb.tensor(kept) })
  raises("(GRU): a mask is of bools or integers", L.GRU(2), x, { mask = gb.ones { 4, 4 } })
  raises("the mask must be [4, 4] for an input [4, 4, 3] of the batch, got [4, 3]", L.GlobalAveragePooling1D(), x,
    { mask = gb.ones({ 4, 3 }, { dtype = "int32" }) })
  raises("the mask must be [4, 4]", L.LSTM(2), x, { mask = gb.ones({ 4, 3 }, { dtype = "int32" }) })
  raises("the mask must broadcast to the input", L.Softmax(), x)
  raises("option 'mask': a SymbolicTensor is expected", L.LSTM(2), gb.Input { 4, 3 }, { mask = gb.tensor(kept) })
  raises("the mask must begin with [4, 4]", L.TimeDistributed(L.BatchNormalization()), gb.zeros { 4, 4, 3 },
    { mask = gb.ones({ 4, 2 }, { dtype = "int32" }) })
  raises("a model takes the options training and mask", tagger(), tokens, { initial_state = x })
end)
