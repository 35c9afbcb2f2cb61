-- What is written is what is trained: no argument of a layer, a model or fit is dropped.
local gb = require "gpubench"
local testing = require "testing"

local L = gb.layers
local function normal(...) return gb.random.normal({ ... }, { seed = 1 }) end

testing.case("layers and models look at all of their arguments, on symbols and on tensors", function()
  local hint = "argument #2: options are expected, got %s; several inputs stand in one table: layer { a, b }"
  local whole = gb.Sequential { L.Dense(2, { input_shape = { 4, 8 } }) }
  for _, make in ipairs { function() return L.MultiHeadAttention(2, 4) end, function() return L.LSTM(2) end,
    function() return L.Dense(2) end, function() return L.Add() end, function() return whole end,
    function() return L.Lambda(function(v) return v end) end } do
    local q, memory = gb.Input { 4, 8 }, gb.Input { 4, 8 }
    testing.raises(hint:format "SymbolicTensor", make(), q, memory)
    testing.raises(hint:format "Tensor", make(), normal(1, 4, 8), normal(1, 4, 8))
    testing.raises("'trainig'", make(), q, { trainig = true })
    testing.raises("state", make(), q, { initial_state = q })
    if make() ~= whole then testing.raises("mask", make(), normal(1, 4, 8), { mask = normal(1, 4) }) end
    testing.raises("takes at most 2 arguments, got 3", make(), q, { training = false }, 1)
    testing.raises("takes at most 2 arguments, got 3", make(), normal(1, 4, 8), nil, 1)
    testing.raises("table of options expected", make(), q, true)
  end
end)

testing.case("training = false holds the statistics of a batch normalization, whatever the "
    .. "model is called for", function()
  local function moved(options)
    local input = gb.Input { 3 }
    local model = gb.Model { inputs = input,
      outputs = L.Dense(1)(L.BatchNormalization { name = "norm" }(input, options)) }
    model:compile { optimizer = "sgd", loss = "mse" }
    model:fit(normal(8, 3) + 5, normal(8, 1), { verbose = 0 })
    local mean
    for _, variable in ipairs(model:get_layer("norm").variables) do
      if variable.name:find "moving_mean" then mean = variable end
    end
    return mean:abs():max():item()
  end
  testing.is_true(moved() > 0.01)
  testing.is_true(moved { training = true } > 0.01)
  testing.equal(moved { training = false }, 0.0)
end)

testing.case("a model as a layer hands it on, and files keep it", function()
  local inner = gb.Sequential { L.Input { 50 }, L.Dropout(0.5) }
  local input = gb.Input { 50 }
  local model = gb.Model { inputs = input, outputs = L.Dense(1)(inner(input, { training = true })) }
  model:compile { optimizer = "sgd", loss = "mse" }
  local x = gb.ones { 1, 50 }
  testing.is_true(model:predict(x):item() ~= model:predict(x):item())
  local path = gb._native.options.out .. "/results/kept.safetensors"
  model:save(path)
  local loaded = gb.load_model(path)
  testing.is_true(loaded:predict(x):item() ~= loaded:predict(x):item())
end)

testing.case("an input that reaches no output is named", function()
  local q, memory = gb.Input({ 4, 8 }, { name = "q" }), gb.Input({ 4, 8 }, { name = "memory" })
  local out = L.Dense(2)(q)
  testing.raises("model 'm': no output depends on input 2 ('memory', float32[4, 8])", gb.Model,
    { inputs = { q, memory }, outputs = out, name = "m" })
  testing.is_true(gb.Model { inputs = { q, memory }, outputs = L.Add() { q, memory } })
  testing.is_true(gb.Model { inputs = q, outputs = q })
end)
