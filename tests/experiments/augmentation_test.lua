-- augmentation: the same images in every place, and a checksum that sees whatever makes them others.
local gb = require "gpubench"
local experiments = require "declared"
local input_rows = require "input_rows"
local testing = require "testing"

local with = experiments.with
gb._native.keep_configuration()
input_rows.make_results_folder()
local declaration = experiments.of "augmentation"

-- Checksums of one kind of input by place, in the order of the axis.
local function checksums(input, size)
  local list = {}
  with(gb.measure, { loop = function() return {} end }, function()
    for _, place in ipairs { "serial", "parallel", "batched", "device" } do
      local workers = (place == "parallel" or place == "batched") and 2 or "autotune"
      local row = experiments.row_of(declaration,
        { device = gb.devices()[1], input = input, size = size, place = place, workers = workers })
      testing.equal(row.status .. (row.detail or ""), "ok")
      list[#list + 1] = row.images_checksum
    end
  end)
  return list
end

local function same_images(list)
  local rows = {}
  for index, place in ipairs { "serial", "parallel", "batched", "device" } do
    rows[index] = { status = "ok", device = "d", input = "i", size = 28, place = place, workers = "autotune",
      images_checksum = list[index] }
  end
  for index, one in ipairs(experiments.judge(declaration, rows)) do
    if declaration.expect[index].y == "images_checksum" then return one.verdict, one.reason end
  end
end

testing.case("the same images in every place, of both kinds, over two rounds", function()
  for _, input in ipairs { "pixels", "jpeg" } do
    local list = checksums(input, 32)
    for index = 2, 4 do testing.near(list[index], list[1], 1e-6 * math.abs(list[1])) end
    testing.equal(same_images(list), "confirmed")
  end
end)

-- With one function of gb.image doing something else.
local function changed_by(name, fn)
  return with(gb.image, { [name] = fn }, function() return checksums("pixels", 28) end)
end

testing.case("the checksum sees flips, their seeds, brightness and order", function()
  local own = checksums("pixels", 28)
  local flip, brightness = gb.image.random_flip_left_right, gb.image.random_brightness
  local arrays = gb.datasets.mnist_arrays
  local function turned(split, options)
    local x, y = arrays(split, options)
    return gb.concat { x:rows(2, #x), x:rows(1, 1) }, y
  end
  local others = {
    changed_by("random_flip_left_right", function(x) return x end),
    changed_by("random_flip_left_right", function(x, options) return flip(x, { seed = 99, step = options.step }) end),
    changed_by("random_brightness", function(x, _, options) return brightness(x, 0.199, options) end),
    with(gb.datasets, { mnist_arrays = turned }, function() return checksums("pixels", 28) end),
  }
  testing.equal(same_images(own), "confirmed")
  for _, other in ipairs(others) do
    testing.equal(same_images(other), "confirmed")  -- the same everywhere, but not the same as before
    for index = 1, 4 do
      local list = table.move(own, 1, 4, 1, {})
      list[index] = other[index]
      testing.equal(same_images(list), "refuted")
    end
  end
end)

testing.case("a step that counts anew in the second round draws other images", function()
  local flip = gb.image.random_flip_left_right
  local round = 160
  local list = changed_by("random_flip_left_right", function(x, options)
    local step = options.step
    return flip(x, { seed = options.seed, step = step and step - (step // round) * round })
  end)
  testing.equal(same_images(list), "refuted")
end)
