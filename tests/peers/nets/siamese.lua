local gb = require "gpubench"
local L = gb.layers
local relu = { activation = "relu" }
local encoder = gb.Sequential { gb.Input { 28, 28, 1 }, L.Conv2D(16, 3, relu), L.MaxPooling2D(2),
  L.Conv2D(32, 3, relu), L.MaxPooling2D(2), L.Flatten(), L.Dense(32) }
local a, b = gb.Input { 28, 28, 1 }, gb.Input { 28, 28, 1 }
local distance = ((encoder(a) - encoder(b)):square():sum(-1, true) + 1e-9):sqrt()
local model = gb.Model { inputs = { a, b }, outputs = distance }
model:compile { optimizer = "adam", loss = function(s, d)
  return (s * d * d + (1 - s) * (1 - d):maximum(0):square()):mean()
end }
return function()
  local x, y = gb.random.uniform { 2000, 28, 28, 1 }, gb.random.uniform { 2000, 28, 28, 1 }
  local same = gb.random.uniform({ 2000, 1 }):round()
  return model, gb.data.Dataset.from_tensor_slices { x, y, same }:batch(64), 16, 4
end
