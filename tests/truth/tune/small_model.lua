-- A model for digits on one thread, so that a second core is left to the pipeline.
local gb = require "gpubench"

-- options: { width, depth = 1, execution = "graph" }
return function(options)
  local layers = { gb.layers.Dense(options.width, { activation = "relu", input_shape = { 784 } }) }
  for _ = 2, options.depth or 1 do layers[#layers + 1] = gb.layers.Dense(options.width, { activation = "relu" }) end
  layers[#layers + 1] = gb.layers.Dense(10, { activation = "softmax" })
  local model = gb.Sequential(layers)
  model:compile { optimizer = "sgd", loss = "categorical_crossentropy", execution = options.execution or "graph" }
  return model
end
