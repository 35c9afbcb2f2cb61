local gb = require "gpubench"
local testing = require "testing"

--- A batch of images whose pixels count from 0.
local function counting(batch, height, width, channels)
  return gb.tensor(gb.arange(batch * height * width * channels), { dtype = "float32" }):reshape {
    batch, height, width, channels }
end

testing.case("flipping mirrors whole images, some and not all", function()
  local before = counting(32, 2, 3, 1):to_table()
  local after = gb.image.random_flip_left_right(counting(32, 2, 3, 1), { seed = 3 }):to_table()
  local flipped = 0
  for i = 1, 32 do
    local mirrored = after[i][1][1][1] == before[i][1][3][1]
    if mirrored then flipped = flipped + 1 end
    for y = 1, 2 do
      for x = 1, 3 do testing.equal(after[i][y][x][1], before[i][y][mirrored and 4 - x or x][1]) end
    end
  end
  testing.is_true(flipped > 4 and flipped < 28)
end)

testing.case("one seed and step give the same numbers, another step others", function()
  local images = counting(16, 8, 8, 1)
  local function first(step)
    local crop = gb.image.random_crop(images, { 2, 2 }, { seed = 1, step = gb.tensor(step, { dtype = "int64" }) })
    local places = {}
    for i, image in ipairs(crop:to_table()) do places[i] = image[1][1][1] end
    return table.concat(places, " ")
  end
  testing.equal(first(1), first(1))
  testing.is_true(first(1) ~= first(2))
end)

testing.case("brightness saturates bytes, contrast keeps the mean", function()
  local bytes = gb.tensor({ { { { 0 }, { 255 } } } }, { dtype = "uint8" })
  for step = 0, 7 do
    local options = { seed = 5, step = gb.tensor(step, { dtype = "int64" }) }
    local pixels = gb.image.random_brightness(bytes, 0.5, options):to_table()[1][1]
    testing.is_true(pixels[1][1] == 0 or pixels[2][1] == 255)
  end
  local image = gb.image.random_contrast(counting(1, 2, 2, 1), 0.5, 0.6, { seed = 5 }):to_table()[1]
  testing.near(image[1][1][1] + image[1][2][1] + image[2][1][1] + image[2][2][1], 6, 1e-5)
end)

testing.case("resizing is that of tf.image.resize", function()
  local image = gb.tensor { { { { 0 }, { 1 } }, { { 2 }, { 3 } } } }
  local row = gb.image.resize(image, { 2, 4 }):to_table()[1][1]
  for i, want in ipairs { 0, 0.25, 0.75, 1 } do testing.near(row[i][1], want, 1e-6) end
  local nearest = gb.image.resize(image, { 2, 4 }, { method = "nearest" }):to_table()[1][2]
  for i, want in ipairs { 2, 2, 3, 3 } do testing.near(nearest[i][1], want, 0) end
end)

testing.case("one image may come without a batch", function()
  testing.equal(gb.image.random_flip_left_right(gb.zeros { 4, 6, 3 }).shape[1], 4)
  testing.equal(gb.image.random_crop(gb.zeros { 4, 6, 3 }, { 2, 3 }).shape[2], 3)
  testing.equal(gb.image.resize(gb.zeros { 4, 6, 3 }, { 8, 8 }).shape[1], 8)
end)

--- The first pixel of each image of a dataset of images or batches of them.
local function first_pixels(dataset)
  local pixels = {}
  for images in dataset:iter() do
    for _, value in ipairs(images:reshape { -1, 4 }:to_table()) do pixels[#pixels + 1] = value[1] end
  end
  return table.concat(pixels, " ")
end

testing.case("a map's images draw anew, the same alone and in batches", function()
  local function augment(x)
    x = gb.image.random_brightness(gb.image.random_flip_left_right(x, { seed = 1 }), 0.4, { seed = 2 })
    return gb.image.random_contrast(x, 0.5, 1.5, { seed = 3 })
  end
  local images = gb.data.Dataset.from_tensor_slices(gb.ones { 10, 2, 2, 1 })
  local alone = first_pixels(images:map(augment))
  local seen = {}
  for pixel in alone:gmatch("%S+") do
    testing.is_true(not seen[pixel])
    seen[pixel] = true
  end
  testing.equal(first_pixels(images:map(augment):batch(4)), alone)
end)

testing.case("images are augmented alike before a batch and after it, whoever does it", function()
  local pixels = { types = { "float32[6, 6, 3]" }, count = 11, seed = 4 }
  local images = gb.data.Dataset.synthetic(pixels):shuffle(11, { seed = 2 })
  local function augment(x)
    x = gb.image.random_crop(gb.image.random_flip_left_right(x, { seed = 1 }), { 4, 4 }, { seed = 5 })
    return gb.image.random_contrast(gb.image.random_brightness(x, 0.4, { seed = 2 }), 0.5, 1.5, { seed = 3 })
  end
  local function two_epochs(dataset)
    local rows = {}
    for _ = 1, 2 do
      for batch in dataset:iter() do
        for _, row in ipairs(batch:reshape { -1, 48 }:to_table()) do rows[#rows + 1] = table.concat(row, " ") end
      end
    end
    return rows
  end
  local alone = two_epochs(images:map(augment))
  testing.equal(#alone, 22)
  for workers = 0, 2 do
    local parallel = { num_parallel_calls = workers }
    testing.equal(two_epochs(images:map(augment, parallel):batch(4)), alone)
    testing.equal(two_epochs(images:batch(4):map(augment, parallel)), alone)
    testing.equal(two_epochs(images:batch(4):map(augment, parallel):unbatch():batch(3)), alone)
  end
end)

testing.case("without a seed, a map on batches of varying size can be traced", function()
  local images = gb.data.Dataset.from_tensor_slices(gb.ones { 10, 2, 2, 1 })
  local brighter = images:batch(4):map(function(x) return gb.image.random_brightness(x, 0.4) end)
  local count = 0
  for batch in brighter:iter() do count = count + batch.shape[1] end
  testing.equal(count, 10)
end)

testing.case("normalizing and converting", function()
  local pixels = gb.tensor({ { { 0, 51, 255 } } }, { dtype = "uint8" })
  local floats = gb.image.cast(pixels, "float32")
  testing.near(floats:to_table()[1][1][2], 0.2, 1e-6)
  testing.equal(gb.image.cast(floats, "uint8"):to_table()[1][1][2], 51)
  testing.equal(gb.image.cast(gb.tensor { -1.0, 2.0 }, "uint8"):to_table()[2], 255)
  testing.equal(gb.image.cast(floats, "float32").dtype, "float32")
  local normal = gb.image.normalize(pixels, { 0, 1, 5 }, { 1, 2, 50 }):to_table()[1][1]
  for i, want in ipairs { 0, 25, 5 } do testing.near(normal[i], want, 1e-5) end
  testing.near(gb.image.normalize(floats, 0.5, 0.5):to_table()[1][1][3], 1, 1e-6)
  testing.raises("normalize: takes one mean or one for each channel, got 2 for float32[1, 1, 3]",
    function() gb.image.normalize(floats, { 1, 2 }, 1) end)
  testing.raises("normalize: standard deviations must be positive",
    function() gb.image.normalize(floats, 0, { 1, 0, 1 }) end)
  testing.raises("cast: converts images of uint8 and of floating types, got float32[1, 1, 3] to int32",
    function() gb.image.cast(floats, "int32") end)
end)

testing.case("mistakes are named", function()
  local images = counting(2, 4, 4, 3)
  testing.raises("random_crop: 5 x 4 does not fit into float32[2, 4, 4, 3]",
    function() gb.image.random_crop(images, { 5, 4 }) end)
  testing.raises("the size must be {height, width}",
    function() gb.image.random_crop(images, { 5 }) end)
  testing.raises("there is no method 'hamming' (known: bilinear, nearest, bicubic, area, lanczos3",
    function() gb.image.resize(images, { 2, 2 }, { method = "hamming" }) end)
  testing.raises("takes images [batch, height, width, channels] or one [height, width, channels], got float32[4, 4]",
    function() gb.image.random_flip_left_right(gb.zeros { 4, 4 }) end)
end)
