-- Operators, methods and functions on symbols, and Lambda: layers whose body is traced.
local gb = require "gpubench"
local testing = require "testing"
local case, equal, raises, near = testing.case, testing.equal, testing.raises, testing.near

local function values(tensor) return testing.show(tensor:to_table()) end
local x = gb.random.uniform({ 6, 4 }, { seed = 1 })

--- The model of a function of one symbol computes what the function computes of a tensor.
local function same(fn, example)
  local symbol = gb.Input { shape = { table.unpack(example.shape, 2) } }
  local model = gb.Model { inputs = symbol, outputs = fn(symbol) }
  equal(values(model(example)), values(fn(example)))
  return model
end

case("operators with numbers, symbols and tensors on both sides", function()
  local row = gb.tensor { 1, 2, 3, 4 }
  same(function(v) return v + v end, x)
  same(function(v) return v * 2 end, x)
  same(function(v) return 2 - v end, x)
  same(function(v) return -v / 3 end, x)
  same(function(v) return v ^ 2 end, x)
  same(function(v) return v * row end, x)
  same(function(v) return row - v end, x)
  same(function(v) return v % 2 + v // 3 end, x)
end)

case("methods and functions", function()
  same(function(v) return v:relu() end, x - 0.5)
  same(function(v) return v:mean(-1, true) end, x)
  same(function(v) return v:softmax():argmax() end, x)
  same(function(v) return v:reshape { -1, 2, 2 }:transpose { 0, 2, 1 } end, x)
  same(function(v) return gb.concat({ v, v * 2 }, 1) end, x)
  same(function(v) return gb.matmul(v, gb.ones { 4, 3 }) end, x)
  same(function(v) return v:matmul(gb.ones { 4, 3 }):clip(0, 2) end, x)
  same(function(v) return gb.where(v:gt(0.5), v, 0) end, x)
  same(function(v) return gb.stack({ v, v }, 1) end, x)
  same(function(v) return gb.pad(v, { { 0, 0 }, { 1, 1 } }) end, x)
end)

case("a symbol says its type", function()
  local symbol = gb.Input { shape = { 4, 3 } }
  local mean = symbol:mean(1)
  equal({ testing.show(mean.shape), mean.dtype }, { "{ 3 }", "float32" })
  equal(symbol:argmax(-1).dtype, "int64")
end)

case("layers made by operators have names and are saved", function()
  local input = gb.Input { shape = { 4 } }
  local hidden = gb.layers.Dense(4)(input):relu()
  local model = gb.Model { inputs = input, outputs = gb.layers.Dense(2)((hidden + input) * 0.5) }
  testing.contains(model:summary_text(), "relu (Lambda)")
  testing.contains(model:summary_text(), "add (Lambda)")
  local path = gb._native.options.out .. "/results/operators"
  model:save(path)
  equal(values(gb.load_model(path)(x)), values(model(x)))
end)

case("a model of operators trains as one of layers", function()
  local function build(residual)
    gb.config.set_seed(5)
    local input = gb.Input { shape = { 4 } }
    local hidden = gb.layers.Dense(4, { name = "hidden" })(input)
    local sum = residual(hidden, input)
    local model = gb.Model { inputs = input, outputs = gb.layers.Dense(2, { name = "out" })(sum) }
    model:compile { optimizer = "adam", loss = "mse" }
    return model
  end
  local y = gb.random.uniform({ 6, 2 }, { seed = 2 })
  local one = build(function(a, b) return (a + b):relu() end)
  local other = build(function(a, b) return gb.layers.Activation("relu")(gb.layers.Add() { a, b }) end)
  for _, model in ipairs { one, other } do model:fit(x, y, { epochs = 3, shuffle = false, verbose = 0 }) end
  for i, weight in ipairs(one:get_weights()) do equal(values(weight), values(other:get_weights()[i])) end
  equal(one:memory(6).total, other:memory(6).total)
end)

case("what cannot be a layer is refused, with the reason", function()
  local symbol = gb.Input { shape = { 4 } }
  raises("its result must keep the batch as the first dimension", function() return symbol:sum() end)
  raises("its result must keep the batch as the first dimension", function() return symbol:transpose() end)
  raises("no values yet", function() return symbol:item() end)
  raises("only variables", function() return symbol:assign(1) end)
  raises("matmul", function() return symbol:matmul(gb.ones { 3, 3 }) end)
  raises("no member 'rellu'", function() return symbol:rellu() end)
end)

case("Lambda: one input, several inputs, training", function()
  local double = gb.layers.Lambda(function(v) return v * 2 end)
  equal(values(double(x)), values(x * 2))
  local input = gb.Input { shape = { 4 } }
  local model = gb.Model { inputs = input,
    outputs = gb.layers.Lambda(function(v) return v[1] * v[2] end) { input, input + 1 } }
  equal(values(model(x)), values(x * (x + 1)))
  local noisy = gb.layers.Lambda(function(v, training) return training and v + 1 or v end)
  equal(values(noisy(x, { training = true })), values(x + 1))
  equal(values(noisy(x)), values(x))
  testing.contains(model:summary_text(), "lambda (Lambda)")
end)

case("Lambda draws other numbers in each training step", function()
  local noise = gb.layers.Lambda(function(v, training)
    return training and v + gb.random.uniform(v.shape) or v
  end)
  local first, second = noise(x, { training = true }), noise(x, { training = true })
  testing.is_true(values(first) ~= values(second))
end)

case("Lambda takes a compiled function and shapes with the batch", function()
  equal(values(gb.layers.Lambda(gb.compile(function(v) return v + 1 end))(x)), values(x + 1))
  local flat = gb.layers.Lambda(function(v) return v:reshape { v.shape[1], 2, 2 } end)
  equal(testing.show(flat(gb.Input { shape = { 4 } }).shape), "{ 2, 2 }")
end)

case("inside a compiled function and under a tape", function()
  local lambda = gb.layers.Lambda(function(v) return v:square() end)
  local compiled = gb.compile(function(v) return lambda(v):sum() end)
  near(compiled(x):item(), (x * x):sum():item(), 1e-5)
  local weight = gb.Variable { 1, 2, 3, 4 }
  local tape <close> = gb.tape()
  local loss = lambda(x * weight):sum()
  testing.is_true((tape:gradient(loss, weight) - (2 * x * x * weight):sum(0)):abs():max():item() < 1e-5)
end)

case("a function as an activation", function()
  local dense = gb.layers.Dense(3,
    { activation = function(v) return v:maximum(v * 0.1) end, kernel_initializer = "ones" })
  local z = x - 0.5
  equal(values(dense(z)), values(z:matmul(gb.ones { 4, 3 }):maximum(z:matmul(gb.ones { 4, 3 }) * 0.1)))
  equal(values(gb.layers.Activation(function(v) return v * v end)(x)), values(x * x))
  local image = gb.random.uniform({ 2, 5, 5, 3 }, { seed = 3 })
  local plain = gb.layers.DepthwiseConv2D(3, { depthwise_initializer = "ones" })
  local squared = gb.layers.DepthwiseConv2D(3,
    { depthwise_initializer = "ones", activation = function(v) return v * v end })
  equal(values(squared(image)), values(plain(image) * plain(image)))
  local shares = gb.layers.Dense(3,
    { activation = function(v) return v / v:sum(1, true) end, kernel_initializer = "ones" })
  local sums = shares(gb.random.uniform({ 2, 5, 4 }, { seed = 3 })):sum(1) -- over the steps of each sequence
  testing.near((sums - 1):abs():max():item(), 0, 1e-6)
  equal(testing.show(gb.layers.TimeDistributed(gb.layers.Dense(2))(gb.ones { 3, 5, 4 }).shape), "{ 3, 5, 2 }")
  raises("its activation must keep the shape", function()
    return gb.layers.Dense(3, { activation = function(v) return v:sum(-1, true) end })(x)
  end)
  raises("option 'rate' must be a number, got a function", gb.layers.Dropout, function() end)
end)

case("wrong results of a Lambda name the layer", function()
  local input = gb.Input { shape = { 4 } }
  local function lambda(fn) return function() return gb.layers.Lambda(fn, { name = "mine" })(input) end end
  raises("layer 'mine' (Lambda): its function returned nothing; a layer returns a tensor", lambda(function() end))
  raises("layer 'mine' (Lambda): the traced function returned a string as result 1", lambda(function() return "no" end))
  raises("its result must keep the batch", lambda(function() return 3 end))
  raises("no such thing", lambda(function() error("no such thing") end))
  raises("depends on the batch", lambda(function(v)
    return gb.zeros { v.shape[1], v.shape[1] } + v:sum(-1, true)
  end))
  local own
  own = gb.layers.Lambda(function(v) return own(v) end)
  raises("its function calls the layer itself", own, input)
end)

case("weights that would not be trained are refused", function()
  local weight = gb.Variable({ 1, 1, 1, 1 }, { name = "loose" })
  local model = gb.Sequential { gb.layers.Lambda(function(v) return v * weight end, { input_shape = { 4 } }),
    gb.layers.Dense(2) }
  model:compile { optimizer = "sgd", loss = "mse" }
  raises("reads 'loose', which is no weight of the model", model.fit, model, x, gb.zeros { 6, 2 }, { verbose = 0 })
end)

case("a Lambda is saved by name and needs its function again", function()
  local function fn(v) return v * 3 end
  local model = gb.Sequential { gb.layers.Lambda(fn, { input_shape = { 4 }, name = "triple" }), gb.layers.Dense(2) }
  local path = gb._native.options.out .. "/results/lambda"
  model:save(path)
  raises("layer 'triple' needs a function of the script that made it", gb.load_model, path)
  equal(values(gb.load_model(path, { custom_objects = { triple = fn } })(x)), values(model(x)))
  local tensor = gb.tensor { 1, 2, 3, 4 }
  local input = gb.Input { shape = { 4 } }
  local held = gb.Model { inputs = input, outputs = input * tensor }
  raises("holds a tensor of the script", held.save, held, path)
end)

for _, policy in ipairs { "mixed_bfloat16", "bfloat16" } do
  case("under " .. policy, function()
    gb.config.set_dtype_policy(policy)
    local input = gb.Input { shape = { 4 } }
    local hidden = gb.layers.Dense(4)(input)
    local model = gb.Model { inputs = input, outputs = gb.layers.Dense(2)((hidden * 2 + 1):relu()) }
    model:compile { optimizer = "sgd", loss = "mse" }
    model:fit(x, gb.zeros { 6, 2 }, { verbose = 0 })
    gb.config.set_dtype_policy("float32")
    equal((hidden * 2).dtype, "bfloat16")
  end)
end
