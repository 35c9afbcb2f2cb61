-- gpubench against what Keras computes (reference_layers_values.lua and reference_masked_values.lua, written by
-- reference_layers.py): convolutions, pooling, images, activations, merging and recurrent layers.
local cases = dofile "tests/peers/layer_cases.lua"
cases.run(dofile "tests/peers/reference_layers_values.lua")
cases.run(dofile "tests/peers/reference_masked_values.lua")
