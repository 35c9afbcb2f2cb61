-- Layers against Keras (layers_values.lua, written by layers.py).
local gb = require "gpubench"
local testing = require "testing"
local compare = dofile "tests/peers/conformance/compare.lua"
local reference = dofile "tests/peers/conformance/layers_values.lua"
local further = dofile "tests/peers/conformance/further_layers_values.lua"
local lookups = dofile "tests/peers/conformance/lookups_values.lua"
local checks = dofile "tests/peers/conformance/layer_checks.lua"
local close = compare.close

compare.covers(gb.layers, {
  Input = "it is in every case", Lambda = "training_test.lua has it", custom = "training_test.lua has it",
  GRUCell = "sequences_test.lua has it", LSTMCell = "sequences_test.lua has it", Masking = "sequences_test.lua has it",
  RNN = "sequences_test.lua has it", SimpleRNN = "sequences_test.lua has it",
  SimpleRNNCell = "sequences_test.lua has it", StackedRNNCells = "sequences_test.lua has it in RNN",
}, reference.layers, reference.random, reference.adapted, further.layers, lookups.lookups)
compare.covers(gb.initializers, {}, reference.initializers)

compare.run(reference.layers, checks.layer, {
  ["LayerNormalization axis=1"] = { "rows of the last axis are contiguous", "normalizes over the last axis only" },
  ["LayerNormalization axis=[1,2]"] = { "it is one axis, the last", "option 'axis' must be an integer" },
  ["MultiHeadAttention num_heads=1 key_dim=2, mask of rank 3"] =
    "a query that may attend to no key gets zeros, which have no gradient, instead of the mean of all values",
})

compare.run(reference.batch_normalization, checks.training_steps, {
  ["BatchNormalization momentum=1.0, training"] = {
    "averages that never move would be those of no data", "momentum must be at least 0 and below 1" },
})

compare.run(reference.adapted, function(case)
  local layer = gb.layers.Normalization()
  layer:adapt(compare.tensor(case.data))
  close(layer(compare.tensor(case.x)), case.output, 1e-5, "output")
end)

compare.run(reference.random, checks.spread, {
  ["RandomFlip, random"] = "each direction has its own coin; Keras mirrors in both or in none",
  ["RandomTranslation height_factor=0.5 width_factor=0.5 fill_mode=wrap, random"] =
    "pixels between the last and the first are interpolated; TensorFlow takes one of the two",
  ["RandomContrast factor=0.5 value_range=[0,1], random"] =
    "the factor is drawn from 1 - factor, as Keras documents; Keras draws from 1 where factor is one number",
})

compare.run(reference.initializers, function(case)
  local options = { kernel_initializer = gb.initializers[case.class](next(case.options) and case.options or nil) }
  local shape = case.shape
  local layer = #shape == 2 and gb.layers.Dense(shape[2], options) or gb.layers.Conv2D(shape[4], shape[1], options)
  local model = gb.Sequential { gb.Input(#shape == 2 and { shape[1] } or { 8, 8, shape[3] }), layer }
  local kernel = model:get_weights()[1]
  testing.equal(kernel.shape, shape)
  testing.near(kernel:mean():item(), case.mean, 0.02 * case.deviation + 1e-6)
  testing.near(kernel:std():item(), case.deviation, 0.02 * case.deviation + 1e-6)
  -- The largest of values without a bound varies from draw to draw.
  local unbounded = case.options.distribution == "untruncated_normal" or case.class == "RandomNormal"
    or case.class == "Orthogonal"
  testing.near(kernel:abs():max():item(), case.largest, (unbounded and 0.2 or 0.02) * case.largest + 1e-6)
end)
