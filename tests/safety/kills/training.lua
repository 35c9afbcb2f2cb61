-- A training that is saved after every step, with checkpoints, a log and records. Run again it goes on where it was:
-- what it finds must be whole.
local gb = require "gpubench"

local out <const> = "out/results/"
gb.experiment { name = "training", title = "A training that goes on", run = function()
  local built = gb.Sequential { gb.layers.Dense(64, { activation = "relu", input_shape = { 64 } }), gb.layers.Dense(8) }
  built:compile { optimizer = "adam", loss = "mse" }
  for epoch = 1, 6 do
    local folder = ("%scheckpoint_%02d"):format(out, epoch)
    local there = io.open(folder .. "/architecture.json")
    if there then
      there:close()
      assert(#gb.load_model(folder):get_weights() == 4, folder)
    end
  end
  local records = io.open(out .. "whole.tfrecord")
  if records then
    records:close()
    local count = 0
    for _ in gb.data.Dataset.tfrecord(out .. "whole.tfrecord"):iter() do count = count + 1 end
    assert(count == 50, "records")
  end
  local x, y = gb.random.uniform({ 64, 64 }, { seed = 1 }), gb.random.uniform({ 64, 8 }, { seed = 2 })
  print "begin training"
  io.stdout:flush()
  built:fit(x, y, { verbose = 0, batch_size = 16, epochs = 6, resume = out .. "state", save_steps = 1, callbacks = {
    gb.callbacks.ModelCheckpoint(out .. "checkpoint_{epoch}"),
    { on_epoch_end = function(epoch) print("epoch " .. epoch) io.stdout:flush() end },
  } })
  local writer = gb.data.tfrecord_writer(out .. "part.tfrecord")
  for i = 1, 50 do writer:write(gb.data.example { number = i }) end
  writer:close()
  assert(os.rename(out .. "part.tfrecord", out .. "whole.tfrecord"))
  return { v = 1.0 }
end }
