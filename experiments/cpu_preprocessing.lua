local gb = require "gpubench"
local jpeg_digits = require "gpubench.helpers.jpeg_digits"
local workers = require "gpubench.helpers.workers"

local jpeg_examples = 2000

local function make_step(preprocess)
  local model = gb.Sequential {
    gb.layers.Dense(128, { activation = "relu", input_shape = { 784 } }),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
  local loss_function = gb.losses.CategoricalCrossentropy()
  local optimizer = gb.optimizers.Adam()
  return gb.compile(function(images, labels)
    local tape <close> = gb.tape()
    local loss = loss_function(labels, model(preprocess(images), { training = true }))
    optimizer:apply_gradients(tape:gradient(loss, model.trainable_variables), model.trainable_variables)
    return loss
  end)
end

local function root(images) return images:sqrt() end
local function root_of_element(image, label) return image:sqrt(), label end
local function unchanged(images) return images end

-- The digits with values of [0, 1]; those of JPEG files are decoded in the pipeline, by as many workers as the map
-- has, whatever place takes the root: no device decodes here.
local function digits(input, options)
  if input == "pixels" then return gb.datasets.mnist("train") end
  return jpeg_digits.dataset(jpeg_examples, options)
end

-- Example by example in the script. The result lies in memory, so that training waits only for batches of ready
-- examples.
local function loop(dataset)
  local images, labels = {}, {}
  for image, label in dataset:iter() do
    images[#images + 1] = image:sqrt()
    labels[#labels + 1] = label
  end
  return gb.data.Dataset.from_tensor_slices { gb.stack(images), gb.stack(labels) }
end

local function batched(dataset) return dataset:batch(32, { drop_remainder = true }) end

-- The batches, and what is left for the step.
local ways = {
  script_loop = function(input) return batched(loop(digits(input))), unchanged end,
  serial_map = function(input) return batched(digits(input):map(root_of_element)), unchanged end,
  parallel_map = function(input, calls)
    local options = { num_parallel_calls = calls }
    return batched(digits(input, options):map(root_of_element, options)):prefetch(gb.AUTOTUNE), unchanged
  end,
  device = function(input, calls)
    return batched(digits(input, { num_parallel_calls = calls })):prefetch(gb.AUTOTUNE), root
  end,
}

-- Seconds from nothing to the end of the first step; then the step and its batches.
local function begin(point)
  local began = gb.clock()
  local batches, preprocess = ways[point.where](point.input, workers.calls(point.workers))
  local step = make_step(preprocess)
  for images, labels in batches:iter() do
    step(images, labels):item()
    return gb.clock() - began, step, batches
  end
end

gb.experiment {
  name  = "cpu_preprocessing",
  topic = "feeding",
  title = "Preprocessing in a loop delays the first step; in the pipeline training begins at once",
  question = "What does it cost to preprocess every example in a loop before training begins?",
  cause    = "A script takes the square root of every value, one example after the other, and training waits "
    .. "until the last of them is done.",
  remedy   = "Use the same function inside the input pipeline, with several workers ahead of the training; or on "
    .. "the device as part of the step.",
  reading  = "Time from the start of the script's work to the end of the first step, on a logarithmic axis: lower "
    .. "means that training begins sooner. Share of a step that waits for input, by place and by workers of the "
    .. "parallel map: lower is better; the loop's own data is ready by then.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("input", { "pixels", "jpeg" }, { closed = true }),
    gb.axis("where", { "script_loop", "serial_map", "parallel_map", "device" }, { closed = true }),
    workers.axis(),
  },
  columns = { "measured", "first_step_s" },
  skip = function(point)
    if point.workers ~= "autotune" and point.where ~= "parallel_map" then return "only the parallel map has workers" end
  end,
  seconds = function(point, measurement_s)
    local loop_s = point.where == "script_loop" and 0.2 or 0
    return measurement_s + 2 * (0.01 + loop_s)
  end,
  -- The time to the first step is taken once a round, after a start that reads files and warms up. It has a row of its
  -- own (measured = start), because it does not depend on how steady the later steps are.
  run = function(point)
    gb.config.set_seed(1)
    if point.input == "jpeg" then jpeg_digits.prepare(jpeg_examples) end
    return gb.device(point.device, function()
      begin(point)
      collectgarbage()
      local first_step_s, step, batches = begin(point)
      local steps = gb.measure.loop(step, batches)
      steps.measured = "steps"
      return {
        {
          measured = "start", device = point.device, first_step_s = first_step_s,
          detail = "no shares: the time to the first step alone is measured",
        },
        steps,
      }
    end)
  end,
  charts = {
    gb.chart.line {
      x = "where", y = "first_step_s", series = "input", where = { workers = "autotune" }, log_y = 10,
      title = "time to the end of the first step",
    },
    gb.chart.bar {
      x = "where", y = "input_wait_share", series = "input", where = { workers = "autotune" },
      title = "input wait share",
    },
    gb.chart.bar {
      x = "workers", y = "input_wait_share", series = "input", where = { where = "parallel_map" },
      title = "input wait share of the parallel map",
    },
  },
  expect = {
    gb.expect.ratio {
      y = "first_step_s", of = { where = "script_loop" }, over = { where = "serial_map" }, at_least = 5,
      where = { measured = "start", workers = "autotune" },
      claim = "the loop delays the first step at least five times as long as a map",
      answer = "Preprocess in the input pipeline: with a loop before the training the first step ends {times} as late "
        .. "as with a map",
    },
    -- A parallel map begins later than a serial one: its workers fill the buffers of prefetch while the first batch
    -- waits.
    gb.expect.ratio {
      y = "first_step_s", of = { where = "script_loop" }, over = { where = "parallel_map" }, at_least = 2,
      where = { measured = "start", workers = "autotune" },
      claim = "the loop delays the first step at least twice as long as a parallel map",
    },
    gb.expect.ratio {
      y = "first_step_s", of = { where = "script_loop" }, over = { where = "device" }, at_least = 2,
      where = { measured = "start", workers = "autotune" },
      claim = "the loop delays the first step at least twice as long as the root on the device",
    },
    gb.expect.ratio {
      y = "input_wait_share", of = { where = "parallel_map" }, over = { where = "serial_map" }, at_most = 0.8,
      where = { measured = "steps", workers = "autotune", input = "jpeg" },
      claim = "ahead of the training, decoding and map make it wait less",
      answer = "Where images are decoded too, give the map several workers and prefetch: the share of a step that "
        .. "waits for input is then {less} smaller than with a serial map",
    },
    gb.expect.ratio {
      y = "examples_per_s", of = { where = "device" }, over = { where = "parallel_map" }, at_least = 0.8,
      where = { measured = "steps", workers = "autotune" },
      claim = "with the root on the device, training reaches at least 80 % of the rate of a parallel map",
    },
  },
}
