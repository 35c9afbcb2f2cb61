local gb = require "gpubench"
local L = gb.layers
local vocab, length, width, heads = 200, 24, 64, 4
local function embed(tokens)
  return L.custom {
    build = function(self, s) self.p = self:add_weight { shape = s, initializer = "random_normal" } end,
    call = function(self, v) return v * 8 + self.p end }(L.Embedding(vocab, width)(tokens))
end
local function attend(q, kv, mask, causal)
  local y = L.MultiHeadAttention(heads, width // heads, { use_causal_mask = causal }) { q, kv, mask }
  return L.LayerNormalization()(q + L.Dropout(0.1)(y))
end
local function feed(x)
  return L.LayerNormalization()(x + L.Dense(width)(L.Dense(4 * width, { activation = "relu" })(x)))
end
local source, target = gb.Input({ length }, { dtype = "int32" }), gb.Input({ length }, { dtype = "int32" })
local memory, x = embed(source), embed(target)
for _ = 1, 2 do memory = feed(attend(memory, memory, source)) end
for _ = 1, 2 do x = feed(attend(attend(x, x, target, true), memory, source)) end
local model = gb.Model { inputs = { source, target }, outputs = L.Dense(vocab)(x) }
local each = gb.losses.SparseCategoricalCrossentropy { from_logits = true, reduction = "none" }
model:compile { optimizer = gb.optimizers.Adam { learning_rate = 1e-3, beta_2 = 0.98, epsilon = 1e-9 },
  loss = function(y, logits)
    local mask = y:ne(0):cast "float32"
    return (each(y, logits) * mask):sum() / mask:sum()
  end }
return function()
  local n = 256
  local function draw(shape, low, high) return (gb.random.uniform(shape) * (high - low)):cast "int32" + low end
  local s = gb.where(gb.arange(length):cast "int32":lt(draw({ n, 1 }, 12, 24)), draw({ n, length }, 2, vocab - 1), 0)
  local t = gb.concat({ gb.ones({ n, 1 }, { dtype = "int32" }), s[{ {}, { 1, -2 } }] }, 1)
  return model, gb.data.Dataset.from_tensor_slices { s, t, s:cast "int64" }:batch(32), 8, 8
end
