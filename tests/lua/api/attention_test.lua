-- Small transformers train under every option that other models have.
local gb = require "gpubench"
local testing = require "testing"
local case, equal, raises = testing.case, testing.equal, testing.raises

local tokens, time, width = 12, 10, 16

-- Is token 3 in the sequence behind a token 5?
local function examples(count)
  local sequences, labels, state = {}, {}, 7
  for row = 1, count do
    sequences[row] = {}
    local seen, label = false, 0
    for column = 1, time do
      state = (state * 1103515245 + 12345) % 2147483648
      local token = (state >> 16) % tokens
      sequences[row][column] = token
      if token == 3 and seen then label = 1 end
      seen = seen or token == 5
    end
    labels[row] = label
  end
  return gb.tensor(sequences, { dtype = "int32" }), gb.tensor(labels, { dtype = "int64" })
end

local function build(options)
  options = options or {}
  gb.config.set_seed(3)
  gb.config.set_dtype_policy(options.policy or "float32")
  local input = gb.Input { shape = { time }, dtype = "int32" }
  local x = gb.layers.Embedding(tokens, width)(input)
  for _ = 1, 2 do
    local attended = gb.layers.MultiHeadAttention(2, 8, { dropout = options.dropout, use_causal_mask = true })(x)
    x = gb.layers.LayerNormalization()(gb.layers.Add() { x, attended })
    local hidden = gb.layers.Dense(width)(gb.layers.Dense(2 * width, { activation = "gelu" })(x))
    x = gb.layers.RMSNormalization()(gb.layers.Add() { x, hidden })
  end
  local model = gb.Model { inputs = input,
    outputs = gb.layers.Dense(2, { activation = "softmax" })(gb.layers.Flatten()(x)) }
  gb.config.set_dtype_policy "float32"
  model:compile {
    optimizer = gb.optimizers.Adam { learning_rate = 0.003 }, loss = "sparse_categorical_crossentropy",
    execution = options.execution, gradient_accumulation_steps = options.parts, recompute_budget = options.budget,
    jit = options.jit,
  }
  return model
end

local x, y = examples(256)

local function losses(options, epochs)
  return build(options):fit(x, y, { epochs = epochs or 2, batch_size = 32, shuffle = false, verbose = 0 }).history.loss
end

local function near(actual, expected, tolerance, what)
  for index, value in ipairs(expected) do
    if math.abs(actual[index] - value) > tolerance then
      error(string.format("%s: epoch %d has the loss %.6f, expected %.6f", what, index, actual[index], value), 0)
    end
    testing.note()
  end
end

case("a transformer learns", function()
  local history = losses({}, 25)
  testing.is_true(history[25] < 0.3 * history[1], string.format("loss %.3f after %.3f", history[25], history[1]))
end)

case("executions and options compute the same", function()
  local plain = losses { dropout = 0.2 }
  near(losses { dropout = 0.2, execution = "eager" }, plain, 1e-4, "eager")
  near(losses { dropout = 0.2, parts = 2 }, plain, 1e-4, "accumulation drops what the whole batch drops")
  near(losses { dropout = 0.2, policy = "mixed_bfloat16" }, plain, 0.05, "mixed_bfloat16")
end)

case("dropout drops in training only, and something else in each step", function()
  local layer = gb.layers.MultiHeadAttention(2, 8, { dropout = 0.5 })
  local input = gb.random.normal({ 2, 5, 8 }, { seed = 1 })
  local function shown(options) return testing.show(layer(input, options):to_table()) end
  local inference = shown()
  equal(shown { training = false }, inference)
  local first = shown { training = true }
  testing.is_true(first ~= inference and shown { training = true } ~= first, "draws")
end)

case("a model is saved and loaded with its layers", function()
  local model = build { dropout = 0.1 }
  local path = gb._native.options.out .. "/results/attention"
  model:save(path)
  local loaded = gb.load_model(path)
  equal(testing.show(loaded(x):to_table()), testing.show(model(x):to_table()))
end)

case("a token outside of the vocabulary is an error that names it", function()
  local model = build()
  local wrong = gb.tensor({ { 1, 2, 3, 4, 5, 6, 12, 8, 9, 10 } }, { dtype = "int32" })
  raises("embedding: token 12 (number 7 of the batch) is outside the vocabulary of 12, 0 to 11", model, wrong)
  wrong = gb.tensor({ { 1, 2, 3, 4, 5, 6, 7, 8, -1, 10 } }, { dtype = "int32" })
  raises("embedding: token -1 (number 9 of the batch) is outside the vocabulary of 12, 0 to 11", model, wrong)
end)

case("padding is hidden by a mask of keys", function()
  local layer = gb.layers.MultiHeadAttention(2, 4)
  local long = gb.random.normal({ 1, 6, 8 }, { seed = 2 })
  local short = long[{ {}, { 1, 4 } }]
  local mask = gb.tensor({ { 1, 1, 1, 1, 0, 0 } }, { dtype = "uint8" })
  local hidden, alone = layer { long, long, mask }, layer(short)
  testing.is_true((hidden[{ {}, { 1, 4 } }] - alone):abs():max():item() < 1e-6, "the same without the padding")
end)

case("what does not fit is named", function()
  raises("num_heads must be at least 1, got 0", gb.layers.MultiHeadAttention, 0, 4)
  raises("num_query_heads must be a multiple of num_key_value_heads, got 6 and 4",
    gb.layers.GroupQueryAttention, 4, 6, 4)
  raises("must be at least 1, got float32[2, 0, 2, 4]", gb.layers.MultiHeadAttention(2, 4), gb.zeros { 2, 0, 4 })
  raises("the mask must be [keys], [queries, keys] or [heads, queries, keys]", gb.layers.MultiHeadAttention(2, 4),
    { gb.zeros { 2, 3, 4 }, gb.zeros { 2, 3, 4 }, gb.zeros({ 2, 5 }, { dtype = "bool" }) })
  raises("attention: queries [batch, time, heads, dim] must have 4 dimensions, got float32[2, 3]",
    gb.dot_product_attention, gb.zeros { 2, 3 }, gb.zeros { 2, 3 }, gb.zeros { 2, 3 })
  raises("dot_product_attention", gb.dot_product_attention, gb.zeros { 1, 2, 1, 4 }, gb.zeros { 1, 2, 1, 4 },
    gb.zeros { 1, 2, 1, 4 }, { causal = true })
end)
