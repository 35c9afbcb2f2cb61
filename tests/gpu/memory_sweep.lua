-- A sweep whose second point does not fit: run by gpu_check, which reads its rows.
local gb = require "gpubench"

gb.experiment {
  name = "gpu_check_memory",
  title = "A sweep goes on after a point that does not fit",
  axes = { gb.axis("width", { 32, 4096, 48 }) },
  run = function(point)
    gb.config.set_memory_limit("gpu:0", 32 << 20)
    return gb.device("gpu:0", function()
      local model = gb.Sequential {
        gb.layers.Dense(point.width, { activation = "relu", input_shape = { 784 } }),
        gb.layers.Dense(10, { activation = "softmax" }),
      }
      model:compile { optimizer = "adam", loss = "categorical_crossentropy" }
      return gb.measure.training(model, gb.datasets.mnist("test"):take(64):batch(16), { budget = 0.05, min_time = 0.01,
        warmup = 0.02, trace = false })
    end)
  end,
}
