-- The code that practitioners pass on about idle, full and failing GPUs, with TensorFlow's words in Lua's syntax. Where
-- it runs, what it does is checked; "/GPU:0" stands for the CPU where there is no GPU.
local gb = require "gpubench"
local testing = require "testing"
local case, equal, is_true, raises = testing.case, testing.equal, testing.is_true, testing.raises

local gpu = #gb.config.list_physical_devices "GPU" > 0 and "/GPU:0" or "/CPU:0"

local function digits(split, count, options)
  local images, labels = gb.datasets.mnist_arrays(split, options)
  return images[{ 1, count }], labels[{ 1, count }]
end

local x_train, y_train

-- Devices are configured before they are in use, so no tensor may be left.
local function with_fresh_devices(configure)
  x_train, y_train = nil, nil
  collectgarbage()
  collectgarbage()
  gb._native.reset_devices()
  if configure then configure() end
  x_train, y_train = digits("train", 640)
end
with_fresh_devices()

local function mlp()
  return gb.Sequential {
    gb.layers.Dense(128, { activation = "relu", input_shape = { 784 } }),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
end

local function compiled(model)
  model:compile { optimizer = "adam", loss = "categorical_crossentropy", metrics = { "accuracy" } }
  return model
end

local function learns(history, key)
  local losses = history.history[key or "loss"]
  is_true(losses[#losses] < losses[1], "the loss falls")
end

case("choose the GPU if there is one, and train there", function()
  local physical_devices = gb.config.list_physical_devices "GPU"
  local device = #physical_devices > 0 and "/GPU:0" or "/CPU:0"
  gb.device(device, function()
    local model = compiled(mlp())
    learns(model:fit(x_train, y_train, { epochs = 5, batch_size = 32 }))
  end)
end)

-- 26 examples in slices of 8: the last is cut, as Python cuts it.
case("accumulate gradients over slices of a batch", function()
  local function train_with_accumulation(model, x, y, accumulation_batch)
    local optimizer, loss_fn = gb.optimizers.SGD { learning_rate = 0.1 }, gb.losses.CategoricalCrossentropy()
    local accumulated, total
    for i = 1, #x, accumulation_batch do
      local x_batch, y_batch = x[{ i, i + accumulation_batch - 1 }], y[{ i, i + accumulation_batch - 1 }]
      local gradients
      gb.tape(function(tape)
        local predictions = model(x_batch, { training = true })
        local loss = loss_fn(y_batch, predictions) * (#x_batch / #x)
        total = total and total + loss or loss
        gradients = tape:gradient(loss, model.trainable_variables)
      end)
      if not accumulated then
        accumulated = gradients
      else
        for k, gradient in ipairs(gradients) do accumulated[k] = accumulated[k] + gradient end
      end
    end
    optimizer:apply_gradients(accumulated, model.trainable_variables)
    return total:item()
  end
  local model, x, y = mlp(), x_train[{ 1, 26 }], y_train[{ 1, 26 }]
  local first = train_with_accumulation(model, x, y, 8)
  testing.near(first, gb.losses.CategoricalCrossentropy()(y, mlp()(x)):item(), 2)
  is_true(train_with_accumulation(model, x, y, 8) < first, "the loss falls")
end)

case("an input pipeline that shuffles, maps in parallel, batches and prefetches", function()
  local function preprocess(image, label) return image / 255, label end
  local images, labels = digits("train", 640, { scaled = false })
  local dataset = gb.data.Dataset.from_tensor_slices { images:cast "float32", labels }
  dataset = dataset:shuffle { buffer_size = 10000 }
  dataset = dataset:map(preprocess, { num_parallel_calls = gb.data.AUTOTUNE })
  dataset = dataset:batch { batch_size = 32 }
  dataset = dataset:prefetch { buffer_size = gb.data.AUTOTUNE }
  learns(compiled(mlp()):fit(dataset, { epochs = 2 }))
end)

-- As one asks for memory growth in two of the documents.
local function grow_memory()
  local gpus = gb.config.list_physical_devices "GPU"
  if #gpus > 0 then
    local ok, e = pcall(function()
      for _, one in ipairs(gpus) do gb.config.set_memory_growth(one, true) end
      local logical_gpus = gb.config.list_logical_devices "GPU"
      print(#gpus .. " Physical GPUs, " .. #logical_gpus .. " Logical GPUs")
    end)
    if not ok then print(e) end
  end
end

case("memory growth on every GPU, and the error when a device is in use already", function()
  with_fresh_devices(function()
    gb.config.set_memory_growth("cpu:0", true)
    grow_memory()
  end)
  raises("set_memory_growth: the devices are already in use", gb.config.set_memory_growth, "cpu:0", true)
end)

case("memory growth again, before the model is made", function()
  with_fresh_devices(grow_memory)
  local model = compiled(mlp())
  learns(model:fit(x_train, y_train, { epochs = 2 }))
end)

case("the model on the GPU, preprocessing on the CPU", function()
  local data = gb.device("/CPU:0", function() return (x_train * 255) / 255 end)
  equal(data.device, "cpu:0")
  gb.device(gpu, function()
    local model = compiled(mlp())
    learns(model:fit(data, y_train, { epochs = 2, batch_size = 64 }))
  end)
end)

case("MirroredStrategy and fit", function()
  local strategy = gb.distribute.MirroredStrategy()
  print("Number of devices: " .. strategy.num_replicas_in_sync)
  local model = strategy:scope(function() return compiled(mlp()) end)
  learns(model:fit(x_train, y_train, { epochs = 2, batch_size = 64 }))
end)

case("a loop with a gradient tape over a dataset", function()
  local model = mlp()
  local optimizer, loss_fn = gb.optimizers.Adam(), gb.losses.CategoricalCrossentropy()
  local dataset = gb.data.Dataset.from_tensor_slices { x_train, y_train }:shuffle(1024):batch(64)
    :prefetch(gb.data.AUTOTUNE)
  local losses = {}
  for epoch = 1, 2 do
    for x_batch, y_batch in dataset do
      local loss, gradients
      gb.tape(function(tape)
        local predictions = model(x_batch, { training = true })
        loss = loss_fn(y_batch, predictions)
        gradients = tape:gradient(loss, model.trainable_variables)
      end)
      optimizer:apply_gradients(gradients, model.trainable_variables)
      losses[epoch] = loss:item()
    end
  end
  is_true(losses[2] < losses[1], "the loss falls")
end)

case("a compiled step that every replica runs on its part of a distributed batch", function()
  with_fresh_devices(function()
    if gpu == "/CPU:0" then gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 } }) end
  end)
  local strategy = gb.distribute.MirroredStrategy()
  local model, optimizer, loss_fn = strategy:scope(function()
    return mlp(), gb.optimizers.Adam(), gb.losses.CategoricalCrossentropy()
  end)
  local train_step = function(images, labels)
    local tape <close> = gb.tape()
    local predictions = model(images, { training = true })
    local loss = loss_fn(labels, predictions)
    local gradients = tape:gradient(loss, model.trainable_variables)
    optimizer:apply_gradients(gradients, model.trainable_variables)
    return loss
  end
  local dataset = gb.data.Dataset.from_tensor_slices { x_train, y_train }:batch(64)
  local dist_dataset = strategy:distribute(dataset)
  local losses = {}
  for images, labels in dist_dataset do
    local per_replica_loss = strategy:run(train_step, { images, labels })
    losses[#losses + 1] = strategy:reduce("mean", per_replica_loss):item()
  end
  is_true(#losses == 10 and losses[#losses] < losses[1], "the loss falls")
  raises("array expected, got a table with the key 'labels'", strategy.run, strategy, train_step,
    { x_train, labels = y_train })
  raises("argument 2 of the function: a Tensor or a PerReplica is expected, got string", strategy.run, strategy,
    train_step, { x_train, "labels" })
end)

local function cnn()
  return gb.Sequential {
    gb.layers.Conv2D(32, { 3, 3 }, { activation = "relu", input_shape = { 28, 28, 1 } }),
    gb.layers.MaxPooling2D { 2, 2 },
    gb.layers.Flatten(),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
end

case("a convolutional model, Adam(0.001) and early stopping", function()
  local images, labels = digits("train", 256, { flatten = false })
  local val_images, val_labels = digits("test", 100, { flatten = false })
  local model = cnn()
  local optimizer = gb.optimizers.Adam { learning_rate = 0.001 }
  model:compile { optimizer = optimizer, loss = "categorical_crossentropy", metrics = { "accuracy" } }
  local early_stopping = gb.callbacks.EarlyStopping { monitor = "val_loss", patience = 3, restore_best_weights = true }
  local history = model:fit(images, labels, {
    epochs = 3, batch_size = 64, validation_data = { val_images, val_labels }, callbacks = { early_stopping },
  })
  learns(history, "val_loss")
end)

case("two maps that augment, with AUTOTUNE", function()
  local images, labels = digits("train", 256, { flatten = false })
  local function flip(image, label) return gb.image.random_flip_left_right(image), label end
  local function brighten(image, label) return gb.image.random_brightness(image, 0.2), label end
  local dataset = gb.data.Dataset.from_tensor_slices { images, labels }
  dataset = dataset:map(flip, { num_parallel_calls = gb.data.AUTOTUNE })
  dataset = dataset:map(brighten, { num_parallel_calls = gb.data.AUTOTUNE })
  dataset = dataset:shuffle(1000):batch(32):prefetch(gb.data.AUTOTUNE)
  local model = compiled(cnn())
  learns(model:fit(dataset, { epochs = 3 }))
end)

case("mixed precision by a policy", function()
  raises('gb.config.set_dtype_policy("mixed_float16")',
    function() return gb.mixed_precision.Policy("mixed_float16") end)
  gb.config.set_dtype_policy "mixed_float16"
  local model = compiled(mlp())
  gb.config.set_dtype_policy "float32"
  learns(model:fit(x_train, y_train, { epochs = 2 }))
  equal(model.layers[#model.layers].dtype_policy, "mixed_float16")
end)

case("fit with a batch of 1", function()
  local model = compiled(mlp())
  local history = model:fit(x_train[{ 1, 64 }], y_train[{ 1, 64 }], { batch_size = 1, epochs = 2, verbose = 1 })
  learns(history)
end)

case("the square root of every row in a serial loop before training", function()
  local data = x_train[{ 1, 64 }] * 1
  local function preprocess_data(rows)
    for i = 1, #rows do rows[i] = rows[i]:sqrt() end
    return rows
  end
  local expected = data:sqrt():to_table()
  equal(testing.show(preprocess_data(data):to_table()), testing.show(expected))
  local count = 0
  for i, row in ipairs(data) do
    count = count + 1
    data[i] = row * row
  end
  equal(count, 64)
  is_true((data - x_train[{ 1, 64 }]):abs():max():item() < 1e-6, "the squares are the data again")
end)

case("three layers of 1024 and a limit of memory", function()
  with_fresh_devices(function() gb.config.set_memory_limit("cpu:0", 40 << 20) end)
  gb.device("/CPU:0", function()
    local model = compiled(gb.Sequential {
      gb.layers.Dense(1024, { activation = "relu", input_shape = { 784 } }),
      gb.layers.Dense(1024, { activation = "relu" }),
      gb.layers.Dense(1024, { activation = "relu" }),
      gb.layers.Dense(10, { activation = "softmax" }),
    })
    raises("out of memory: ", model.fit, model, x_train, y_train, { epochs = 1 })
  end)
end)
