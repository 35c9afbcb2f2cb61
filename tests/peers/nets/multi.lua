local gb = require "gpubench"
local L = gb.layers
local int = { dtype = "int32" }
local title, body, tags = gb.Input({ 10 }, int), gb.Input({ 40 }, int), gb.Input { 12 }
local embed = L.Embedding(1000, 32, { mask_zero = true })
local x = L.Concatenate() { L.LSTM(32)(embed(title)), L.Bidirectional(L.LSTM(16))(embed(body)), tags }
local model = gb.Model { inputs = { title, body, tags }, outputs = {
  L.Dense(1, { activation = "sigmoid", name = "priority" })(x), L.Dense(4, { name = "department" })(x) } }
model:compile { optimizer = gb.optimizers.RMSprop(1e-3),
  loss = { priority = "binary_crossentropy",
    department = gb.losses.SparseCategoricalCrossentropy { from_logits = true } },
  loss_weights = { priority = 1, department = 0.2 },
  metrics = { priority = { "accuracy" }, department = { "accuracy" } } }
return function()
  local n = 512
  local function tokens(length) return (gb.random.uniform { n, length } * 1000):cast "int32" end
  local c = gb.random.uniform({ n, 12 }):round()
  local p, q = c[{ {}, { 1, 1 } }], c[{ {}, { 2, 2 } }]
  local d = (p * 2 + q):reshape { n }:cast "int64"
  return model, gb.data.Dataset.from_tensor_slices { tokens(10), tokens(40), c, p, d }:batch(32), 16, 5
end
