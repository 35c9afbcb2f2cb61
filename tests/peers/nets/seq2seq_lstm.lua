local gb = require "gpubench"
local L = gb.layers
local vocab, width, length = 60, 48, 12
local source, target = gb.Input({ length }, { dtype = "int32" }), gb.Input({ length }, { dtype = "int32" })
local memory = L.Bidirectional(L.LSTM(width // 2, { return_sequences = true }))(L.Embedding(vocab, width)(source))
local decoder = L.custom {
  build = function(self)
    self.cell, self.query, self.mix = L.LSTMCell(width), L.Dense(width), L.Dense(width, { activation = "tanh" })
  end,
  call = function(self, inputs)
    local keys, x = table.unpack(inputs)
    local h, outputs, _ = keys:mean(1), {}, nil
    local c = h * 0
    for t = 1, length do
      local a = (self.query(h):expand_dims(1) * keys):sum(-1):softmax()
      local context = (a:expand_dims(-1) * keys):sum(1)
      _, h, c = self.cell(gb.concat({ x[{ {}, t }], context }, -1), { initial_state = { h, c } })
      outputs[t] = self.mix(gb.concat({ h, context }, -1))
    end
    return gb.stack(outputs, 1)
  end }
local model = gb.Model { inputs = { source, target },
  outputs = L.Dense(vocab)(decoder { memory, L.Embedding(vocab, width)(target) }) }
model:compile { optimizer = gb.optimizers.Adam { learning_rate = 3e-3, clipnorm = 1 }, metrics = { "accuracy" },
  loss = gb.losses.SparseCategoricalCrossentropy { from_logits = true } }
return function()
  local n = 512
  local s = (gb.random.uniform { n, length } * (vocab - 2)):cast "int32" + 2
  local r = s:reverse(1)
  local t = gb.concat({ gb.ones({ n, 1 }, { dtype = "int32" }), r[{ {}, { 1, -2 } }] }, 1)
  return model, gb.data.Dataset.from_tensor_slices { s, t, r:cast "int64" }:batch(32), 16, 6
end
