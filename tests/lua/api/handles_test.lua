-- Handles of one object are equal and one key; a Sequential lists its layers as Keras does; empty datasets are
-- datasets.
local gb = require "gpubench"
local testing = require "testing"

local L, Dataset = gb.layers, gb.data.Dataset

testing.case("layers and variables are the same, wherever they come from", function()
  local first, last = L.Dense(3, { name = "first" }), L.Dense(2, { name = "last" })
  local model = gb.Sequential { L.Input { 4 }, first, last }
  testing.is_true(model.layers[1] == model.layers[1])
  testing.is_true(model.layers[1] == first and model.layers[2] == last and first ~= last)
  testing.is_true(model:get_layer "last" == last and model:get_layer { index = 1 } == first)
  local rate = { [first] = "slow", [last] = "fast" }
  testing.equal({ rate[model.layers[1]], rate[model:get_layer "last"] }, { "slow", "fast" })
  testing.is_true(model.variables[1] == first.variables[1] and model.variables[1] ~= model.variables[2])
  local seen = {}
  for _, variable in ipairs(model.variables) do seen[variable] = true end
  for _, variable in ipairs(last.variables) do testing.is_true(seen[variable]) end
  local own = gb.Variable { 1.0 }
  testing.is_true(seen[own] == nil)
  local input = gb.Input { 4 }
  local symbol = first(input)
  testing.is_true(symbol == first.output)
  local functional = gb.Model { inputs = input, outputs = symbol }
  testing.equal(#functional.layers, 2)
  testing.is_true(functional.layers[2] == first)
end)

testing.case("a handle that was collected or closed comes again", function()
  local model = gb.Sequential { L.Dense(3, { input_shape = { 4 } }) }
  local address = tostring(model.layers[1])
  collectgarbage() collectgarbage()
  testing.equal(tostring(model.layers[1]), address)
  do local _ <close> = model.layers[1] end
  testing.equal(model.layers[1].name, "dense")
  model.layers[1].trainable = false
  testing.equal(#model.trainable_variables, 0)
end)

testing.case("a Sequential's Input is none of its layers", function()
  for _, model in ipairs { gb.Sequential { L.Input { 4 }, L.Dense(3), L.Dense(2) },
    gb.Sequential { L.Dense(3, { input_shape = { 4 } }), L.Dense(2) }, gb.Sequential { L.Dense(3), L.Dense(2) } } do
    testing.equal(#model.layers, 2)
    for _, layer in ipairs(model.layers) do testing.equal(layer.kind, "Dense") end
    model(gb.ones { 1, 4 })
    testing.equal(#model.layers, 2)
    model.layers[1].trainable = false
    testing.equal(#model.trainable_variables, 2)
    testing.raises("has the layers 1 to 2, got 3", model.get_layer, model, { index = 3 })
  end
end)

local function values(dataset)
  local list = {}
  for value in dataset do list[#list + 1] = value:item() end
  return list
end

testing.case("ranges, heads and tails of nothing are empty", function()
  for name, empty in pairs {
    range = Dataset.range(0), backwards = Dataset.range(5, 2), take = Dataset.range(4):take(0),
    skip = Dataset.range(4):skip(4),
    more = Dataset.range(4):skip(9), filtered = Dataset.range(4):filter(function(v) return v:gt(9) end):take(0),
  } do
    testing.equal(values(empty), {}, name)
    testing.equal(values(empty:map(function(v) return v + 1 end):shuffle(3):prefetch(1)), {}, name)
    testing.equal(values(empty:batch(2):map(function(v) return v:sum() end)), {}, name)
    testing.equal(values(empty:concatenate(Dataset.range(2))), { 0, 1 }, name)
    testing.equal(values(empty:cache()), {}, name)
    testing.equal(values(Dataset.range(3):flat_map(function() return empty end)), {}, name)
    testing.equal(values(Dataset.range(3):interleave(function() return empty end)), {}, name)
    testing.is_true(not pcall(function()
      local model = gb.Sequential { L.Dense(1, { input_shape = { 1 } }) }
      model:compile { optimizer = "sgd", loss = "mse" }
      model:fit(Dataset.zip { empty, empty }:batch(1), { verbose = 0 })
    end), name)
  end
  testing.equal(values(Dataset.range(4):take(-1)), { 0, 1, 2, 3 })
  testing.equal(values(Dataset.range(0, 4):flat_map(function(n) return Dataset.range(n:item()) end)),
    { 0, 0, 1, 0, 1, 2 })
  testing.raises("take: a count of -2; 0 and more are possible, and -1 for all", Dataset.range(4).take,
    Dataset.range(4), -2)
end)
