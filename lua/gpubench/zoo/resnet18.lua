-- He, Zhang, Ren, Sun: Deep Residual Learning for Image Recognition, 2015. 11 689 512 parameters.
local resnet = require "gpubench.zoo.resnet"

return {
  defaults = { input_shape = { 224, 224, 3 }, classes = 1000, width = 64, blocks = { 2, 2, 2, 2 } },
  build = function(options) return resnet.build("resnet18", resnet.basic, 1, options) end,
}
