-- Simonyan, Zisserman: Very Deep Convolutional Networks for Large-Scale Image Recognition, 2014: configuration D.
-- 138 357 544 parameters. Layers are named as in Keras.
local gb = require "gpubench.native"

return {
  defaults = { input_shape = { 224, 224, 3 }, classes = 1000, width = 64, units = 4096, blocks = { 2, 2, 3, 3, 3 },
    dropout = 0.5 },
  build = function(options)
    local input = gb.Input(options.input_shape)
    local x = input
    for stage, convolutions in ipairs(options.blocks) do
      local filters = options.width << math.min(stage - 1, 3)
      for i = 1, convolutions do
        x = gb.layers.Conv2D(filters, 3, { padding = "same", activation = "relu", kernel_initializer = "he_normal",
          name = string.format("block%d_conv%d", stage, i) })(x)
      end
      x = gb.layers.MaxPooling2D(2)(x)
    end
    x = gb.layers.Flatten()(x)
    for i = 1, 2 do
      x = gb.layers.Dense(options.units, { activation = "relu", kernel_initializer = "he_normal", name = "fc" .. i })(x)
      if options.dropout > 0 then x = gb.layers.Dropout(options.dropout)(x) end
    end
    local logits = gb.layers.Dense(options.classes, { name = "classes", dtype = "float32" })(x)
    return gb.Model { inputs = input, outputs = logits, name = "vgg16" }
  end,
}
