local gb = require "gpubench"
local slow_script = require "slow_script"
local small_model = require "small_model"

slow_script {
  name = "loss_each_step", title = "Every step waits for its loss", remedy = "fewer_synchronizations",
  run = function(is_mended)
    gb.config.set_logical_devices("cpu:0", { { threads = 1 } })
    local model, optimizer = small_model { width = 256 }, gb.optimizers.SGD {}
    local loss_of = gb.losses.CategoricalCrossentropy()
    local step = gb.compile(function(images, labels)
      local tape <close> = gb.tape()
      local loss = loss_of(labels, model(images, { training = true }))
      optimizer:apply_gradients(tape:gradient(loss, model.trainable_variables), model.trainable_variables)
      return loss
    end)
    local total, count = 0, 0
    local input = gb.datasets.mnist("train"):batch(64, { drop_remainder = true }):prefetch(gb.AUTOTUNE)
    return gb.measure.loop(function(images, labels)
      local loss = step(images, labels)
      count = count + 1
      if not is_mended or count % 100 == 0 then
        for _, weights in ipairs(model.trainable_variables) do total = total + weights:square():sum():item() end
      end
      return loss
    end, input)
  end,
}
