-- Validation by the test digits is "apart"; "last fifth" is what fit's validation_split = 0.2 cuts off, before anything
-- is shuffled. A buffer of 1 does not shuffle.
local gb = require "gpubench"

local none, whole = 1, 10000
local epochs = gb.quick and 1 or 3
local test = gb.datasets.mnist("test", { one_hot = false }):batch(500)
local known_rows = {}

-- Row numbers from 0: all zeros first, then all ones, and so on; or at random, the same in every trial.
local function rows_in(order, labels)
  if known_rows[order] then return known_rows[order] end
  local keys = order == "sorted" and labels or gb.random.uniform({ #labels }, { seed = 7 })
  local key, rows = keys:to_table(), {}
  for index = 1, #key do rows[index] = index end
  table.sort(rows, function(a, b)
    if key[a] ~= key[b] then return key[a] < key[b] end
    return a < b
  end)
  for index, row in ipairs(rows) do rows[index] = row - 1 end
  known_rows[order] = rows
  return rows
end

local function more_accurate(options)
  options.y = "val_accuracy"
  return gb.expect.ratio(options)
end

gb.experiment {
  name  = "shuffling",
  topic = "feeding",
  title = "Data in the order of its classes must be shuffled before it is split and batched",
  question = "Why is validation accuracy poor when the data comes sorted?",
  cause    = "The data is sorted, by class or by source. Without shuffling, whole stretches of steps see a single "
    .. "class and the model forgets the others; a validation part cut off the end holds classes that training never "
    .. "saw.",
  remedy   = "Shuffle before the split, and in every epoch with a buffer as large as the data.",
  reading  = "Validation accuracy over the size of the shuffle buffer, one line for each order of the data: sorted "
    .. "data needs the whole buffer, mixed data hardly any. The last fifth of sorted data is validated badly with any.",
  axes  = {
    gb.axis("order", { "sorted", "mixed" }, { closed = true }),
    gb.axis("validation", { "apart", "last fifth" }, { closed = true }),
    gb.axis("buffer_size", { none, 100, 1000, whole }),
  },
  columns = { "val_accuracy", "val_accuracy_low", "val_accuracy_high", "train_loss" },
  trials = 6,
  skip = function(point)
    local middle = point.buffer_size ~= none and point.buffer_size ~= whole
    if middle and (point.order == "mixed" or point.validation == "last fifth") then
      return "between no shuffling and all of it only sorted data differs"
    end
  end,
  seconds = function() return 0.1 + 0.1 * epochs end,
  run = function(point)
    -- On the CPU, where pipelines read them, whatever the model runs on.
    local all = gb.device("cpu:0", function()
      local images, labels = gb.datasets.mnist_arrays("train", { one_hot = false })
      local rows = gb.tensor(rows_in(point.order, labels), { dtype = "int64" })
      return gb.data.Dataset.from_tensor_slices { images:gather(rows), labels:gather(rows) }
    end)
    local train, validation = all, test
    if point.validation == "last fifth" then
      local kept = all.size - all.size // 5
      train, validation = all:take(kept), all:skip(kept):batch(500)
    end
    local model = gb.Sequential {
      gb.layers.Dense(128, { activation = "relu", input_shape = { 784 } }),
      gb.layers.Dense(10, { activation = "softmax" }),
    }
    model:compile { optimizer = "adam", loss = "sparse_categorical_crossentropy", metrics = { "accuracy" } }
    local history = model:fit(train:shuffle(point.buffer_size):batch(64), {
      epochs = epochs, validation_data = validation, verbose = 0,
    }).history
    return {
      val_accuracy = history.val_accuracy[epochs], train_loss = history.loss[epochs],
      detail = "no shares: fit trains, and no step is traced",
    }
  end,
  charts = {
    gb.chart.line {
      x = "buffer_size", y = "val_accuracy", series = "order", where = { validation = "apart" }, log_x = 10,
      title = "Validation by digits of their own",
    },
    gb.chart.bar {
      x = "buffer_size", y = "val_accuracy", series = "order", where = { validation = "last fifth" },
      title = "Validation by the last fifth of the data",
    },
  },
  expect = {
    more_accurate {
      of = { buffer_size = whole }, over = { buffer_size = none }, where = { order = "sorted", validation = "apart" },
      at_least = 1.5, claim = "sorted data that is not shuffled costs at least a third of the accuracy",
      answer = "Shuffle with a buffer as large as the data: {times} the validation accuracy ({of} instead of {over})",
    },
    more_accurate {
      of = { buffer_size = 1000 }, over = { buffer_size = whole }, where = { order = "sorted", validation = "apart" },
      at_most = 0.97, claim = "of sorted data a buffer of 1000 is too small",
      answer = "A buffer of 1000 is too small for sorted data: {less} less accurate",
    },
    more_accurate {
      of = { buffer_size = none }, over = { buffer_size = whole }, where = { order = "mixed", validation = "apart" },
      at_least = 0.97, claim = "mixed data is learned as well without a buffer",
    },
    more_accurate {
      of = { order = "sorted" }, over = { order = "mixed" }, where = { validation = "last fifth", buffer_size = whole },
      at_most = 0.1, claim = "the last fifth of sorted data holds classes that training never saw",
      answer = "Shuffle before the split: cut off the end of sorted data, the validation part is recognised in {of} of "
        .. "its examples instead of {over}",
    },
  },
}
