-- Lookups against Keras (lookups_values.lua, written by lookups.py).
local gb = require "gpubench"
local testing = require "testing"
local compare = dofile "tests/peers/conformance/compare.lua"
local reference = dofile "tests/peers/conformance/lookups_values.lua"

local function first_of(list)
  while type(list) == "table" do list = list[1] end
  return list
end

compare.run(reference.lookups, function(case)
  local options = compare.copy(case.options)
  local make, layer = gb.layers[case.class], nil
  if case.class == "Hashing" then
    local bins = options.num_bins
    options.num_bins = nil
    layer = make(bins, options)
  else
    layer = make(options)
  end
  if case.data then layer:adapt(case.data) end
  if case.vocabulary then
    local found = layer:get_vocabulary()
    testing.equal(#found, #case.vocabulary)
    for index, token in ipairs(case.vocabulary) do testing.equal(tostring(found[index]), token) end
  end
  local x = case.x
  if type(first_of(x)) ~= "string" and case.class ~= "Hashing" then x = compare.tensor(x) end
  compare.close(layer(x), case.output, 1e-5, "output")
end)
