local gb = require "gpubench"
local L = gb.layers
local fields, vocab, dim = 8, 1000, 16
local dense, ids = gb.Input { 13 }, gb.Input({ fields }, { dtype = "int32" })
local function mlp(x, units)
  for _, u in ipairs(units) do x = L.Dense(u, { activation = "relu" })(x) end
  return x
end
local bottom = mlp(dense, { 64, 32, dim })
local list, pairs_ = { L.Reshape { 1, dim }(bottom) }, {}
for i = 1, fields do
  list[#list + 1] = L.Embedding(vocab, dim)(ids[{ {}, { i, i } }])
  for j = 0, i - 1 do pairs_[#pairs_ + 1] = i * (fields + 1) + j end
end
local t = L.Concatenate { axis = 1 }(list)
local inter = gb.matmul(t, t, { transpose_b = true }):reshape { -1, (fields + 1) * (fields + 1) }
  :gather(gb.tensor(pairs_, { dtype = "int32" }), 1)
local model = gb.Model { inputs = { dense, ids },
  outputs = L.Dense(1, { activation = "sigmoid" })(mlp(L.Concatenate() { bottom, inter }, { 64, 32 })) }
model:compile { optimizer = "adam", loss = "binary_crossentropy", metrics = { gb.metrics.AUC() } }
return function()
  local n = 2048
  local d, i = gb.random.normal { n, 13 }, (gb.random.uniform { n, fields } * vocab):cast "int32"
  local y = (d[{ {}, { 1, 1 } }] + (i[{ {}, { 1, 1 } }] % 2):cast "float32"):gt(0.5):cast "float32"
  return model, gb.data.Dataset.from_tensor_slices { d, i, y }:batch(256), 8, 10
end
