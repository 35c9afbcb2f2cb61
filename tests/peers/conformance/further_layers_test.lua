-- Further layers against Keras (further_layers_values.lua, written by further_layers.py).
local compare = dofile "tests/peers/conformance/compare.lua"
local checks = dofile "tests/peers/conformance/layer_checks.lua"
local reference = dofile "tests/peers/conformance/further_layers_values.lua"

compare.run(reference.layers, checks.layer, {
  ["Attention, number 11 masked"] = "a query that may attend to no key gets zeros instead of the mean of all values",
})
compare.run(reference.batch_normalization, checks.training_steps)
compare.run(reference.random, checks.spread)
