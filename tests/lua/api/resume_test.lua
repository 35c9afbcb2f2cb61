local gb = require "gpubench"
local testing = require "testing"

local function model()
  gb.config.set_seed(5)
  local made = gb.Sequential {
    gb.layers.Dense(8, { activation = "relu", input_shape = { 4 } }),
    gb.layers.Dropout(0.2),
    gb.layers.Dense(3, { activation = "softmax" }) }
  made:compile { optimizer = "adam", loss = "sparse_categorical_crossentropy" }
  return made
end

local function data()
  local examples = { types = { "float32[4]", "int64" }, count = 60, classes = 3, seed = 2 }
  local function jitter(x, label) return x + gb.random.uniform({ 4 }, { low = -0.1, high = 0.1, seed = 7 }), label end
  local parallel = { num_parallel_calls = 2 }
  return gb.data.Dataset.synthetic(examples):shuffle(60, { seed = 3 }):map(jitter, parallel):batch(8):prefetch(3)
end

local probe = gb.tensor { { 1, 2, 3, 4 } }

testing.case("an interrupted training goes on as if nothing had happened", function()
  local path = gb._native.options.out .. "/results/training.safetensors"
  os.remove(path)
  local whole = model()
  local losses = whole:fit(data(), { epochs = 3, verbose = 0 }).history.loss

  local steps = 0
  local power_cut = { on_batch_end = function()
    steps = steps + 1
    if steps == 13 then error "power cut" end
  end }
  local options = { epochs = 3, verbose = 0, resume = path, save_steps = 2 }
  testing.raises("power cut", function()
    model():fit(data(), { epochs = 3, verbose = 0, resume = path, save_steps = 2, callbacks = { power_cut } })
  end)
  local resumed = model()
  local history = resumed:fit(data(), options)
  testing.equal(history.epoch, { 2, 3 })
  testing.equal(history.history.loss, { losses[2], losses[3] })
  testing.equal(resumed(probe):to_table(), whole(probe):to_table())
end)

testing.case("where to save is checked", function()
  testing.raises("fit: save_steps of 2", function() model():fit(data(), { verbose = 0, save_steps = 2 }) end)
  testing.raises("fit", function() model():fit(data(), { verbose = 0, resume = "/tmp/outside/x" }) end)
end)
