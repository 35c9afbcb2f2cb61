-- Further layers against Keras (further_layers_values.lua, written by further_layers.py).
local compare = dofile "tests/peers/conformance/compare.lua"
local checks = dofile "tests/peers/conformance/layer_checks.lua"
local reference = dofile "tests/peers/conformance/further_layers_values.lua"

compare.run(reference.layers, checks.layer, {
  ["RandomCrop height=3 width=3, of 5 x 8"] = "documented as here; Keras' code passes images on in inference",
  ["RandomCrop height=4 width=8, of 3 x 5"] = "documented as here; Keras' code passes images on in inference",
  ["Resizing height=4 width=3, whole numbers"] = "the result has the layer's type, as Keras' symbols say; Keras rounds",
  ["Attention score_mode=concat, number 9 masked"] = "a query that may attend to no key gives its scores no gradient",
  ["Attention, number 11 masked"] = "a query that may attend to no key gets zeros instead of the mean of all values",
})
compare.run(reference.batch_normalization, checks.training_steps)
compare.run(reference.random, checks.spread)
