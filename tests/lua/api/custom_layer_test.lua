-- gb.layers.custom: layers of a script with weights of their own.
local gb = require "gpubench"
local testing = require "testing"
local case, equal, raises = testing.case, testing.equal, testing.raises

gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 } })

local function values(tensor) return testing.show(tensor:to_table()) end
local x, y = gb.random.uniform({ 8, 4 }, { seed = 1 }), gb.random.uniform({ 8, 3 }, { seed = 2 })

local function linear(units, options)
  options = options or {}
  return gb.layers.custom {
    name = options.name, trainable = options.trainable, input_shape = options.input_shape,
    build = function(self, shape)
      self.kernel = self:add_weight { name = "kernel", shape = { shape[1], units } }
      self.bias = self:add_weight { name = "bias", shape = { units }, initializer = "zeros" }
    end,
    call = function(self, v) return v:matmul(self.kernel) + self.bias end,
  }
end

local function two_layers(make, options)
  gb.config.set_seed(7)
  local model = gb.Sequential { make(5, { name = "first", input_shape = { 4 } }), make(3, { name = "last" }) }
  options = options or {}
  options.optimizer, options.loss = "adam", "mse"
  model:compile(options)
  return model
end

for _, options in ipairs { {}, { execution = "eager" }, { gradient_accumulation_steps = 2 },
    { recompute = { "first" } } } do
  case("trains as Dense does, " .. testing.show(options), function()
    local function copy() local all = {} for k, v in pairs(options) do all[k] = v end return all end
    local own = two_layers(linear, copy())
    local dense = two_layers(gb.layers.Dense, copy())
    equal(own:count_params(), 4 * 5 + 5 + 5 * 3 + 3)
    for _, model in ipairs { own, dense } do
      model:fit(x, y, { epochs = 2, batch_size = 8, shuffle = false, verbose = 0 })
    end
    for i, weight in ipairs(own:get_weights()) do
      testing.is_true((weight - dense:get_weights()[i]):abs():max():item() < 1e-6)
    end
  end)
end

case("called on tensors, with names of its weights, frozen", function()
  local layer = linear(3, { name = "mine" })
  equal(testing.show(layer(x).shape), "{ 8, 3 }")
  equal({ layer.kind, #layer.variables, layer.variables[1].name }, { "custom", 2, "mine/kernel" })
  layer.trainable = false
  local model = gb.Sequential { layer, gb.layers.Dense(3) }
  model(x)
  equal(#model.trainable_variables, 2)
  raises("its weights were built for", layer, gb.zeros { 8, 5 })
end)

case("statistics are assigned in training", function()
  local counter = gb.layers.custom {
    build = function(self)
      self.calls = self:add_weight { name = "calls", shape = {}, initializer = "zeros", trainable = false }
    end,
    call = function(self, v, training)
      if training then self.calls:assign_add(1) end
      return v
    end,
  }
  local model = gb.Sequential { counter, gb.layers.Dense(3) }
  model:compile { optimizer = "sgd", loss = "mse" }
  model:fit(x, y, { batch_size = 2, verbose = 0 })
  equal(counter.variables[1]:item(), 4.0)
  equal(#model.trainable_variables, 2)
end)

case("layers inside belong to it", function()
  local function block()
    return gb.layers.custom {
      name = "block",
      build = function(self, shape)
        self.dense = gb.layers.Dense(shape[1], { activation = "relu" })
        self.rest = { gb.layers.Dropout(0.5), gb.layers.BatchNormalization() }
      end,
      call = function(self, v, training)
        local hidden = self.rest[1](self.dense(v), { training = training })
        return v + self.rest[2](hidden, { training = training })
      end,
    }
  end
  local layer = block()
  local model = gb.Sequential { layer, gb.layers.Dense(3) }
  model:compile { optimizer = "adam", loss = "mse", recompute = { "block" } }
  local before = model:fit(x, y, { epochs = 20, verbose = 0 }).history.loss
  testing.is_true(before[20] < before[1])
  local names = {}
  for i, variable in ipairs(layer.variables) do names[i] = variable.name end
  equal(testing.show(names),
    testing.show { "block/dense/kernel", "block/dense/bias", "block/rest_2/gamma", "block/rest_2/beta",
    "block/rest_2/moving_mean", "block/rest_2/moving_variance" })
  equal(model:count_params { trainable = false }, 8)
  local path = gb._native.options.out .. "/results/block"
  model:save(path)
  raises("a layer that gb.layers.custom makes", gb.load_model, path)
  local again = gb.load_model(path, { custom_objects = { block = block() } })
  equal(values(again(x)), values(model(x)))
  layer.trainable = false
  equal(#model.trainable_variables, 2)
end)

case("layers inside are in the order in which they are made", function()
  local before = gb.layers.Dense(4)
  local layer = gb.layers.custom {
    name = "block",
    build = function(self)
      self.blocks = {}
      self.z, self.y, self.x = gb.layers.Dense(4), gb.layers.Dense(4), before
      self.x_again = self.x
      for i = 1, 2 do self.blocks[i] = gb.layers.Dense(4) end
      self.both = gb.Sequential { gb.layers.Dense(4), gb.layers.Dense(4) }
      rawset(self, "a", gb.layers.Dense(4))
    end,
    call = function(self, v)
      for _, name in ipairs { "x", "y", "z", "a", "both" } do v = self[name](v) end
      return self.blocks[2](self.blocks[1](v))
    end,
  }
  gb.Sequential { gb.layers.Dense(4, { input_shape = { 4 } }), layer }
  local names = {}
  for i = 1, #layer.variables, 2 do names[#names + 1] = layer.variables[i].name:match "block/(.+)/kernel" end
  equal(table.concat(names, " "), "x z y blocks_1 blocks_2 both_1 both_2 a")
end)

case("under a mixed policy its weights are cast where they are read", function()
  gb.config.set_dtype_policy("mixed_bfloat16")
  local layer = linear(3)
  local model = gb.Sequential { layer, gb.layers.Dense(3) }
  model:compile { optimizer = "sgd", loss = "mse" }
  model:fit(x, y, { verbose = 0 })
  gb.config.set_dtype_policy("float32")
  equal({ layer(x).dtype, layer.variables[1].dtype }, { "bfloat16", "float32" })
end)

case("replicas share its weights", function()
  gb.config.set_seed(1)
  local function train(scope)
    gb.config.set_seed(3)
    local model
    scope(function()
      model = two_layers(linear)
    end)
    model:fit(x, y, { batch_size = 8, shuffle = false, verbose = 0 })
    return model:get_weights()
  end
  local alone = train(function(make) make() end)
  local strategy = gb.distribute.MirroredStrategy { devices = { "cpu:0", "cpu:1" } }
  local both = train(function(make) strategy:scope(make) end)
  for i, weight in ipairs(alone) do testing.is_true((weight - both[i]):abs():max():item() < 1e-5) end
end)

case("its activations are offloaded, and its flops are counted", function()
  local function train(offload)
    return gb.device("cpu:1", function()
      gb.config.set_seed(8)
      local layers = {}
      for i = 1, 6 do layers[i] = linear(64, { name = "hidden_" .. i, input_shape = i == 1 and { 64 } or nil }) end
      local model = gb.Sequential(layers)
      model:compile { optimizer = "sgd", loss = "mse", offload = offload }
      model:fit(gb.ones { 256, 64 }, gb.zeros { 256, 64 }, { batch_size = 256, verbose = 0 })
      return model
    end)
  end
  local kept, moved = train(false), train(true)
  testing.is_true(moved:memory(256).offloaded > 0)
  for i, weight in ipairs(kept:get_weights()) do equal(values(weight), values(moved:get_weights()[i])) end
  local batches = gb.data.Dataset.from_tensor_slices({ gb.ones { 256, 64 }, gb.zeros { 256, 64 } })
    :batch(256):repeated()
  local row = gb.measure.training(kept, batches, { budget = 0.05, min_time = 0.01 })
  local products = 2 * 256 * 64 * 64 * (6 + 5 + 6)  -- forward, gradients of inputs but the first, gradients of kernels
  testing.is_true(row.flops_per_step >= products and row.flops_per_step < 1.1 * products)
end)

case("what goes wrong names the layer", function()
  local function custom(functions)
    functions.name = "mine"
    return function() return gb.layers.custom(functions)(gb.Input { shape = { 4 } }) end
  end
  local function identity(_, v) return v end
  raises("layer 'mine' (custom): its function returned nothing", custom { call = function() end })
  raises("returned a string as result 1", custom { call = function() return "x" end })
  raises("build is broken", custom { build = function() error("build is broken") end, call = identity })
  raises("two weights are named 'w'", custom {
    build = function(self)
      self:add_weight { name = "w", shape = { 2 } }
      self:add_weight { name = "w", shape = { 2 } }
    end,
    call = identity,
  })
  raises("must list positive sizes",
    custom { build = function(self) self:add_weight { shape = { 0 } } end, call = identity })
  raises("unknown initializer", custom {
    build = function(self) self:add_weight { shape = { 2 }, initializer = "nosuch" } end, call = identity,
  })
  raises("weights are made in the build function", custom { call = function(self, v)
    self:add_weight { shape = { 4 } }
    return v
  end })
  raises("'call'", gb.layers.custom, { build = function() end })
  local used = gb.layers.Dense(4)
  used(x)
  local layer = gb.layers.custom { build = function(self) self.used = used end,
    call = function(self, v) return self.used(v) end }
  raises("is a layer that has weights already", layer, x)
end)
