-- A net of each kind trains on gpu:0 as on the CPU; run with the checks of the simulated CUDA on, which end the program
-- at the first fault of a kernel.
local gb = require "gpubench"
local testing = require "testing"
local thirds = require "thirds"

local layers = gb.layers

local function transformer()
  local input = gb.Input { 12 }
  local x = layers.Reshape({ 6, 2 })(input)
  x = layers.Dense(8)(x)
  x = layers.LayerNormalization()(layers.Add() { x, layers.MultiHeadAttention(2, 4, { use_causal_mask = true })(x) })
  return gb.Model { inputs = input, outputs = layers.Dense(3, { activation = "softmax" })(layers.Flatten()(x)) }
end

local function sequential(list)
  list[#list + 1] = layers.Dense(3, { activation = "softmax" })
  return gb.Sequential(list)
end

local nets = {
  dense = function()
    return sequential { layers.Dense(16, { activation = "relu", input_shape = { 12 } }),
      layers.Dense(8, { activation = "gelu" }) }
  end,
  convolutional = function()
    return sequential {
      layers.Reshape({ 6, 2, 1 }, { input_shape = { 12 } }),
      layers.Conv2D(4, 3, { activation = "relu", padding = "same" }),
      layers.BatchNormalization(), layers.MaxPooling2D { 2, 2 }, layers.Dropout(0.25), layers.Flatten(),
    }
  end,
  pooled = function()
    return sequential {
      layers.Reshape({ 6, 2, 1 }, { input_shape = { 12 } }),
      layers.Conv2D(40, 3, { activation = "relu", padding = "same" }),
      layers.MaxPooling2D { 2, 2 }, layers.Flatten(),
    }
  end,
  attention = transformer,
  recurrent = function()
    return sequential {
      layers.Reshape({ 6, 2 }, { input_shape = { 12 } }), layers.LSTM(5, { return_sequences = true }), layers.GRU(4),
    }
  end,
}

local function losses(device, net, execution)
  gb.config.set_seed(3)
  return gb.device(device, function()
    local x, y = thirds.tensors(24)
    local model = net()
    model:compile {
      optimizer = gb.optimizers.Adam { learning_rate = 0.02, epsilon = 1e-4 }, loss = "sparse_categorical_crossentropy",
      metrics = { "accuracy" }, execution = execution,
    }
    return model:fit(x, y, { epochs = 2, batch_size = 9, shuffle = false, verbose = 0 }).history.loss
  end)
end

for name, net in pairs(nets) do
  testing.case(name .. ": trains with checks on as on the CPU", function()
    local expected = losses("cpu:0", net, "graph")
    for _, execution in ipairs { "graph", "eager" } do
      local found = losses("gpu:0", net, execution)
      for epoch = 1, 2 do testing.near(found[epoch], expected[epoch], 1e-3) end
    end
  end)
end
