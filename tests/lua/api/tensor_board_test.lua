-- The event files that gb.callbacks.TensorBoard writes. tests/peers/board reads them by TensorBoard itself.
local gb = require "gpubench"
local events = require "events"
local testing = require "testing"
local equal, near, raises = testing.equal, testing.near, testing.raises

-- Another folder in each run of the test, whose files are counted.
local out = string.format("%s/results/board%d-%d/", gb._native.options.out, os.time(), math.floor(os.clock() * 1e6))
local x, y = gb.tensor { { 1 }, { 2 }, { 3 }, { 4 } }, gb.zeros { 4, 1 }

local function trained(board, options)
  local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 1 } }) }
  model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0.01 }, loss = "mse", metrics = { "mae" } }
  options = options or {}
  options.epochs, options.batch_size, options.verbose, options.callbacks = 2, 2, 0, { board }
  return model:fit(x, y, options).history, model
end

testing.case("figures of epochs go into train and validation", function()
  local history, model = trained(gb.callbacks.TensorBoard(out .. "epochs"), { validation_data = { x, y } })
  local train, files = events.read(out .. "epochs/train")
  local validation = events.read(out .. "epochs/validation")
  equal(files, 1)
  for epoch = 0, 1 do
    near(train["epoch_loss " .. epoch], history.loss[epoch + 1], 1e-5)
    near(train["epoch_mae " .. epoch], history.mae[epoch + 1], 1e-5)
    near(train["epoch_learning_rate " .. epoch], 0.01, 1e-8)
    near(validation["epoch_loss " .. epoch], history.val_loss[epoch + 1], 1e-5)
    near(validation["evaluation_mae_vs_iterations " .. (epoch + 1) * 2], history.val_mae[epoch + 1], 1e-5)
  end
  equal(train["batch_loss 1"], nil)
  model:evaluate(x, y, { callbacks = { gb.callbacks.TensorBoard { log_dir = out .. "evaluated" } } })
  testing.is_true(events.read(out .. "evaluated/validation")["evaluation_loss_vs_iterations 4"])
end)

testing.case("figures of batches are written after each, or each few", function()
  local losses = {}
  trained(gb.callbacks.TensorBoard(out .. "batches", { update_freq = "batch", write_steps_per_second = true }))
  local train = events.read(out .. "batches/train")
  for batch = 1, 4 do losses[batch] = train["batch_loss " .. batch] ~= nil end
  equal(losses, { true, true, true, true })
  testing.is_true(train["epoch_steps_per_second 1"] > 0 and train["batch_steps_per_second 3"] > 0)
  trained(gb.callbacks.TensorBoard(out .. "third", { update_freq = 3 }))
  train = events.read(out .. "third/train")
  equal({ train["batch_loss 2"] == nil, train["batch_loss 3"] ~= nil }, { true, true })
end)

testing.case("a fit that uses the callback again writes another file", function()
  local board = gb.callbacks.TensorBoard(out .. "again")
  trained(board)
  trained(board)
  local _, files = events.read(out .. "again/train")
  equal(files, 2)
end)

testing.case("what TensorBoard does not get is refused by name", function()
  local refused = { histogram_freq = 1, write_graph = true, write_images = true, embeddings_freq = 1,
    profile_batch = { 2, 4 } }
  for option, value in pairs(refused) do
    raises("option '" .. option .. "': TensorBoard gets scalars here;",
      function() gb.callbacks.TensorBoard(out .. "refused", { [option] = value }) end)
  end
  gb.callbacks.TensorBoard(out .. "off", { histogram_freq = 0, write_graph = false, profile_batch = 0 })
  for _, given in ipairs { 0, "step" } do
    raises("option 'update_freq': 'epoch', 'batch' or a number of batches from 1 is expected",
      function() gb.callbacks.TensorBoard(out .. "refused", { update_freq = given }) end)
  end
  raises("option 'log_dir': string expected, got table",
    function() gb.callbacks.TensorBoard({ log_dir = out }, { update_freq = 1 }) end)
end)
