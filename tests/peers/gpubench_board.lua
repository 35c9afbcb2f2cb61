-- Trains with gb.callbacks.TensorBoard and prints the history, for tests/peers/board.
local gb = require "gpubench"

local x, y = gb.random.normal { 40, 3 }, gb.random.normal { 40, 1 }
local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 3 } }) }
model:compile { optimizer = "sgd", loss = "mse", metrics = { "mae" } }
local losses = {}
local history = model:fit(x, y, { epochs = 3, batch_size = 8, verbose = 0, validation_split = 0.2, callbacks = {
  gb.callbacks.TensorBoard(gb._native.options.out .. "/results/logs", { update_freq = "batch" }),
  { on_batch_end = function(_, logs) losses[#losses + 1] = logs.loss end },
} }).history

local function list(numbers)
  local texts = {}
  for index, number in ipairs(numbers) do texts[index] = string.format("%.9g", number) end
  return "[" .. table.concat(texts, ", ") .. "]"
end
print(string.format('{"loss": %s, "mae": %s, "val_loss": %s, "batches": %s}', list(history.loss), list(history.mae),
  list(history.val_loss), list(losses)))
