local gb = require "gpubench"
local L = gb.layers
local input = gb.Input { 784 }
local h = L.Dense(256, { activation = "relu" })(input)
local z = L.custom { call = function(self, stats, training)
  local m, v = table.unpack(stats)
  self:add_loss((0.5 * (m * m + v:exp() - 1 - v)):sum(-1):mean())
  return training and m + (0.5 * v):exp() * gb.random.normal(m.shape) or m
end } { L.Dense(8)(h), L.Dense(8)(h) }
local model = gb.Model { inputs = input,
  outputs = L.Dense(784, { activation = "sigmoid" })(L.Dense(256, { activation = "relu" })(z)) }
model:compile { optimizer = "adam", loss = function(x, p)
  return -(x * (p + 1e-7):log() + (1 - x) * (1 - p + 1e-7):log()):sum(-1):mean()
end }
return function()
  local x = gb.random.uniform { 2048, 784 }
  return model, gb.data.Dataset.from_tensor_slices { x, x }:batch(128), 16, 6
end
