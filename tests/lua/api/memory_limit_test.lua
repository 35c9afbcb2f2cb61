-- A device with a limit: running out leaves the program able to go on, and fit finds the batch that fits.
local gb = require "gpubench"
local testing = require "testing"

local MiB = 1 << 20
gb.config.set_memory_limit("cpu:0", 24 * MiB)

local function build(width)
  local model = gb.Sequential {
    gb.layers.Dense(width, { activation = "relu", input_shape = { 784 } }),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
  model:compile { optimizer = "adam", loss = "categorical_crossentropy" }
  return model
end

local digits = gb.datasets.mnist "train"

testing.case("memory that runs out anywhere is given back", function()
  local model = build(512)
  model:fit(digits:batch(32), { steps_per_epoch = 1, verbose = 0 })
  collectgarbage()
  local before = gb.config.memory_info().in_use
  local function fails(body)
    testing.raises("out of memory", body)
    collectgarbage()
    testing.is_true(gb.config.memory_info().in_use <= before, "all of it was given back")
  end
  fails(function() return gb.zeros { 8 * MiB } end)                                        -- a tensor
  fails(function() return build(16384) end)                                                -- weights
  fails(function() model:fit(digits:batch(8000), { steps_per_epoch = 1, verbose = 0 }) end)  -- a plan
  fails(function() model(gb.zeros { 6000, 784 }) end)                                      -- an op
  fails(function() return gb.compile(function(x) return (x:matmul(x:transpose())):sum() end)(gb.zeros { 2400, 2 }) end)
  model:fit(digits:batch(32), { steps_per_epoch = 1, verbose = 0 })
  testing.is_true(model:evaluate(digits:batch(32):take(2)).loss > 0, "the model goes on")
end)

testing.case("fit finds the batch that fits", function()
  local model = build(1024)
  local images, labels
  for x, y in digits:batch(4000):take(1):iter() do images, labels = x, y end
  images, labels = images:rows(1, 2000), labels:rows(1, 2000)
  collectgarbage()
  local losses = 0
  model:fit(images, labels,
    { batch_size = gb.AUTOTUNE, verbose = 0, callbacks = { { on_batch_end = function() losses = losses + 1 end } } })
  testing.is_true(losses >= 2, "not all examples fit at once")
  testing.is_true(gb.config.memory_info().peak <= 24 * MiB)
  testing.is_true(gb.config.memory_info().peak >= 21 * MiB, "but most of the memory was put to use")
end)

testing.case("what the pool has not taken from the device yet is told beside what is free", function()
  local kept = gb.zeros { 1024 }
  local ok, message = pcall(gb.zeros, { 1 << 25 })
  testing.is_true(not ok and kept ~= nil)
  testing.contains(tostring(message), "not taken from the device yet")
end)

testing.case("AUTOTUNE finds a batch that can be cut into parts", function()
  local model = gb.Sequential { gb.layers.Dense(3, { input_shape = { 20 } }) }
  model:compile { optimizer = "sgd", loss = "mean_squared_error", gradient_accumulation_steps = 3 }
  model:fit(gb.ones { 513, 20 }, gb.ones { 513, 3 }, { batch_size = gb.AUTOTUNE, verbose = 0 })
  testing.equal(gb.memory.report(model).step.total, model:memory(513).total)
  testing.raises("512 rows in batches of 510, the last one of 2, cannot be cut", model.fit, model, gb.ones { 512, 20 },
    gb.ones { 512, 3 }, { batch_size = gb.AUTOTUNE, verbose = 0 })
end)
