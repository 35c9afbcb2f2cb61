-- Layers against Keras (layers_values.lua, written by layers.py).
local gb = require "gpubench"
local testing = require "testing"
local compare = dofile "tests/peers/conformance/compare.lua"
local reference = dofile "tests/peers/conformance/layers_values.lua"
local close = compare.close

compare.covers(gb.layers, {
  Input = "it is in every case", Lambda = "training_test.lua has it", custom = "training_test.lua has it",
}, reference.layers, reference.random, reference.adapted)
compare.covers(gb.initializers, {}, reference.initializers)

local function layer_of(case)
  local make = gb.layers[case.class]
  if not case.inner then return make(compare.copy(case.options)) end
  return make(gb.layers[case.inner.class](compare.copy(case.inner.options)), compare.copy(case.options))
end

compare.run(reference.layers, function(case)
  local tensors, symbols = compare.tensors(case.inputs), {}
  for index, tensor in ipairs(tensors) do symbols[index] = compare.symbol(tensor) end
  local model = gb.Model { inputs = symbols, outputs = layer_of(case)(#symbols == 1 and symbols[1] or symbols) }
  if #case.weights > 0 then model:set_weights(compare.tensors(case.weights)) end
  local given = #tensors == 1 and tensors[1] or tensors
  local tape <close> = gb.tape()
  local output = model(given)
  close(output, case.output, 1e-5, "output")
  local sources = {}
  for _, tensor in ipairs(tensors) do
    if tensor.dtype == "float32" then sources[#sources + 1] = tensor end
  end
  table.move(model.trainable_variables, 1, #model.trainable_variables, #sources + 1, sources)
  testing.equal(#sources, #case.gradients)
  local gradients = tape:gradient(output:square():sum(), sources)
  for index, expected in ipairs(case.gradients) do
    close(gradients[index], expected, 5e-5, "gradient " .. index)
  end
end, {
  ["LSTM units=2 activation=relu recurrent_activation=hard_sigmoid"] = {
    "the recurrence of cuDNN has these activations alone", "activation must be 'tanh', got 'relu'" },
  ["GRU units=2 return_sequences=True reset_after=False"] = {
    "the reset gate is applied as in cuDNN", "reset_after must be true, got false" },
  ["GRU units=2 reset_after=False use_bias=False go_backwards=True"] = {
    "the reset gate is applied as in cuDNN", "reset_after must be true, got false" },
  ["LayerNormalization axis=1"] = { "rows of the last axis are contiguous", "normalizes over the last axis only" },
  ["LayerNormalization axis=[1,2]"] = { "it is one axis, the last", "option 'axis' must be an integer" },
  ["GlobalAveragePooling1D, masked"] = { "pooling takes no mask", "takes one input, got 2" },
  ["MultiHeadAttention num_heads=1 key_dim=2, mask of rank 3"] =
    "a query that may attend to no key gets zeros, which have no gradient, instead of the mean of all values",
})

compare.run(reference.batch_normalization, function(case)
  local inputs = compare.tensors(case.inputs)
  local model = gb.Sequential { compare.symbol(inputs[1]), gb.layers.BatchNormalization(compare.copy(case.options)) }
  model:set_weights(compare.tensors(case.weights))
  for step, input in ipairs(inputs) do
    close(model(input, { training = true }), case.outputs[step], 2e-5, "output of step " .. step)
  end
  close(model:get_weights(), case.after, 1e-5, "weights after training")
  close(model(inputs[1]), case.inference, 1e-5, "inference")
end, {
  ["BatchNormalization momentum=1.0, training"] = {
    "averages that never move would be those of no data", "momentum must be at least 0 and below 1" },
})

compare.run(reference.adapted, function(case)
  local layer = gb.layers.Normalization()
  layer:adapt(compare.tensor(case.data))
  close(layer(compare.tensor(case.x)), case.output, 1e-5, "output")
end)

-- Means of as many draws as Keras made: their difference is within five of its standard deviations.
compare.run(reference.random, function(case)
  gb.config.set_seed(2)
  local example = compare.tensor { case.example }
  local model = gb.Sequential { compare.symbol(example), layer_of(case) }
  if #case.weights > 0 then model:set_weights(compare.tensors(case.weights)) end
  local repeats = { case.draws }
  for axis = 2, #example.shape do repeats[axis] = 1 end
  local output = model(example:tile(repeats), { training = true }):reshape { case.draws, -1 }
  local mean, deviation = output:mean(0):to_table(), output:std(0):to_table()
  for index, expected in ipairs(case.deviation) do
    local spread = expected * (2 / case.draws) ^ 0.5
    close(mean[index], case.mean[index], 5 * spread + 1e-5, "mean of number " .. index)
    close(deviation[index], expected, 0.05 * expected + 1e-5, "deviation of number " .. index)
  end
end, {
  ["RandomFlip, random"] = "each direction has its own coin; Keras mirrors in both or in none",
  ["RandomTranslation height_factor=0.5 width_factor=0.5 fill_mode=wrap, random"] =
    "pixels between the last and the first are interpolated; TensorFlow takes one of the two",
  ["GRU units=2 recurrent_dropout=0.4 reset_after=False, random"] = {
    "the reset gate is applied as in cuDNN", "reset_after must be true, got false" },
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
