-- Colours and extents of images. What TensorFlow computes is in tests/peers/conformance; here are types, maps,
-- gradients, random numbers and mistakes.
local gb = require "gpubench"
local testing = require "testing"

local image = gb.image

--- Pixels [batch, height, width, channels] from 0 to 1.
local function pixels(...)
  return gb.random.uniform({ ... }, { seed = 3 })
end

local function close(a, b, tolerance)
  testing.equal(a.shape, b.shape)
  testing.near((a:cast "float32" - b:cast "float32"):abs():max():item(), 0, tolerance or 1e-5)
end

testing.case("colours that are turned, grey or doubled", function()
  local x = pixels(2, 3, 4, 3)
  close(image.adjust_hue(x, 0), x)
  close(image.adjust_hue(x, 1), x, 1e-4)
  close(image.adjust_hue(image.adjust_hue(x, 0.3), -0.3), x, 1e-4)
  close(image.adjust_saturation(x, 1), x)
  close(image.adjust_saturation(x, 0), image.grayscale_to_rgb(x:max(-1, true)))
  close(image.adjust_brightness(x, gb.tensor(0.25)), x + 0.25)
  close(image.adjust_contrast(x, 0), gb.zeros { 2, 3, 4, 3 } + x:mean({ 1, 2 }, true))
  close(image.adjust_gamma(x), x)
  local each = gb.tensor { 0, 1 }:reshape { 2, 1, 1, 1 }
  close(image.adjust_brightness(x, each)[2], x[2] + 1)
end)

testing.case("bytes stay bytes and saturate", function()
  local bytes = image.cast(pixels(3, 3, 3), "uint8")
  for _, changed in ipairs {
    image.adjust_hue(bytes, 0.2), image.adjust_saturation(bytes, 2), image.adjust_gamma(bytes, 0.5),
    image.adjust_contrast(bytes, 3), image.random_hue(bytes, 0.2), image.random_saturation(bytes, 0.5, 1.5),
    image.random_flip_up_down(bytes), image.flip_left_right(bytes), image.central_crop(bytes, 0.5),
    image.pad_to_bounding_box(bytes, 1, 1, 5, 5), image.rgb_to_grayscale(bytes),
  } do
    testing.equal(changed.dtype, "uint8")
  end
  testing.equal(image.adjust_brightness(bytes, 2):cast("int64"):min():item(), 255)
  testing.equal(image.per_image_standardization(bytes).dtype, "float32")
end)

testing.case("gradients flow through colours and resizing", function()
  for name, change in pairs {
    hue = function(x) return image.adjust_hue(x, 0.1) end,
    saturation = function(x) return image.adjust_saturation(x, 0.7) end,
    contrast = function(x) return image.adjust_contrast(x, 1.5) end,
    gamma = function(x) return image.adjust_gamma(x, 2, 0.5) end,
    grey = image.rgb_to_grayscale,
    standard = image.per_image_standardization,
    cubic = function(x) return image.resize(x, { 5, 3 }, { method = "bicubic" }) end,
    smooth = function(x) return image.resize(x, { 2, 2 }, { antialias = true }) end,
    crop = function(x) return image.resize_with_crop_or_pad(x, 2, 6) end,
    flip = image.flip_up_down,
  } do
    local x, step = pixels(1, 3, 4, 3), 1e-2
    local weights = gb.random.normal(change(x).shape, { seed = 9 })
    local tape <close> = gb.tape()
    local slope = tape:gradient((change(x) * weights):sum(), x)
    local along = gb.random.normal({ 1, 3, 4, 3 }, { seed = 4 })
    local function at(way) return (change(x + along * way) * weights):sum():item() end
    local expected = (at(step) - at(-step)) / (2 * step)
    local found = (slope * along):sum():item()
    testing.is_true(math.abs(found - expected) < 0.05 * math.max(1, math.abs(expected)),
      string.format("%s: %g instead of %g", name, found, expected))
  end
end)

testing.case("an image of one colour is standardized to zeros, with a gradient", function()
  local x = gb.ones { 2, 2, 3 }
  local tape <close> = gb.tape()
  local y = image.per_image_standardization(x)
  testing.equal(y:abs():max():item(), 0.0)
  local slope = tape:gradient(y:square():sum(), x)
  testing.equal(slope:is_nan():any():item(), false)
end)

testing.case("random colours and flips are drawn for each image, alike before a batch and behind it", function()
  local images = gb.data.Dataset.synthetic { types = { "float32[4, 4, 3]" }, count = 9, seed = 4 }
  local function augment(x)
    x = image.random_flip_up_down(image.random_hue(x, 0.3, { seed = 1 }), { seed = 2 })
    return image.random_saturation(x, 0.3, 1.7, { seed = 3 })
  end
  local function rows(dataset)
    local all = {}
    for batch in dataset:iter() do
      for _, row in ipairs(batch:reshape { -1, 48 }:to_table()) do
        for index, value in ipairs(row) do row[index] = string.format("%.4f", value) end
        all[#all + 1] = table.concat(row, " ")
      end
    end
    return all
  end
  local alone = rows(images:map(augment))
  testing.equal(#alone, 9)
  testing.equal(rows(images:map(augment, { num_parallel_calls = 2 }):batch(4)), alone)
  testing.equal(rows(images:batch(3):map(augment)), alone)
  local step = gb.tensor(5, { dtype = "int64" })
  local batch = gb.ones { 6, 2, 2, 3 } * gb.tensor { 0.2, 0.5, 0.9 }
  local some = image.random_hue(batch, 0.4, { seed = 1, step = step })
  close(image.random_hue(batch, 0.4, { seed = 1, step = step }), some, 0)
  testing.is_true((some[1] - some[2]):abs():max():item() > 0)
end)

testing.case("random flips mirror some images and not all", function()
  local before = gb.arange(64):cast("float32"):reshape { 32, 2, 1, 1 }
  local after = image.random_flip_up_down(before, { seed = 3 }):to_table()
  local flipped = 0
  for index, rows in ipairs(after) do
    local first = rows[1][1][1]
    testing.is_true(first == 2 * (index - 1) or first == 2 * (index - 1) + 1)
    flipped = flipped + first % 2
  end
  testing.is_true(flipped > 4 and flipped < 28)
  local counts = gb.tensor({ { { 1 } }, { { 2 } } }, { dtype = "int64" })
  testing.equal(image.random_flip_up_down(counts).dtype, "int64")
end)

testing.case("crops, padding and sizes", function()
  local x = gb.arange(20):reshape { 4, 5, 1 }
  testing.equal(image.central_crop(x, 0.5).shape, { 2, 3, 1 })
  testing.equal(image.central_crop(x, 1):to_table(), x:to_table())
  testing.equal(image.crop_to_bounding_box(x, 1, 2, 2, 3)[1][1]:to_table(), { 7 })
  local padded = image.pad_to_bounding_box(x, 1, 0, 6, 7)
  testing.equal(padded.shape, { 6, 7, 1 })
  testing.equal(padded[2]:reshape({ 7 }):to_table(), { 0, 1, 2, 3, 4, 0, 0 })
  testing.equal(image.resize_with_crop_or_pad(x, 2, 9).shape, { 2, 9, 1 })
  testing.equal(image.resize(pixels(2, 8, 4, 3), { 6, 6 }, { preserve_aspect_ratio = true }).shape, { 2, 6, 3, 3 })
  testing.equal(image.resize_with_pad(pixels(8, 4, 3), 6, 6).shape, { 6, 6, 3 })
end)

testing.case("mistakes are named", function()
  local x = gb.ones { 4, 4, 2 }
  testing.raises("adjust_hue: takes images [..., height, width, 3] of a floating type or uint8, got float32[4, 4, 2]",
    image.adjust_hue, x, 0.1)
  testing.raises("rgb_to_grayscale: takes images [..., height, width, 3]", image.rgb_to_grayscale, x)
  testing.raises("grayscale_to_rgb: takes images of one channel, got float32[4, 4, 2]", image.grayscale_to_rgb, x)
  testing.raises("adjust_contrast: takes images [..., height, width, channels] of a floating type or uint8, got int64",
    image.adjust_contrast, gb.arange(4):reshape { 2, 2, 1 }, 2)
  testing.raises("adjust_brightness: takes one number, or one for each image as [batch, 1, 1, 1], got float32[2]",
    image.adjust_brightness, x, gb.tensor { 1, 2 })
  testing.raises("adjust_gamma: gamma must not be negative, got -1", image.adjust_gamma, x, -1)
  testing.raises("random_hue: max_delta must be 0 to 0.5, got 0.7", image.random_hue, gb.ones { 2, 2, 3 }, 0.7)
  testing.raises("random_saturation: the factors must be 0 <= lower <= upper, got 2 and 1",
    image.random_saturation, gb.ones { 2, 2, 3 }, 2, 1)
  testing.raises("central_crop: central_fraction must be above 0 and at most 1, got 1.5", image.central_crop, x, 1.5)
  testing.raises("crop_to_bounding_box: 3 rows from offset 2 on do not lie within 4",
    image.crop_to_bounding_box, x, 2, 0, 3, 1)
  testing.raises("crop_to_bounding_box: 1 columns from offset -1 on do not lie within 4",
    image.crop_to_bounding_box, x, 0, -1, 1, 1)
  testing.raises("pad_to_bounding_box: 4 rows from offset 0 on do not lie within 3",
    image.pad_to_bounding_box, x, 0, 0, 3, 9)
  testing.raises("resize_with_crop_or_pad: height and width must be at least 1, got 0 and 3",
    image.resize_with_crop_or_pad, x, 0, 3)
  testing.raises("flip_up_down: takes images [batch, height, width, channels]", image.flip_up_down, gb.ones { 2, 2 })
  testing.raises("unknown option 'antialiased' (did you mean 'antialias'?)",
    image.resize, x, { 2, 2 }, { antialiased = true })
  testing.raises("per_image_standardization: takes images", image.per_image_standardization, gb.ones { 2 })
end)
