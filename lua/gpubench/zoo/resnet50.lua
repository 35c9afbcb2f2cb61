-- He, Zhang, Ren, Sun: Deep Residual Learning for Image Recognition, 2015. 25 557 032 parameters.
local resnet = require "gpubench.zoo.resnet"

return {
  defaults = { input_shape = { 224, 224, 3 }, classes = 1000, width = 64, blocks = { 3, 4, 6, 3 } },
  build = function(options) return resnet.build("resnet50", resnet.bottleneck, 4, options) end,
}
