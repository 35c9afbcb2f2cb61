-- Models that are tried whole: they learn in every type, eagerly and planned, and survive saving.
local gb = require "gpubench"
local testing = require "testing"
local thirds = require "thirds"

local layers = gb.layers
local learned_models = {}

local function made(body, options)
  gb.config.set_seed(3)
  local list = body()
  list[#list + 1] = layers.Dense(3, { activation = "softmax" })
  local model = gb.Sequential(list)
  options.optimizer = gb.optimizers.Adam { learning_rate = 0.02, epsilon = 1e-4 }
  options.loss, options.metrics = "sparse_categorical_crossentropy", { "accuracy" }
  model:compile(options)
  return model
end

-- models: by name, functions that make the layers in front of the last one, for the 12 numbers of `thirds`.
function learned_models.try(models)
  local inputs, labels = thirds.tensors(96)
  for name, body in pairs(models) do
    for _, policy in ipairs { "float32", "mixed_bfloat16" } do
      testing.case(name .. " learn in " .. policy, function()
        gb.config.set_dtype_policy(policy)
        local model = made(body, {})
        gb.config.set_dtype_policy "float32"
        model:fit(inputs, labels, { epochs = 25, batch_size = 16, verbose = 0 })
        testing.is_true(model:evaluate(inputs, labels).accuracy >= 0.9, "at least 90 % right")
      end)
    end
    testing.case(name .. ": eager and planned steps give the same", function()
      local losses = {}
      for _, eager in ipairs { false, true } do
        local history = made(body, { run_eagerly = eager }):fit(inputs, labels,
          { epochs = 2, batch_size = 32, verbose = 0 })
        losses[#losses + 1] = (history.loss or history.history.loss)[2]
      end
      testing.near(losses[1], losses[2], 1e-4)
    end)
    testing.case(name .. ": a saved model gives the same", function()
      local model = made(body, {})
      local before = model:predict(inputs):to_table()
      local path = gb._native.options.out .. "/results/models"
      model:save(path)
      local after = gb.load_model(path):predict(inputs):to_table()
      for row = 1, #before, 7 do
        for class = 1, 3 do testing.near(after[row][class], before[row][class], 1e-6) end
      end
    end)
  end
end

return learned_models
