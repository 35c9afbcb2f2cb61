-- One pipeline of the comparison, measured: PEERS_NAME, PEERS_DATA, PEERS_SECONDS in the environment.
local gb = require "gpubench"

local Dataset = gb.data.Dataset
local name, data = os.getenv "PEERS_NAME", os.getenv "PEERS_DATA"
local seconds = tonumber(os.getenv "PEERS_SECONDS" or "5")
local parallel = { num_parallel_calls = gb.AUTOTUNE }
local batch = 32

local pipelines = {}

function pipelines.augment()
  return gb.datasets.mnist("train", { flatten = false }):shuffle(10000):map(function(image, label)
    return gb.image.random_brightness(gb.image.random_flip_left_right(image), 0.2), label
  end, parallel):batch(batch)
end

function pipelines.sqrt()
  return gb.datasets.mnist("train"):map(function(x, y) return x:sqrt(), y end, parallel):batch(batch)
end

function pipelines.csv()
  local columns = {}
  for i = 1, 10 do columns[i] = "float32" end
  return Dataset.csv(data .. "/rows.csv", { columns = columns, header = false }):batch(256), 256
end

function pipelines.tfrecord()
  return Dataset.tfrecord(data .. "/examples.tfrecord"):map(gb.data.parse_example {
    { name = "image", dtype = "bytes" }, { name = "label", dtype = "int64" },
  }, parallel):batch(batch)
end

function pipelines.jpeg()
  return Dataset.list_files(data .. "/images/*.jpg"):map(gb.data.read_file(), parallel)
    :map(gb.image.decode { channels = 3, size = { 224, 224 }, dtype = "float32" }, parallel):batch(batch)
end

local dataset, size = pipelines[name]()
local row = gb.measure.pipeline(dataset:prefetch(gb.AUTOTUNE), { budget = seconds, min_time = seconds, warmup = 1.5 })
io.stderr:write(row.quality, "; ", row.stop_reason, "\n")
print(string.format('{"elements_per_s": %.17g, "windows": %d}', row.elements_per_s * (size or batch), #row.samples))
