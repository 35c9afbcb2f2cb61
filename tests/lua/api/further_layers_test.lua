-- Models of the further layers learn in every type, eagerly and planned, and survive saving.
local gb = require "gpubench"
local learned_models = require "learned_models"
local testing = require "testing"

local layers = gb.layers

-- Each takes the 12 numbers of an example apart in another way.
local models = {
  ["normalized groups and channels"] = function()
    return {
      layers.Reshape({ 6, 2 }, { input_shape = { 12 } }),
      layers.Dense(8),
      layers.GroupNormalization(2),
      layers.PReLU { shared_axes = { 1 } },
      layers.BatchNormalization { axis = 1, scale = false },
      layers.SpatialDropout1D(0.1),
      layers.Flatten(),
    }
  end,
  ["sequences that grow and shrink"] = function()
    return {
      layers.Reshape({ 6, 2 }, { input_shape = { 12 } }),
      layers.GaussianNoise(0.02),
      layers.Conv1DTranspose(6, 3, { strides = 2, activation = "tanh" }),
      layers.Cropping1D({ 1, 2 }),
      layers.UpSampling1D(2),
      layers.ZeroPadding1D(1),
      layers.Identity(),
      layers.GaussianDropout(0.05),
      layers.Flatten(),
    }
  end,
}

learned_models.try(models)

testing.case("a normalization without gamma or beta is folded into int8 layers", function()
  local x = gb.random.normal({ 64, 6 }, { seed = 1 })
  for _, options in ipairs { { scale = false }, { center = false }, { scale = false, center = false } } do
    local model = gb.Sequential { gb.Input { 6 }, layers.Dense(5), layers.BatchNormalization(options) }
    for _ = 1, 3 do model(x, { training = true }) end
    local small = gb.quantize.int8(model, { calibration = gb.data.Dataset.from_tensor_slices(x):batch(64) })
    testing.equal(#small.layers, 1)
    testing.is_true((small(x) - model(x)):abs():max():item() < 0.1, "nearly the same")
  end
end)

testing.case("second order through the further layers", function()
  local x = gb.random.normal({ 2, 3, 4 }, { seed = 2 })
  x = x + x:sign() * 0.2  -- PReLU has no slope at 0
  for kind, layer in pairs {
    GroupNormalization = layers.GroupNormalization(2), PReLU = layers.PReLU(), Cropping1D = layers.Cropping1D(1),
    ZeroPadding1D = layers.ZeroPadding1D(1), UpSampling1D = layers.UpSampling1D(2),
    AdditiveAttention = layers.AdditiveAttention(),
  } do
    local function call(v) return kind == "AdditiveAttention" and layer { v, v } or layer(v) end
    local function slope(v)
      local inner <close> = gb.tape()
      return inner:gradient(call(v):tanh():sum(), v)
    end
    call(x)
    local outer <close> = gb.tape()
    local direction = gb.random.normal({ 2, 3, 4 }, { seed = 3 })
    local second = outer:gradient((slope(x) * direction):sum(), x)
    local step = 1e-2
    local change = (slope(x + direction * step) - slope(x - direction * step)) / (2 * step)
    testing.is_true((second - change):abs():max():item() < 2e-2, kind .. " of second order")
  end
end)

testing.case("lengths of products in float16 do not overflow", function()
  local long = gb.ones { 2, 8 } * 1000
  local cosine = layers.Dot(1, { normalize = true, dtype = "float16" }) { long, long }
  testing.near(cosine:cast("float32"):min():item(), 1, 1e-2)
end)

testing.case("random crops are anew in each step, and gradients through them are refused", function()
  gb.config.set_seed(1)
  local layer = layers.RandomCrop(2, 2)
  local x = gb.arange(64):cast("float32"):reshape { 1, 8, 8, 1 }
  local seen = {}
  for _ = 1, 8 do seen[layer(x, { training = true }):to_table()[1][1][1][1]] = true end
  testing.is_true(next(seen, next(seen)) ~= nil, "two places at least")
  testing.equal(layer(x).shape[2], 2)
  local tape <close> = gb.tape()
  testing.raises("random_crop", function() tape:gradient(layer(x, { training = true }):sum(), x) end)
end)

testing.case("options are refused by name", function()
  testing.raises("Cropping2D: cropping must be one integer", layers.Cropping2D, { 1, 2, 3 })
  testing.raises("GroupNormalization: groups must be at least 1, got 0", layers.GroupNormalization, 0)
  testing.raises("Dot: axes must be one integer", layers.Dot, { 1, 2, 3 })
  testing.raises("Attention: score_mode must be 'dot' or 'concat'", layers.Attention, { score_mode = "cosine" })
  testing.raises("resize_images: there is no method", layers.Resizing, 2, 2, "sharp")
end)
