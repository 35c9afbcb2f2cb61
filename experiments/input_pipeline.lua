local gb = require "gpubench"
local jpeg_digits = require "gpubench.helpers.jpeg_digits"
local workers = require "gpubench.helpers.workers"

local Dataset = gb.data.Dataset
local batch_size, jpeg_examples, latency_s = 32, 2000, 0.001
-- A stage takes its work from the loop: with `shuffle` the script still takes roots and makes batches, with `map` it
-- makes batches only.
local stages = { "loop", "shuffle", "map", "batch", "prefetch" }
local position = {}
for index, stage in ipairs(stages) do position[stage] = index end

-- Readers wait side by side, one reader for each example in turn.
local function slow(data, readers)
  local parts = {}
  for i = 0, 7 do parts[#parts + 1] = data:shard(8, i):throttle { latency = latency_s } end
  return Dataset.interleave(parts, { cycle_length = #parts, num_parallel_calls = readers })
end

-- What a map costs depends on the source. `pixels`: a square root. `jpeg`: decoding an image before (which no loop
-- can, so that it is a map of one thread until maps are parallel). `slow_source`: a millisecond of waiting for every
-- example, as for a slow disk or a network, one after the other until maps are parallel. Its shuffle buffer is
-- smaller than its data: one that holds them all would be filled by the start of the first epoch and hide how slow
-- the source is.
local sources = {
  pixels = { data = function() return gb.datasets.mnist("train") end, maps = {}, buffer = 10000 },
  jpeg = {
    data = function() return jpeg_digits.records(jpeg_examples) end, maps = jpeg_digits.maps(), buffer = 10000,
  },
  slow_source = {
    data = function(readers) return slow(gb.datasets.mnist("train"), readers) end, maps = {}, buffer = 256,
  },
}

-- What the stages do, by hand: each takes a function that gives the next example, and returns one.
local by_hand = {}

function by_hand.shuffle(next_example, buffer)
  local window, ended = {}, false
  return function()
    while not ended and #window < buffer do
      local image, label = next_example()
      if image then window[#window + 1] = { image, label } else ended = true end
    end
    if #window == 0 then return nil end
    local index = math.random(#window)
    local example = window[index]
    window[index] = window[#window]
    window[#window] = nil
    return example[1], example[2]
  end
end

function by_hand.map(next_example)
  return function()
    local image, label = next_example()
    if image then return image:sqrt(), label end
  end
end

function by_hand.batch(next_example)
  return function()
    local images, labels = {}, {}
    for i = 1, batch_size do
      images[i], labels[i] = next_example()
      if not images[i] then return nil end
    end
    return gb.stack(images), gb.stack(labels)
  end
end

-- Of `data` with the stages up to `done`, batches that the script makes on the host.
local function loop(data, done, buffer)
  local function begin()
    local next_example = data:iter()
    if done < position.shuffle then next_example = by_hand.shuffle(next_example, buffer) end
    if done < position.map then next_example = by_hand.map(next_example) end
    local next_batch = by_hand.batch(next_example)
    return function() return gb.device("cpu:0", next_batch) end
  end
  return Dataset.from_generator(begin, { types = { "float32[32, 784]", "float32[32, 10]" } })
end

-- The stages up to `stage`, with `calls` workers where one is parallel.
local function pipeline(source, stage, calls)
  local done = position[stage]
  local parallel = done >= position.map and calls or 0
  local data = source.data(parallel)
  if done >= position.shuffle then data = data:shuffle(source.buffer, { seed = 1 }) end
  for _, map in ipairs(source.maps) do data = data:map(map, { num_parallel_calls = parallel }) end
  if done >= position.map then
    data = data:map(function(image, label) return image:sqrt(), label end, { num_parallel_calls = parallel })
  end
  if done < position.batch then return loop(data, done, source.buffer) end
  data = data:batch(batch_size, { drop_remainder = true })
  return done >= position.prefetch and data:prefetch(gb.AUTOTUNE) or data
end

local function make_model()
  local model = gb.Sequential {
    gb.layers.Dense(128, { activation = "relu", input_shape = { 784 } }),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
  model:compile { optimizer = "adam", loss = "categorical_crossentropy" }
  return model
end

local function measure_training(input)
  local row = gb.measure.training(make_model(), input)
  row.measured = "training"
  return row
end

-- The elements that are counted are batches.
local function measure_alone(input)
  local row = gb.measure.pipeline(input)
  row.measured, row.batch_size = "pipeline", batch_size
  for _, level in ipairs { "", "_low", "_high" } do
    local rate = row["elements" .. level .. "_per_s"]
    row["pipeline_examples" .. level .. "_per_s"] = rate and rate * batch_size
  end
  return row
end

local trained = { measured = "training", workers = "autotune" }

gb.experiment {
  name  = "input_pipeline",
  topic = "feeding",
  title = "Every stage of the input pipeline takes waiting away",
  question = "What does each stage of an input pipeline bring?",
  cause    = "A loop of the script shuffles, maps and batches by hand, one example after the other, in the thread "
    .. "that trains. The device waits until a whole batch is ready.",
  remedy   = "Use the stages of the pipeline: shuffle(10000), a map with several workers, batch, and "
    .. "prefetch(AUTOTUNE).",
  reading  = "Share of a step that waits for input, with one more stage in each group of bars: lower is better. "
    .. "Examples/s of the whole pipeline alone, without a model, over the number of workers; that axis is "
    .. "logarithmic, because sources differ by a hundred times.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("source", { "pixels", "jpeg", "slow_source" }, { closed = true }),
    gb.axis("stage", stages, { closed = true }),
    workers.axis(),
  },
  columns = { "measured", "pipeline_examples_per_s" },
  -- Stages are added with AUTOTUNE. The whole pipeline gets two rows: `measured` in a training, and as a pipeline
  -- alone.
  skip = function(point)
    if point.stage ~= "prefetch" and point.workers ~= "autotune" then
      return "workers are set by hand for the whole pipeline"
    end
  end,
  -- The slow source fills its buffer one example after the other.
  seconds = function(point, measurement_s)
    local source, whole = sources[point.source], point.stage == "prefetch"
    local filling = point.source == "slow_source" and source.buffer * latency_s or 0
    return (whole and 2 or 1) * (measurement_s + filling)
  end,
  run = function(point)
    gb.config.set_seed(1)
    if point.source == "jpeg" then jpeg_digits.prepare(jpeg_examples) end
    return gb.device(point.device, function()
      local source, calls = sources[point.source], workers.calls(point.workers)
      local rows = { measure_training(pipeline(source, point.stage, calls)) }
      if point.stage == "prefetch" then rows[2] = measure_alone(pipeline(source, point.stage, calls)) end
      return rows
    end)
  end,
  charts = {
    gb.chart.bar {
      x = "stage", y = "input_wait_share", series = "source", where = { workers = "autotune" },
      title = "input wait share, stage after stage added",
    },
    gb.chart.line {
      x = "workers", y = "pipeline_examples_per_s", series = "source", where = { stage = "prefetch" }, log_y = 10,
      title = "the pipeline alone, by workers",
    },
  },
  expect = {
    gb.expect.ratio {
      y = "examples_per_s", of = { stage = "prefetch" }, over = { stage = "loop" }, at_least = 1.2, where = trained,
      claim = "with the whole pipeline training is at least 1.2 times as fast as with the loop",
      answer = "Build the whole pipeline, up to prefetch: training reaches {times} the examples/s of the loop",
    },
    -- A stage may take nothing away: training waits for a slow source whatever the script does beside.
    gb.expect.increasing {
      x = "stage", y = "examples_per_s", tolerance = 0.05, where = trained,
      claim = "all stages together train faster, and none takes more than 5 % from the rate",
      answer = "Each stage multiplies the examples/s of those before it ([...]: it may bring nothing): {steps}",
    },
    gb.expect.ratio {
      y = "input_wait_share", of = { stage = "prefetch" }, over = { stage = "loop" }, at_most = 1, where = trained,
      claim = "the whole pipeline makes a smaller share of a step wait than the loop",
      answer = "With the whole pipeline a step waits for input {of} of its time, with the loop {over}",
    },
    gb.expect.best {
      x = "workers", y = "pipeline_examples_per_s", value = "autotune", tolerance = 0.15,
      where = { measured = "pipeline", stage = "prefetch" },
      claim = "AUTOTUNE is within 15 % of the best number of workers by hand",
      answer = "Leave the number of workers to AUTOTUNE: the pipeline alone reaches {share} of the rate with the best "
        .. "of the numbers set by hand",
    },
  },
}
