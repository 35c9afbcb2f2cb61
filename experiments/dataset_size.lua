-- A training from its first line: the step is planned, weights and batches are copied, epochs begin and end. It goes
-- over the data four times, in four epochs or joined into one (repeated data and steps_per_epoch), on the same batches.
-- Where no GPU is, one is emulated, and the rows and the answer say so.
local gb = require "gpubench"

local gpus = gb.config.list_physical_devices "GPU"
local gpu, cpu = gpus[1] or "emulated:h200:0", "cpu:0"
-- To start a real GPU's work (handles of libraries, searches of algorithms) takes time that the emulation leaves out.
local no_gpu = #gpus == 0 and "an emulated GPU has no start that takes time" or nil
local sizes = gb.quick and { 32, 512, 4096 } or { 32, 256, 1024, 4096, 16384 }
local batch_size, passes, width = 32, 4, 512
local smallest, largest = sizes[1], sizes[#sizes]

local function build()
  local model = gb.Sequential {
    gb.layers.Dense(width, { activation = "relu", input_shape = { 784 } }),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
  model:compile { optimizer = "adam", loss = "categorical_crossentropy" }
  return model
end

-- Seconds of a training over so many examples, with all that it does before its first step.
local function train(examples, epochs)
  local steps = examples // batch_size
  local data = gb.data.Dataset.synthetic { types = { "float32[784]", "float32[10]" }, count = examples }
  data = data:cache():batch(batch_size)
  local started = gb.clock()
  if epochs == "joined" then
    build():fit(data:repeated(), { epochs = 1, steps_per_epoch = passes * steps, verbose = 0 })
  else
    build():fit(data, { epochs = passes, verbose = 0 })
  end
  return gb.clock() - started
end

-- The mean of trainings of 0.1 s together: a single one of the smallest takes a few milliseconds, and scatters.
local function mean_training_s(examples, epochs)
  local total, count = 0, 0
  repeat total, count = total + train(examples, epochs), count + 1 until total >= 0.1
  return total / count
end

gb.experiment {
  name  = "dataset_size",
  topic = "devices",
  needs = "a GPU, or emulates one",
  title = "A small data set pays for its start and its epochs more than for its steps",
  question = "How small a data set is too small for a GPU?",
  cause    = "A training plans its step, copies its weights and fills its pipeline once, and each epoch begins the "
    .. "pipeline anew and reads the figures. That takes as long for 64 examples as for a million.",
  remedy   = "Train small data on the CPU; join short epochs by dataset:repeated() and steps_per_epoch; take larger "
    .. "batches. Above the crossover a GPU's faster steps make up for its start.",
  reading  = "Time for each example of a whole training over the number of examples, both logarithmic, one line for "
    .. "each device and kind of epochs. Lines fall until the steps are what takes the time.",
  axes  = {
    gb.axis("device", { gpu, cpu }),
    gb.axis("examples", sizes),
    gb.axis("epochs", { "short", "joined" }, { closed = true }),
  },
  columns = {
    gb.column("training_s", { kind = "time", better = "lower" }),
    gb.column("time_per_example_s", { kind = "time", better = "lower" }),
  },
  -- A guess of 30 us an example, and of what begins once.
  seconds = function(point) return 0.5 + 30e-6 * passes * point.examples end,
  run = function(point)
    return gb.device(point.device, function()
      local training_s = mean_training_s(point.examples, point.epochs)
      return { training_s = training_s, time_per_example_s = training_s / (passes * point.examples) }
    end)
  end,
  charts = {
    gb.chart.line {
      x = "examples", y = "time_per_example_s", series = { "device", "epochs" }, log_x = 2, log_y = 10,
    },
  },
  expect = {
    gb.expect.ratio {
      y = "time_per_example_s", of = { examples = largest }, over = { examples = smallest },
      where = { epochs = "short" }, at_most = 0.8,
      claim = "an example of the smallest data set takes at least a quarter longer than one of the largest",
      answer = "What begins once and what each epoch begins weigh on small data: an example of " .. largest
        .. " takes {less} less time than one of " .. smallest,
    },
    gb.expect.ratio {
      y = "time_per_example_s", of = { epochs = "joined" }, over = { epochs = "short" },
      where = { examples = smallest }, at_most = 1.1,
      claim = "the smallest data set trains at most a tenth slower when its epochs are joined",
    },
    -- Sizes between the two that are reported count for none.
    gb.expect.crossover {
      x = "examples", y = "training_s", of = { device = gpu }, over = { device = cpu }, where = { epochs = "short" },
      unmeasurable = no_gpu,
      answer = "Train such a model on the CPU up to {first} examples in four epochs, on the GPU from {x} on; the sizes "
        .. "between make no clear difference",
    },
  },
}
