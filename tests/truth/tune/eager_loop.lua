local gb = require "gpubench"
local slow_script = require "slow_script"
local small_model = require "small_model"

slow_script {
  name = "eager_loop", title = "A loop of the script that is not compiled", remedy = "compiled_step",
  run = function(is_mended)
    gb.config.set_logical_devices("cpu:0", { { threads = 1 } })
    local model, optimizer = small_model { width = 128, depth = 2 }, gb.optimizers.SGD {}
    local loss_of = gb.losses.CategoricalCrossentropy()
    local function step(images, labels)
      local tape <close> = gb.tape()
      local loss = loss_of(labels, model(images, { training = true }))
      optimizer:apply_gradients(tape:gradient(loss, model.trainable_variables), model.trainable_variables)
      return loss
    end
    local input = gb.datasets.mnist("train"):batch(128, { drop_remainder = true }):prefetch(gb.AUTOTUNE)
    return gb.measure.loop(is_mended and gb.compile(step) or step, input)
  end,
}
