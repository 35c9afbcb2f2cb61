-- A model that is not built refuses an empty list of inputs.
local gb = require "gpubench"
local testing = require "testing"

testing.case("an empty list of inputs", function()
  for _, layers in ipairs { {}, { gb.layers.Dense(2) }, { gb.layers.Flatten(), gb.layers.Dense(2) } } do
    testing.refuses(function() return gb.Sequential(layers) {} end)
  end
  testing.refuses(function() return gb.layers.Dense(2) {} end)
  testing.refuses(function() return gb.layers.Add() {} end)
end)
