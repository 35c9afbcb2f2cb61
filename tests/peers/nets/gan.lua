local gb = require "gpubench"
local L = gb.layers
local latent, batch = 32, 64
local leaky = { activation = "leaky_relu" }
local G = gb.Sequential { gb.Input { latent }, L.Dense(128, leaky), L.BatchNormalization(), L.Dense(256, leaky),
  L.Dense(784, { activation = "tanh" }) }
local D = gb.Sequential { gb.Input { 784 }, L.Dense(256, leaky), L.Dropout(0.3), L.Dense(128, leaky), L.Dense(1) }
local function adam() return gb.optimizers.Adam { learning_rate = 2e-4, beta_1 = 0.5 } end
local g_adam, d_adam = adam(), adam()
local bce = gb.losses.BinaryCrossentropy { from_logits = true }
local on, ones = { training = true }, gb.ones { batch, 1 }
local function update(model, optimizer, loss)
  return gb.tape(function(tape)
    local value, weights = loss(), model.trainable_variables
    optimizer:apply_gradients(tape:gradient(value, weights), weights)
    return value
  end)
end
local step = gb.compile(function(real)
  local z = gb.random.normal { batch, latent }
  local loss = update(D, d_adam, function()
    return bce(ones * 0.9, D(real, on)) + bce(ones * 0, D(G(z, on), on))
  end)
  update(G, g_adam, function() return bce(ones, D(G(z, on), on)) end)
  return loss
end)
return function() return step, gb.random.uniform { batch, 784 }, G, D end
