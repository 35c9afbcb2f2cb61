-- Trains one model for a moment and prints the bytes of its plans and of the digits, for tests/peers/memory.
local gb = require "gpubench"
local models = require "models"

local batch_size = math.tointeger(os.getenv "PEERS_BATCH" or "32")
local model = models.build(os.getenv "PEERS_MODEL" or "M1")
local digits = gb.datasets.mnist("train")
local row = gb.measure.training(model, digits:shuffle(10000):batch(batch_size):prefetch(gb.AUTOTUNE))
local bytes_of_example = (784 + 10) * 4
print(string.format('{"peak_memory_bytes": %d, "data_bytes": %d}', row.peak_memory_bytes,
  digits.size * bytes_of_example))
