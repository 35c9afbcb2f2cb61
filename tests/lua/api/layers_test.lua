-- Models of convolutional and recurrent layers: they learn in every type, eagerly and planned, and survive saving.
local gb = require "gpubench"
local learned_models = require "learned_models"
local testing = require "testing"

local layers = gb.layers

-- Each takes the 12 numbers of an example apart in another way.
local models = {
  ["depthwise and separable convolutions"] = function()
    return {
      layers.Reshape({ 6, 2, 1 }, { input_shape = { 12 } }),
      layers.ZeroPadding2D({ { 1, 1 }, { 0, 1 } }),
      layers.Conv2D(4, 3, { use_bias = false, padding = "same" }),
      layers.BatchNormalization(),
      layers.ReLU(6),
      layers.DepthwiseConv2D(3, { padding = "same", activation = "relu6" }),
      layers.SeparableConv2D(8, 3, { padding = "same", activation = "silu" }),
      layers.Flatten(),
    }
  end,
  ["groups, dilation and transposed convolutions"] = function()
    return {
      layers.Reshape({ 6, 2, 1 }, { input_shape = { 12 } }),
      layers.Conv2DTranspose(4, 2, { strides = 2, activation = "elu" }),
      layers.Conv2D(8, 3, { groups = 2, dilation_rate = 2, padding = "same", activation = "leaky_relu" }),
      layers.MaxPooling2D(2),
      layers.Flatten(),
    }
  end,
  ["one-dimensional convolutions"] = function()
    return {
      layers.Reshape({ 12, 1 }, { input_shape = { 12 } }),
      layers.Conv1D(8, 3, { padding = "causal", activation = "relu" }),
      layers.MaxPooling1D(2),
      layers.Conv1D(8, 3, { activation = "hard_silu" }),
      layers.Flatten(),
    }
  end,
  ["an LSTM behind steps of a dense layer"] = function()
    return {
      layers.Reshape({ 6, 2 }, { input_shape = { 12 } }),
      layers.TimeDistributed(layers.Dense(6, { activation = "softplus" })),
      layers.LSTM(12, { return_sequences = true }),
      layers.Flatten(),
    }
  end,
  ["a GRU in both directions"] = function()
    return {
      layers.Reshape({ 6, 2 }, { input_shape = { 12 } }),
      layers.Bidirectional(layers.GRU(8, { return_sequences = true }), { merge_mode = "sum" }),
      layers.Flatten(),
    }
  end,
}

learned_models.try(models)

testing.case("random image layers change images in training only, each by its own numbers", function()
  gb.config.set_seed(5)
  local x = gb.random.uniform { 4, 6, 6, 1 }
  for kind, options in pairs {
    RandomFlip = { seed = 1 },
    RandomRotation = { factor = 0.2, seed = 1 },
    RandomTranslation = { height_factor = 0.4, width_factor = 0.4, seed = 1 },
    RandomZoom = { height_factor = 0.4, seed = 1 },
    RandomContrast = { factor = 0.5, seed = 1 },
    RandomBrightness = { factor = 0.5, value_range = { 0, 1 }, seed = 1 },
  } do
    local layer = layers[kind](options)
    local function sum_of_changes(training)
      return (layer(x, { training = training }) - x):abs():sum():item()
    end
    testing.is_true(sum_of_changes(false) == 0, kind .. " passes images on in inference")
    local first, second = sum_of_changes(true), sum_of_changes(true)
    testing.is_true(first + second > 0, kind .. " changes images")
  end
end)

testing.case("options are refused by name", function()
  testing.raises("ZeroPadding2D: padding must be one integer", layers.ZeroPadding2D, { 1, 2, 3 })
  for _, kind in ipairs { "AveragePooling2D", "MaxPooling2D" } do
    testing.raises("padding must be", layers[kind], 2, { padding = "somehow" })
  end
  testing.raises("Bidirectional: the layer must be an LSTM, a GRU or a SimpleRNN", layers.Bidirectional,
    layers.Dense(2))
  testing.raises("TimeDistributed: the option 'layer': no layer: 'Dense'", layers.TimeDistributed, "Dense")
  for _, given in ipairs { gb.Sequential { layers.Dense(2, { input_shape = { 3 } }) }, print, 3 } do
    testing.raises("TimeDistributed: option 'layer': a layer of gb.layers is expected; models and functions cannot be",
      layers.TimeDistributed, given)
  end
  testing.raises("LSTM: unknown option 'return_states'", layers.LSTM, 4, { return_states = true })
end)

-- Bilinear UpSampling2D against gb.image.resize, which has no gradient.

local function distance(a, b) return (a - b):abs():max():item() end

for _, case in ipairs { { 4, 5, { 2, 3 } }, { 1, 3, { 4, 2 } }, { 3, 1, { 1, 5 } }, { 2, 2, { 3, 1 } } } do
  local height, width, size = table.unpack(case)
  testing.case(string.format("%d x %d, %d x %d times as large", height, width, size[1], size[2]), function()
    local layer = gb.layers.UpSampling2D(size, { interpolation = "bilinear" })
    local x = gb.random.normal({ 2, height, width, 3 }, { seed = 1 })
    local target = { height * size[1], width * size[2] }
    testing.is_true(distance(layer(x), gb.image.resize(x, target)) < 1e-5, "the same as resize")
    local weights = gb.random.normal({ 2, target[1], target[2], 3 }, { seed = 2 })
    local tape <close> = gb.tape()
    local gradient = tape:gradient((layer(x) * weights):sum(), x)
    -- The layer is linear, so that a step of any length gives the derivative.
    local step = gb.random.normal({ 2, height, width, 3 }, { seed = 3 })
    local change = ((gb.image.resize(x + step, target) - gb.image.resize(x, target)) * weights):sum():item()
    testing.near((gradient * step):sum():item(), change, 1e-3)
  end)
end

testing.case("other interpolations are refused", function()
  testing.raises("UpSampling2D: interpolation must be 'nearest' or 'bilinear', got 'bicubic'",
    gb.layers.UpSampling2D, 2,
    { interpolation = "bicubic" })
end)
