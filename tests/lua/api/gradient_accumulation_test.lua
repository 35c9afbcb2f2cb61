-- Accumulation by an option of compile and in a loop written by hand: both give the update of the large batch.
local gb = require "gpubench"
local testing = require "testing"

local function digits(count)
  for images, labels in gb.datasets.mnist("train"):batch(count):take(1):iter() do return images, labels end
end

local function build(options)
  gb.config.set_seed(5)
  local model = gb.Sequential {
    gb.layers.Dense(16, { activation = "relu", input_shape = { 784 } }),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
  options = options or {}
  options.optimizer, options.loss = gb.optimizers.SGD { learning_rate = 0.5 }, "categorical_crossentropy"
  model:compile(options)
  return model
end

local function same_weights(a, b)
  for i, weights in ipairs(a:get_weights()) do
    testing.is_true((weights - b:get_weights()[i]):abs():max():item() < 1e-6, "weights " .. i)
  end
end

local images, labels = digits(64)

testing.case("a compiled step over four parts updates as the large batch", function()
  local whole, parts = build(), build { gradient_accumulation_steps = 4 }
  for _, model in ipairs { whole, parts } do
    model:fit(images, labels, { batch_size = 64, shuffle = false, verbose = 0 })
  end
  same_weights(whole, parts)
end)

testing.case("parts of a batch share one loss scale, and one update or none", function()
  local function narrow(parts)
    gb.config.set_dtype_policy "mixed_float16"
    local model = build { gradient_accumulation_steps = parts }
    gb.config.set_dtype_policy "float32"
    return model
  end
  local whole, parts = narrow(1), narrow(4)
  for _, model in ipairs { whole, parts } do
    local predicted = model:memory(64).total
    local history = model:fit(images, labels, { batch_size = 64, shuffle = false, verbose = 0 }).history
    testing.is_true(history.skipped_steps[1] == 0)
    testing.equal(gb.memory.report(model).step.total, predicted)
  end
  for i, weights in ipairs(whole:get_weights()) do
    testing.is_true((weights - parts:get_weights()[i]):abs():max():item() < 1e-4, "weights " .. i)
  end
end)

for _, compiled in ipairs { false, true } do
  testing.case("a loop over slices of a batch does too, " .. (compiled and "compiled" or "eager"), function()
    local whole, parts = build(), build()
    whole:fit(images, labels, { batch_size = 64, shuffle = false, verbose = 0 })
    local loss_fn, optimizer = gb.losses.CategoricalCrossentropy(), gb.optimizers.SGD { learning_rate = 0.5 }
    local steps, size = 4, 16
    local function step(x, y)
      local sums
      for first = 1, #x, size do
        local last = first + size - 1
        local tape <close> = gb.tape()
        local loss = loss_fn(y:rows(first, last), parts(x:rows(first, last), { training = true }))
        local gradients = tape:gradient(loss / steps, parts.trainable_variables)
        for i, gradient in ipairs(gradients) do gradients[i] = sums and sums[i] + gradient or gradient end
        sums = gradients
      end
      optimizer:apply_gradients(sums, parts.trainable_variables)
      return sums[1]:sum()
    end
    if compiled then step = gb.compile(step) end
    step(images, labels)
    same_weights(whole, parts)
    testing.equal(optimizer.iterations, 1)
  end)
end

testing.case("measuring names the parts; a whole batch has no such column", function()
  local data = gb.datasets.mnist("train"):batch(64)
  local options = { budget = 0.05, min_time = 0.01 }
  testing.equal(gb.measure.training(build { gradient_accumulation_steps = 4 }, data,
    options).gradient_accumulation_steps, 4)
  testing.equal(gb.measure.training(build(), data, options).gradient_accumulation_steps, nil)
end)

testing.case("parts that cannot be are refused", function()
  testing.raises("option 'gradient_accumulation_steps': at least 1 is expected, got 0", build,
    { gradient_accumulation_steps = 0 })
  local model = build { gradient_accumulation_steps = 3 }
  testing.raises("64 rows in batches of 64 cannot be cut into gradient_accumulation_steps = 3 equal parts",
    model.fit, model, images, labels, { batch_size = 64, verbose = 0 })
end)

testing.case("rows that leave an uneven last batch are told before the first step", function()
  local model = gb.Sequential { gb.layers.Dense(3, { input_shape = { 20 } }) }
  model:compile { optimizer = "sgd", loss = "mean_squared_error", gradient_accumulation_steps = 4 }
  local before = model:get_weights()
  testing.raises("501 rows in batches of 32, the last one of 21, cannot be cut into gradient_accumulation_steps = 4",
    model.fit, model, gb.ones { 501, 20 }, gb.ones { 501, 3 }, { batch_size = 32, verbose = 0 })
  for i, weight in ipairs(model:get_weights()) do testing.equal(weight:to_table(), before[i]:to_table()) end
end)
