-- The best pair is chosen by validation digits, which are cut off the training set; the test digits judge it.
local gb = require "gpubench"

-- At most so many epochs. With --quick they are fewer, and so is the patience, so that training can still stop early.
local epochs = gb.quick and 6 or 15
local patience = gb.quick and 1 or 3
local digits = gb.datasets.mnist "train"
local training_size = gb.quick and 4000 or digits.size - digits.size // 5
local train, validation = digits:take(training_size), digits:skip(digits.size - digits.size // 5):batch(400)
local test = gb.datasets.mnist("test"):batch(500)
local rates, batches = { 0.0001, 0.001, 0.01, 0.1 }, { 32, 256 }
local chosen = { learning_rate = 0.01, batch_size = 256 }
-- Where early stopping is tried: elsewhere training still improves when the epochs end, so that nothing stops early.
local overfitting = { learning_rate = 0.01, batch_size = 32 }
local target = 0.85

local function name_of(row)
  return string.format("learning rate %g with batch %d", row.learning_rate, row.batch_size)
end

-- Every pair that is reliably known, the fastest to the target first; how many never got there.
local function by_time(rows)
  local list, never = {}, {}
  for _, row in ipairs(rows) do
    local figure = gb.expect.figure(row, "time_to_target_s")
    if figure then
      list[#list + 1] = { row = row, time = figure.value }
    elseif row.status == "ok" and not row.time_to_target_s then
      never[#never + 1] = name_of(row)
    end
  end
  table.sort(list, function(a, b) return a.time < b.time end)
  return list, never
end

local function tuning_pays(rows)
  local list, never = by_time(rows)
  if #list < 2 then return "inconclusive", "fewer than two pairs have a reliable time" end
  local first, last = list[1], list[#list]
  local gain, why = gb.expect.compare(last.row, first.row, "time_to_target_s")
  if not gain then return "inconclusive", why end
  local verdict = gain.low > 1 and "confirmed" or gain.high <= 1 and "refuted" or "inconclusive"
  local text = string.format("%s: it reaches %g %% of the validation digits in %s, %s takes "
    .. "%.3g times [%.3g, %.3g] as long",
    name_of(first.row), 100 * target, gb.format.seconds(first.time), name_of(last.row), gain.value, gain.low, gain.high)
  if #list > 2 then
    text = text .. string.format("; the next best, %s, %s", name_of(list[2].row), gb.format.seconds(list[2].time))
  end
  if #never > 0 then text = text .. "; never: " .. table.concat(never, ", ") end
  return verdict, text, "Use " .. text
end

local function compiled(learning_rate)
  local model = gb.Sequential {
    gb.layers.Dense(128, { activation = "relu", input_shape = { 784 } }),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
  model:compile {
    optimizer = gb.optimizers.Adam { learning_rate = learning_rate },
    loss = "categorical_crossentropy", metrics = { "accuracy" },
  }
  return model
end

gb.experiment {
  name  = "hyperparameters",
  topic = "models",
  title = "Learning rate, batch size and early stopping decide the time to an accuracy",
  question = "How much training time do the learning rate and the batch size decide, and when should training "
    .. "stop?",
  cause    = "With an untuned learning rate or batch size, training takes longer to the same accuracy or never "
    .. "reaches it. Epochs past the best one take time and gain nothing.",
  remedy   = "Sweep both on validation data; stop early on the validation loss and restore the best weights.",
  reading  = "Seconds to 85 % validation accuracy over the learning rate, one line for each batch: the lowest point is "
    .. "the best pair; a pair without a point never got there. Test accuracy and epochs with and without early "
    .. "stopping: it pays where the epochs are fewer and the accuracy stays.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("learning_rate", rates),
    gb.axis("batch_size", batches),
    gb.axis("early_stopping", { false, true }),
  },
  columns = {
    "time_to_target_s", "training_time_s", gb.column("epochs_run", { kind = "learned" }), "test_accuracy",
    "test_accuracy_low", "test_accuracy_high", "val_accuracy", "val_accuracy_low", "val_accuracy_high",
  },
  trials = 6,
  skip = function(point)
    for name, value in pairs(overfitting) do
      if point.early_stopping and point[name] ~= value then
        return "early stopping is tried where training overfits, with " .. name_of(overfitting)
      end
    end
  end,
  seconds = function(point) return (point.batch_size < 100 and 0.03 or 0.02) * epochs end,
  run = function(point)
    return gb.device(point.device, function()
      local model = compiled(point.learning_rate)
      local input = train:shuffle(10000):batch(point.batch_size)
      local started, reached, run = gb.clock(), nil, 0
      local callbacks = {
        { on_epoch_end = function(_, logs)
          run = run + 1
          if not reached and logs.val_accuracy >= target then reached = gb.clock() - started end
        end },
      }
      if point.early_stopping then
        callbacks[#callbacks + 1] = gb.callbacks.EarlyStopping {
          monitor = "val_loss", patience = patience, restore_best_weights = true,
        }
      end
      model:fit(input, { epochs = epochs, validation_data = validation, callbacks = callbacks, verbose = 0 })
      local spent = gb.clock() - started
      local result = model:evaluate(test)
      return {
        time_to_target_s = reached, training_time_s = spent, epochs_run = run, loss = result.loss,
        test_accuracy = result.accuracy, val_accuracy = model:evaluate(validation).accuracy,
        detail = "no shares: fit trains, and no step is traced",
      }
    end)
  end,
  charts = {
    gb.chart.line {
      x = "learning_rate", y = "time_to_target_s", series = "batch_size",
      where = { early_stopping = false }, log_x = 10,
    },
    gb.chart.line {
      x = "learning_rate", y = "test_accuracy", series = "batch_size", where = { early_stopping = false }, log_x = 10,
    },
    gb.chart.heat {
      x = "learning_rate", y = "val_accuracy", series = "batch_size", where = { early_stopping = false },
      title = "Validation accuracy of every pair",
    },
    gb.chart.bar {
      x = "early_stopping", y = "epochs_run", where = overfitting,
      title = "Epochs with " .. name_of(overfitting),
    },
  },
  expect = {
    gb.expect.that {
      claim = "the best learning rate and batch size reach the accuracy sooner than the slowest that reach it",
      reads = { "time_to_target_s" }, where = { early_stopping = false, device = gb.devices()[1] }, judge = tuning_pays,
    },
    gb.expect.best {
      x = "learning_rate", y = "val_accuracy", value = chosen.learning_rate, tolerance = 0.02,
      where = { early_stopping = false, batch_size = chosen.batch_size },
      claim = "with batch 256 a learning rate of 0.01 is within 2 % of the best",
      answer = "Use a learning rate of {x} with batch 256: its validation accuracy is {share} of that of {first}, "
        .. "the best of the others",
    },
    gb.expect.best {
      x = "batch_size", y = "val_accuracy", value = chosen.batch_size, tolerance = 0.02,
      where = { early_stopping = false, learning_rate = chosen.learning_rate },
      claim = "at a learning rate of 0.01 batch 256 is within 2 % of the best",
      answer = "At a learning rate of 0.01 batch {x} reaches {share} of the validation accuracy of batch {first}",
    },
    gb.expect.ratio {
      y = "val_accuracy", of = { learning_rate = 0.1 }, over = { learning_rate = chosen.learning_rate },
      where = { early_stopping = false, batch_size = 32 }, at_most = 0.9,
      claim = "a learning rate of 0.1 costs at least a tenth of the accuracy",
      answer = "With batch 32 a learning rate of 0.1 is too large: {less} less validation accuracy than with 0.01",
    },
    gb.expect.ratio {
      y = "epochs_run", of = { early_stopping = true }, over = { early_stopping = false },
      where = overfitting, at_most = (epochs - 1) / epochs, claim = "early stopping ends sooner",
      answer = "Stop early on the validation loss: where the learning rate overfits, {less} fewer epochs are trained",
    },
    -- 5 %: initial weights alone scatter the accuracy by as much as 3 %.
    gb.expect.ratio {
      y = "test_accuracy", of = { early_stopping = true }, over = { early_stopping = false },
      where = overfitting, at_least = 0.95,
      claim = "early stopping keeps at least 95 % of the accuracy",
      answer = "Stopped early, the model reaches {times} the accuracy that it has after all epochs",
    },
  },
}
