local gb = require "gpubench"
local L = gb.layers
local width, heads = 64, 4
local function norm(x) return L.LayerNormalization { epsilon = 1e-6 }(x) end
local input = gb.Input { 32, 32, 3 }
local x = L.Reshape { -1, width }(L.Conv2D(width, 4, { strides = 4 })(input))
x = L.Dropout(0.1)(L.custom {
  build = function(self, s)
    self.c = self:add_weight { shape = { 1, 1, s[2] }, initializer = "zeros" }
    self.p = self:add_weight { shape = { 1, s[1] + 1, s[2] }, initializer = "random_normal" }
  end,
  call = function(self, v)
    return gb.concat({ self.c:broadcast_to { v.shape[1], 1, v.shape[3] }, v }, 1) + self.p
  end }(x))
for _ = 1, 4 do
  x = x + L.MultiHeadAttention(heads, width // heads, { dropout = 0.1 })(norm(x))
  local h = L.Dense(2 * width, { activation = "gelu" })(norm(x))
  x = x + L.Dense(width)(L.Dropout(0.1)(h))
end
local model = gb.Model { inputs = input, outputs = L.Dense(10)(norm(x)[{ {}, 1 }]) }
local adam = gb.optimizers.AdamW { weight_decay = 0.05, global_clipnorm = 1,
  learning_rate = gb.schedules.CosineDecay { initial_learning_rate = 0, decay_steps = 100, warmup_target = 1e-3,
    warmup_steps = 10 } }
adam:exclude_from_weight_decay { var_names = { "bias", "gamma", "beta" } }
model:compile { optimizer = adam, metrics = { "accuracy" },
  loss = gb.losses.SparseCategoricalCrossentropy { from_logits = true } }
return function()
  local images = gb.random.uniform { 256, 32, 32, 3 }
  local y = (images:mean { 1, 2, 3 } * 4000):floor():cast "int64" % 10
  return model, gb.data.Dataset.from_tensor_slices { images, y }:batch(32), 8, 6
end
