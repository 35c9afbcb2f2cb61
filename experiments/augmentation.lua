local gb = require "gpubench"
local jpeg_digits = require "gpubench.helpers.jpeg_digits"
local workers = require "gpubench.helpers.workers"

local batch_size, examples, checked_examples = 32, 1600, 160

local function change(images, step)
  images = gb.image.random_flip_left_right(images, { seed = 7, step = step })
  return gb.image.random_brightness(images, 0.2, { seed = 8, step = step })
end
local function change_element(image, label) return change(image), label end

-- `count` digits of `size` pixels a side, repeated inside one epoch of the pipeline, so that the numbers of its
-- elements go on; see `changer`. pixels: resized beforehand. jpeg: decoded and resized as they are read, by the
-- workers of the map (also where the device augments, as no device decodes here).
local sources = {
  pixels = function(size, count)
    local images, labels = gb.datasets.mnist_arrays("test", { flatten = false })
    images, labels = images:rows(1, count), labels:rows(1, count)
    if size ~= 28 then images = gb.image.resize(images, { size, size }) end
    return gb.data.Dataset.from_tensor_slices { images, labels }:repeated()
  end,
  jpeg = function(size, count, options)
    return jpeg_digits.dataset(examples, options, size):take(count):repeated()
  end,
}

local function batches(dataset) return dataset:batch(batch_size, { drop_remainder = true }) end
local function unchanged(images) return images end

-- On the device: changes images by the number of those that the step has seen, which is the number that the pipeline
-- gives its elements.
local function changer()
  local seen = gb.Variable(0, { dtype = "int64", trainable = false })
  return function(images)
    images = change(images, seen * 1)
    seen:assign_add(batch_size)
    return images
  end
end

-- Batches of a source, which takes options of maps, and what is left for the step.
local places = {
  serial = function(source) return batches(source {}:map(change_element)), unchanged end,
  parallel = function(source, options)
    return batches(source(options):map(change_element, options)):prefetch(gb.AUTOTUNE), unchanged
  end,
  batched = function(source, options)
    return batches(source(options)):map(change_element, options):prefetch(gb.AUTOTUNE), unchanged
  end,
  device = function(source, options) return batches(source(options)):prefetch(gb.AUTOTUNE), changer() end,
}

local function images_of(point, count)
  local function source(options) return sources[point.input](point.size, count, options) end
  return places[point.place](source, { num_parallel_calls = workers.calls(point.workers) })
end

local function make_step(size, prepare)
  local model = gb.Sequential {
    gb.layers.Flatten { input_shape = { size, size, 1 } },
    gb.layers.Dense(128, { activation = "relu" }),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
  local loss_function, optimizer = gb.losses.CategoricalCrossentropy(), gb.optimizers.Adam()
  return gb.compile(function(images, labels)
    images = prepare(images)
    local tape <close> = gb.tape()
    local loss = loss_function(labels, model(images, { training = true }))
    optimizer:apply_gradients(tape:gradient(loss, model.trainable_variables), model.trainable_variables)
    return loss
  end)
end

-- Of the images as a step sees them, in two rounds through a part of the data. Each pixel is weighed by its place,
-- each image by its place in the batch, each batch by its number: a flip, another order, or numbers that go astray in
-- the second round change the sum.
local function checksum(point)
  local input, prepare = images_of(point, checked_examples)
  local step = gb.compile(function(images) return prepare(images) * 1 end)
  local weights = gb.random.uniform({ batch_size, point.size, point.size, 1 }, { seed = 9 })
  local sum, number = 0, 0
  for images in input:take(2 * checked_examples // batch_size):iter() do
    number = number + 1
    sum = sum + number * (step(images) * weights):sum():item()
  end
  return sum
end

gb.experiment {
  name  = "augmentation",
  topic = "feeding",
  title = "Augmenting images in the training thread makes the device wait",
  question = "Where should images be augmented?",
  cause    = "Images are flipped and brightened at random in the wrong place: one by one, in the thread that "
    .. "trains. The device waits until a whole batch is ready.",
  remedy   = "Augment in the pipeline with several workers ahead of the training, or a whole batch at a time; "
    .. "on the device as part of the step where that has time to spare and images are large.",
  reading  = "Step time, and the share of it that waits for input, by place: shorter bars are better. Examples/s "
    .. "over the number of workers of the parallel map: a rising line means that the map limits the training. "
    .. "Sizes of images are side by side; each kind of input has its own chart.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("input", { "pixels", "jpeg" }, { closed = true }),
    gb.axis("size", gb.quick and { 28, 56 } or { 28, 56, 112 }, {
      accepts = function(size) return math.type(size) == "integer" and size >= 1, "whole numbers from 1" end,
    }),
    gb.axis("place", { "serial", "parallel", "batched", "device" }, { closed = true }),
    workers.axis(),
  },
  columns = { gb.column("images_checksum", { kind = "counted" }) },
  skip = function(point)
    if point.workers ~= "autotune" and point.place ~= "parallel" and point.place ~= "batched" then
      return "only maps of several workers have their number set by hand"
    end
  end,
  run = function(point)
    gb.config.set_seed(1)
    if point.input == "jpeg" then jpeg_digits.prepare(examples) end
    return gb.device(point.device, function()
      local sum = checksum(point)
      local input, prepare = images_of(point, examples)
      local row = gb.measure.loop(make_step(point.size, prepare), input)
      row.images_checksum = sum
      return row
    end)
  end,
  charts = {
    gb.chart.bar {
      x = "place", y = "step_time_s", series = "size", each = "input", where = { workers = "autotune" },
      title = "step time",
    },
    gb.chart.bar {
      x = "place", y = "input_wait_share", series = "size", each = "input", where = { workers = "autotune" },
      title = "input wait share",
    },
    gb.chart.line {
      x = "workers", y = "examples_per_s", series = "size", each = "input", where = { place = "parallel" }, log_y = 10,
      title = "training with a parallel map",
    },
  },
  expect = {
    gb.expect.ratio {
      y = "examples_per_s", of = { place = "parallel" }, over = { place = "serial" }, at_least = 1,
      where = { input = "jpeg", workers = "autotune" },
      claim = "where images are decoded too, workers ahead of the training train faster than a serial map",
      answer = "Augment with several workers ahead of the training: {times} the rate of a serial map",
    },
    -- Pixels change in a few microseconds a batch: there is next to nothing to move out of the training thread.
    gb.expect.ratio {
      y = "examples_per_s", of = { place = "parallel" }, over = { place = "serial" }, at_least = 0.85,
      where = { input = "pixels", workers = "autotune" },
      claim = "where only pixels change, workers cost at most 15 % of the rate of a serial map",
    },
    gb.expect.ratio {
      y = "examples_per_s", of = { place = "batched" }, over = { place = "parallel" }, at_least = 0.85,
      where = { workers = "autotune" },
      claim = "a whole batch at a time, training is at most 15 % slower than image by image",
    },
    gb.expect.ratio {
      y = "examples_per_s", of = { place = "device" }, over = { place = "batched" }, at_least = 0.67,
      where = { workers = "autotune" },
      claim = "on the device, training is at most a third slower than with maps of batches",
    },
    gb.expect.best {
      x = "workers", y = "examples_per_s", value = "autotune", tolerance = 0.15, where = { place = "parallel" },
      claim = "AUTOTUNE is within 15 % of the best number of workers by hand",
      answer = "Leave the number of workers to AUTOTUNE: it trains at {share} of the rate of the best number set by "
        .. "hand",
    },
    gb.expect.equal {
      x = "place", y = "images_checksum", tolerance = 1e-6, where = { workers = "autotune" },
      claim = "the same seeds give the same images in every place",
    },
    gb.expect.equal {
      x = "workers", y = "images_checksum", tolerance = 1e-6, where = { place = "parallel" },
      claim = "the same seeds give the same images by any number of workers, one by one",
    },
    gb.expect.equal {
      x = "workers", y = "images_checksum", tolerance = 1e-6, where = { place = "batched" },
      claim = "the same seeds give the same images by any number of workers, in batches",
    },
  },
}
