-- Handwritten digits as JPEG images in a TFRecord file of tf.train.Examples, below results, for experiments whose
-- input has to be decoded. Made once.
local gb = require "gpubench"

local jpeg_digits = {}

local quality = 90

local function path(count)
  return string.format("%s/results/jpeg_digits_%d.tfrecord", gb._native.options.out, count)
end

local function write(count)
  local images, labels = gb.datasets.mnist_arrays("test", { flatten = false, scaled = false, one_hot = false })
  local writer <close> = gb.data.tfrecord_writer(path(count))
  for i = 1, count do
    writer:write(gb.data.example { image = gb.image.encode_jpeg(images[i], { quality = quality }), label = labels[i] })
  end
end

-- Writes the file unless it is there. The images are made on the CPU: an emulated device makes none.
function jpeg_digits.prepare(count)
  local file = io.open(path(count), "rb")
  if file then file:close() return end
  gb.device("cpu:0", function() write(count) end)
end

-- The file's records; maps() makes (float32[784], float32[10]) of them, or images [size, size, 1].
function jpeg_digits.records(count)
  return gb.data.Dataset.tfrecord(path(count))
end

function jpeg_digits.maps(size)
  local shape = size and { size, size, 1 } or { 28 * 28 }
  return {
    gb.data.parse_example { { name = "image", dtype = "bytes" }, { name = "label", dtype = "int64" } },
    gb.image.decode { channels = 1, size = { size or 28, size or 28 } },
    function(image, label) return image:cast("float32"):reshape(shape) / 255, label:one_hot(10) end,
  }
end

function jpeg_digits.dataset(count, options, size)
  local data = jpeg_digits.records(count)
  for _, map in ipairs(jpeg_digits.maps(size)) do data = data:map(map, options) end
  return data
end

return jpeg_digits
