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

testing.case("mistakes are named", function()
  local images = counting(2, 4, 4, 3)
  testing.raises("random_crop: 5 x 4 does not fit into float32[2, 4, 4, 3]",
    function() gb.image.random_crop(images, { 5, 4 }) end)
  testing.raises("the size must be {height, width}",
    function() gb.image.random_crop(images, { 5 }) end)
  testing.raises("there is no method 'bicubic' (known: bilinear, nearest)",
    function() gb.image.resize(images, { 2, 2 }, { method = "bicubic" }) end)
  testing.raises("takes images [batch, height, width, channels], got float32[4, 4]",
    function() gb.image.random_flip_left_right(gb.zeros { 4, 4 }) end)
end)
