-- A ResNet whose first half is frozen; the other half trains with one learning rate, the head with ten times that.
local gb = require "gpubench"
local model = gb.zoo.resnet18 { input_shape = { 32, 32, 3 }, classes = 10, width = 16 }
for i = 1, #model.layers // 2 do model.layers[i].trainable = false end
local optimizer = gb.optimizers.SGD { learning_rate = 1e-3, momentum = 0.9 }
optimizer:multiply_learning_rate { var_names = { "classes/" }, factor = 10 }
model:compile { optimizer = optimizer, loss = gb.losses.SparseCategoricalCrossentropy { from_logits = true } }
return function()
  local y = (gb.random.uniform { 32 } * 10):cast "int64"
  return model, gb.random.uniform { 32, 32, 32, 3 }, y
end
