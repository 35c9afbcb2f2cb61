local gb = require "gpubench"
local function dense(units, relu)
  return gb.layers.custom {
    build = function(self, shape)
      local size = { shape[1], units }
      self.t = self:add_weight { shape = size }
      self.l = self:add_weight { shape = size, initializer = gb.initializers.Constant(-8) }
      self.b = self:add_weight { shape = { units }, initializer = "zeros" }
    end,
    call = function(self, x, training)
      local m = x:matmul(self.t) + self.b
      local y = m
      if training then
        y = m + (x:square():matmul(self.l:exp()) + 1e-8):sqrt() * gb.random.normal(m.shape)
      end
      local a = (self.l - (self.t:square() + 1e-8):log()):clip(-10, 10)
      self:add_loss(-1e-6 * (0.63576 * (1.8732 + 1.48695 * a):sigmoid() - 0.5 * (1 + (-a):exp()):log() - 0.63576):sum())
      return relu and y:relu() or y
    end }
end
local model = gb.Sequential { gb.Input { 784 }, dense(128, true), dense(10) }
model:compile { optimizer = gb.optimizers.Adam(1e-3),
  loss = gb.losses.CategoricalCrossentropy { from_logits = true } }
return function()
  local y = (gb.random.uniform { 1600 } * 10):cast "int32":one_hot(10)
  return model, gb.data.Dataset.from_tensor_slices { gb.random.uniform { 1600, 784 }, y }:batch(100), 16, 8
end
