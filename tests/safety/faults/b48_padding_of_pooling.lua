-- A wrong padding is an error of every layer that has one.
local gb = require "gpubench"
local testing = require "testing"

for _, name in ipairs { "AveragePooling2D", "MaxPooling2D" } do
  testing.case(name, function()
    testing.contains(testing.refuses(gb.layers[name], 2, { padding = "somehow" }), "padding must be")
  end)
end
