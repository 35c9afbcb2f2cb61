-- A task for models that learn in no time: rows of 12 numbers whose class is which third of them is largest.
local gb = require "gpubench"
local testing = require "testing"

local thirds = {}

-- The same for every call and on every device: drawn on the host, as tables.
function thirds.rows(count)
  local rows, labels = {}, {}
  math.randomseed(7)
  for i = 1, count do
    local class = math.random(0, 2)
    rows[i], labels[i] = {}, class
    for k = 1, 12 do rows[i][k] = math.random() + ((k - 1) // 4 == class and 1 or 0) end
  end
  return rows, labels
end

function thirds.tensors(count)
  local rows, labels = thirds.rows(count)
  return gb.tensor(rows), gb.tensor(labels, { dtype = "int64" })
end

-- A net with layers of many kinds.
function thirds.convolutional()
  return gb.Sequential {
    gb.layers.Reshape({ 6, 2, 1 }, { input_shape = { 12 } }),
    gb.layers.Conv2D(4, { 3, 3 }, { activation = "relu", padding = "same" }),
    gb.layers.BatchNormalization(),
    gb.layers.MaxPooling2D({ 2, 2 }),
    gb.layers.Dropout(0.1),
    gb.layers.Flatten(),
    gb.layers.Dense(16, { activation = "gelu" }),
    gb.layers.Dense(3, { activation = "softmax" }),
  }
end

-- The weights after options.epochs of batches of 16, the last of which is smaller; options.eager; options.strategy,
-- without which gpu:0 trains.
function thirds.weights(options)
  local x, y = thirds.rows(40)
  local inputs = gb.device("cpu:0", function() return gb.tensor(x) end)
  local labels = gb.device("cpu:0", function() return gb.tensor(y, { dtype = "int64" }) end)
  local function trained()
    gb.config.set_seed(3)
    local model = gb.Sequential {
      gb.layers.Dense(16, { activation = "relu", input_shape = { 12 } }),
      gb.layers.Dense(3, { activation = "softmax" }),
    }
    model:compile { optimizer = gb.optimizers.Adam { learning_rate = 0.02 }, loss = "sparse_categorical_crossentropy",
      run_eagerly = options.eager }
    model:fit(inputs, labels, { epochs = options.epochs, batch_size = 16, verbose = 0, shuffle = false })
    return model:get_weights()
  end
  if options.strategy then return options.strategy:scope(trained) end
  return gb.device("gpu:0", trained)
end

function thirds.same_weights(a, b)
  testing.equal(#a, #b)
  for i = 1, #a do testing.is_true((a[i] - b[i]):abs():max():item() < 1e-5, "weights " .. i) end
end

return thirds
