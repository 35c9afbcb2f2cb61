-- A value of a function that was being traced has no numbers: what needs them refuses it.
local gb = require "gpubench"
local testing = require "testing"

local kept
gb.compile(function(x)
  testing.refuses(gb.Variable, x)
  kept = x + 1
  return kept
end)(gb.ones { 2 })
local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
local variables = model.trainable_variables
local optimizer = gb.optimizers.SGD {}

testing.case("gb.Variable", function() testing.refuses(gb.Variable, kept) end)
testing.case("Strategy:run", function()
  local strategy = gb.distribute.MirroredStrategy { devices = { "cpu:0" } }
  testing.refuses(strategy.run, strategy, function(x) return x end, kept)
end)
testing.case("the variables of apply_gradients", function()
  testing.refuses(optimizer.apply_gradients, optimizer, { variables[1] }, { kept })
  testing.refuses(optimizer.apply_gradients, optimizer, { false, variables[2] }, { variables[1], kept })
end)
testing.case("a compiled function", function()
  local compiled = gb.compile(function(x) return x + 1 end)
  testing.refuses(compiled, kept)
  compiled(gb.ones { 2 })
  testing.refuses(compiled, kept)
end)
testing.case("the rows of another tensor", function()
  testing.refuses(function() gb.ones { 2, 2 }[1] = kept end)
end)
