-- How layers are held against Keras: a function for each group of cases that layers.py and further_layers.py write.
local gb = require "gpubench"
local testing = require "testing"
local compare = dofile "tests/peers/conformance/compare.lua"
local close = compare.close
local checks = {}

local function layer_of(case)
  local make = gb.layers[case.class]
  if not case.inner then return make(compare.copy(case.options)) end
  return make(gb.layers[case.inner.class](compare.copy(case.inner.options)), compare.copy(case.options))
end

-- Recurrent and attention layers take a mask as their last input too.
local function output_of(case, symbols)
  if case.class == "GlobalAveragePooling1D" and #symbols == 2 then
    return layer_of(case)(symbols[1], { mask = symbols[2] })
  end
  local layer = layer_of(case)
  if case.class == "ReversibleEmbedding" then return layer(layer(symbols[1]), { reverse = true }) end
  return layer(#symbols == 1 and symbols[1] or symbols)
end

-- Outputs, and gradients of inputs and weights.
function checks.layer(case)
  local tensors, symbols = compare.tensors(case.inputs), {}
  for index, tensor in ipairs(tensors) do symbols[index] = compare.symbol(tensor) end
  local model = gb.Model { inputs = symbols, outputs = output_of(case, symbols) }
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
  if #sources == 0 then return end
  local gradients = tape:gradient(output:square():sum(), sources)
  for index, expected in ipairs(case.gradients) do
    close(gradients[index], expected, 5e-5, "gradient " .. index)
  end
end

-- Batch normalization: outputs of training steps, averages after them, inference.
function checks.training_steps(case)
  local inputs = compare.tensors(case.inputs)
  local model = gb.Sequential { compare.symbol(inputs[1]), gb.layers.BatchNormalization(compare.copy(case.options)) }
  model:set_weights(compare.tensors(case.weights))
  for step, input in ipairs(inputs) do
    close(model(input, { training = true }), case.outputs[step], 2e-5, "output of step " .. step)
  end
  close(model:get_weights(), case.after, 1e-5, "weights after training")
  close(model(inputs[1]), case.inference, 1e-5, "inference")
end

-- Means of as many draws as Keras made: their difference is within five of its standard deviations.
function checks.spread(case)
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
end

return checks
