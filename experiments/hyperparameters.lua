local gb = require "gpubench"

-- At most so many epochs. With --quick they are fewer, and so is the patience, so that training can still stop early.
local epochs = gb.quick and 8 or 15
local patience = gb.quick and 1 or 3
-- Small rates are still improving when the epochs end, so that nothing stops early; large ones never get good.
local overfitting = { learning_rate = 0.01 }
local target = 0.9

gb.experiment {
  name  = "hyperparameters",
  topic = "models",
  title = "Learning rate, batch size and early stopping decide the time to an accuracy",
  question = "How much training time do the learning rate and the batch size decide, and when should training "
    .. "stop?",
  cause    = "With an untuned learning rate or batch size, training takes longer to the same accuracy or never "
    .. "reaches it. Epochs past the best one take time and gain nothing.",
  remedy   = "Sweep both; stop early on the validation loss and restore the best weights.",
  reading  = "Seconds to 90 % test accuracy over the learning rate: the lowest point is the best choice; a rate "
    .. "without a point never got there. Test accuracy and training time with and without early stopping: it pays "
    .. "where the time falls and the accuracy stays.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("learning_rate", { 0.0001, 0.001, 0.01, 0.1 }),
    gb.axis("batch_size", { 32, 256 }),
    gb.axis("early_stopping", { false, true }),
  },
  columns = {
    "time_to_target_s", "training_time_s", gb.column("epochs_run", { kind = "learned" }), "test_accuracy",
    "test_accuracy_low", "test_accuracy_high",
  },
  trials = 6,
  seconds = function() return 0.04 * epochs end,
  run = function(point)
    return gb.device(point.device, function()
      local model = gb.Sequential {
        gb.layers.Dense(128, { activation = "relu", input_shape = { 784 } }),
        gb.layers.Dense(10, { activation = "softmax" }),
      }
      model:compile {
        optimizer = gb.optimizers.Adam { learning_rate = point.learning_rate },
        loss = "categorical_crossentropy", metrics = { "accuracy" },
      }
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
      local digits = gb.datasets.mnist("test")
      local test = digits:batch(500)
      model:fit(gb.datasets.mnist("train"):shuffle(10000, { seed = 1 }):batch(point.batch_size), {
        epochs = epochs, validation_data = test, callbacks = callbacks, verbose = 0,
      })
      local spent = gb.clock() - started
      local result = model:evaluate(test)
      return {
        time_to_target_s = reached, training_time_s = spent, epochs_run = run,
        test_accuracy = result.accuracy, accuracy = result.accuracy, loss = result.loss,
      }
    end)
  end,
  charts = {
    gb.chart.line { x = "learning_rate", y = "time_to_target_s", series = "batch_size", log_x = 10 },
    gb.chart.line { x = "learning_rate", y = "test_accuracy", series = "early_stopping", log_x = 10 },
    gb.chart.line { x = "learning_rate", y = "training_time_s", series = "early_stopping", log_x = 10 },
  },
  expect = {
    gb.expect.ratio {
      y = "epochs_run", of = { early_stopping = true }, over = { early_stopping = false }, where = overfitting,
      at_most = (epochs - 1) / epochs, claim = "early stopping ends sooner",
      answer = "Stop early on the validation loss: where the learning rate overfits, {less} fewer epochs are trained",
    },
    -- 3 % is what 2000 test digits can tell.
    gb.expect.ratio {
      y = "test_accuracy", of = { early_stopping = true }, over = { early_stopping = false }, where = overfitting,
      at_least = 0.97, claim = "early stopping keeps at least 97 % of the accuracy",
      answer = "Stopped early, the model reaches {times} the accuracy that it has after all epochs",
    },
  },
}
