-- Trains one model for some epochs and prints its test accuracy, for tests/peers/accuracy.
local gb = require "gpubench"
local models = require "models"

local batch_size = math.tointeger(os.getenv "PEERS_BATCH" or "32")
local seed = math.tointeger(os.getenv "PEERS_SEED_OF_SHUFFLE" or "1")
gb.config.set_dtype_policy(os.getenv "PEERS_POLICY" or "float32")
local model = models.build(os.getenv "PEERS_MODEL" or "M1")

-- A window over all examples shuffles as Keras does with arrays.
local train = gb.datasets.mnist("train"):shuffle(60000, { seed = seed }):batch(batch_size):prefetch(gb.AUTOTUNE)
model:fit(train, { epochs = math.tointeger(os.getenv "PEERS_EPOCHS" or "5"), verbose = 0 })
local result = model:evaluate(gb.datasets.mnist("test"):batch(500))
print(string.format('{"system": "gpubench", "loss": %.6f, "accuracy": %.6f}', result.loss, result.accuracy))
