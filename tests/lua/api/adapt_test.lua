-- Normalization:adapt computes the statistics of data.
local gb = require "gpubench"
local testing = require "testing"
local case, near, raises = testing.case, testing.near, testing.raises
local layers = gb.layers

-- Of each channel, the last dimension, in double precision.
local function moments(tensor)
  local channels = tensor.shape[#tensor.shape]
  local rows = tensor:cast("float32"):reshape({ -1, channels }):to_table()
  local means, variances = {}, {}
  for channel = 1, channels do
    local sum, squares = 0, 0
    for _, row in ipairs(rows) do sum = sum + row[channel] end
    local mean = sum / #rows
    for _, row in ipairs(rows) do squares = squares + (row[channel] - mean) ^ 2 end
    means[channel], variances[channel] = mean, squares / #rows
  end
  return means, variances
end

local function expect(layer, data)
  local means, variances = moments(data)
  local mean, variance = layer.variables[1]:to_table(), layer.variables[2]:to_table()
  testing.equal(#mean, #means)
  for channel = 1, #means do
    near(mean[channel], means[channel], 1e-5 * math.max(1, math.abs(means[channel])))
    near(variance[channel], variances[channel], 1e-5 * math.max(1, variances[channel]))
  end
end

case("the example of Keras' documentation", function()
  local layer = layers.Normalization()
  layer:adapt(gb.tensor { { 0, 7, 4 }, { 2, 9, 6 }, { 0, 7, 4 }, { 2, 9, 6 } })
  local out = layer(gb.tensor { { 0, 7, 4 } }):to_table()[1]
  for channel = 1, 3 do near(out[channel], -1, 1e-6) end
end)

case("a tensor, and batches of different sizes with labels, give the same", function()
  local data = gb.random.normal({ 37, 4, 3 }, { seed = 3 }) * gb.tensor { 1, 10, 100 } + gb.tensor { 5, -300, 0 }
  local whole, batched = layers.Normalization(), layers.Normalization()
  whole:adapt(data)
  expect(whole, data)
  batched:adapt(gb.data.Dataset.from_tensor_slices({ data, gb.zeros { 37 } }):batch(8))
  expect(batched, data)
  -- The layer is built now; other data replace the statistics.
  whole:adapt(data * 2)
  expect(whole, data * 2)
end)

case("images of bytes", function()
  local images = (gb.random.uniform({ 6, 5, 4, 2 }, { seed = 4 }) * 255):cast "uint8"
  local layer = layers.Normalization()
  layer:adapt(gb.data.Dataset.from_tensor_slices(images):batch(4))
  expect(layer, images)
end)

case("a model keeps the statistics, in its file too", function()
  local layer = layers.Normalization { input_shape = { 3 } }
  local model = gb.Sequential { layer, layers.Dense(2) }
  local data = gb.random.normal({ 20, 3 }, { seed = 5 }) * 4 + 2
  model(data)
  local before = model:predict(data)
  layer:adapt(data)
  expect(layer, data)
  local after = model:predict(data)
  testing.is_true((after - before):abs():max():item() > 0.01, "the model uses them")
  local path = gb._native.options.out .. "/results/adapted"
  model:save(path)
  near((gb.load_model(path):predict(data) - after):abs():max():item(), 0, 1e-6)
end)

case("16-bit layers round the statistics", function()
  local layer = layers.Normalization { dtype = "bfloat16" }
  layer:adapt(gb.tensor { { 1, 2 }, { 3, 6 } })
  testing.equal(layer.variables[1].dtype, "bfloat16")
  near(layer.variables[1]:cast("float32"):to_table()[2], 4, 0.02)
end)

case("what does not fit is named", function()
  local data = gb.ones { 4, 3 }
  raises("adapt: layer 'dense' (Dense) has no statistics of data; Normalization has", layers.Dense(2).adapt,
    layers.Dense(2), data)
  local given = layers.Normalization { mean = 2 }
  raises("was given a mean of 2 and a variance of 1; adapt is for a layer without them", given.adapt, given, data)
  local layer = layers.Normalization()
  raises("adapt takes batches [batch, ..., channels] of numbers, got float32[3]; batch the dataset", layer.adapt, layer,
    gb.data.Dataset.from_tensor_slices(data))
  raises("adapt: the dataset never ends; use take", layer.adapt, layer,
    gb.data.Dataset.from_tensor_slices(data):batch(2):repeated())
  raises("adapt: the dataset is empty", layer.adapt, layer,
    gb.data.Dataset.from_tensor_slices(data):filter(function(x) return x:sum():gt(10) end):batch(2))
  layer:adapt(data)
  raises("was built for 3 channels, got float32[2]", layer.adapt, layer, gb.ones { 4, 2 })
end)
