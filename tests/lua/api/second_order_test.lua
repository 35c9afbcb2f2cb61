-- Gradients of gradients: those of differences of values, or an error that names the op; the same eagerly and compiled.
local gb = require "gpubench"
local testing = require "testing"

local steps <const> = 1e-2
local near <const> = 0.03

-- Of a function of one tensor to a tensor: the gradient of sum(w f(x)) and of the sum of its squares.
local function penalty(f)
  return function(x)
    local inner <close> = gb.tape()
    local y = f(x)
    local size = 1
    for _, extent in ipairs(y.shape) do size = size * extent end
    local weights = gb.arange(size):cast "float32":reshape(y.shape) * 0.1 + 0.5
    local gradient = inner:gradient((y * weights):sum(), x)
    return gradient:square():sum()
  end
end
local function second(f)
  local square = penalty(f)
  return function(x)
    local outer <close> = gb.tape()
    -- A product with 1, so that the source is a value of the tape.
    local source = x * 1
    return outer:gradient(square(source), source)
  end
end
local function by_differences(f, x)
  local square = penalty(f)
  local values, result = x:reshape { -1 }:to_table(), {}
  local function at(k, change)
    local moved = { table.unpack(values) }
    moved[k] = moved[k] + change
    return square(gb.tensor(moved):reshape(x.shape)):item()
  end
  for k = 1, #values do result[k] = (at(k, steps) - at(k, -steps)) / (2 * steps) end
  return result
end

local dense = gb.random.normal({ 4, 3 }, { seed = 5 }) * 0.5
local indices = gb.tensor({ 2, 0, 1, 0 }, { dtype = "int64" })
local labels = gb.tensor({ { 0, 1, 0, 0 }, { 0.5, 0, 0.5, 0 }, { 0, 0, 0, 1 } })
local classes = gb.tensor({ 1, 0, 3 }, { dtype = "int64" })
local image = { 1, 4, 4, 1 }
local matrix = { 3, 4 }
local places = gb.tensor({ { 2, 1 }, { 0, 3 }, { 2, 1 } }, { dtype = "int64" })
local columns = gb.tensor({ { 3, 0 }, { 1, 1 }, { 2, 3 } }, { dtype = "int64" })
local first_row, corner = gb.tensor(1, { dtype = "int64" }), gb.tensor({ 0, 2 }, { dtype = "int32" })
local functions = {
  neg = function(x) return -x * x end, abs = function(x) return x:abs() * x end,
  square = function(x) return x:square() end,
  sqrt = function(x) return (x:square() + 1):sqrt() end, rsqrt = function(x) return (x:square() + 1):rsqrt() end,
  exp = function(x) return x:exp() end, log = function(x) return (x:square() + 1):log() end,
  expm1 = function(x) return x:expm1() end, log1p = function(x) return x:square():log1p() end,
  sin = function(x) return x:sin() end, cos = function(x) return (x * 2):cos() end,
  tan = function(x) return (x * 0.4):tan() end, arctan = function(x) return x:arctan() end,
  power = function(x) return (x:abs() + 0.5):pow(2.5) end,
  relu = function(x) return x:relu():square() end, sigmoid = function(x) return x:sigmoid() end,
  tanh = function(x) return x:tanh() end, erf = function(x) return x:erf() end, silu = function(x) return x:silu() end,
  gelu = function(x) return x:gelu() end, gelu_tanh = function(x) return x:gelu(true) end,
  softmax = function(x) return x:softmax() end, log_softmax = function(x) return x:log_softmax() end,
  add = function(x) return x + x * x end, sub = function(x) return x - x * x end,
  mul = function(x) return x * x:tanh() end,
  div = function(x) return x / (x:square() + 1) end, pow = function(x) return (x:abs() + 0.5) ^ 3 end,
  exponent = function(x) return gb.full(matrix, 2.0) ^ x end,
  maximum = function(x) return x:maximum(x * 0.2):square() end,
  minimum = function(x) return x:minimum(x * 0.2):square() end,
  clip = function(x) return x:clip(-0.5, 0.5):square() end,
  where = function(x) return gb.where(x:gt(0), x:square(), x) end,
  sum = function(x) return x:square():sum(1) end, mean = function(x) return x:square():mean(-1) end,
  max = function(x) return x:square():max(1) end, min = function(x) return x:square():min(-1) end,
  variance = function(x) return x:variance(-1) end, std = function(x) return x:std(1) end,
  cumsum = function(x) return x:square():cumsum(1) end, reshape = function(x) return x:reshape { 2, 6 }:square() end,
  transpose = function(x) return x:transpose():square() end,
  slice = function(x) return x[{ { 1, 2 }, { 2, 3 } }]:square() end,
  concat = function(x) return gb.concat({ x, x:square() }, 1) end, broadcast = function(x) return x[1] * x end,
  broadcast_to = function(x) return x:broadcast_to({ 2, 3, 4 }):square() end,
  split = function(x) return x:split(2, 1)[2]:square() * x:split({ 2 }, 1)[1] end,
  unstack = function(x) return x:unstack(0)[2]:square() * x:unstack(0)[3] end,
  roll = function(x) return x:roll(1, 1) * x:square() end,
  repeated = function(x) return x:repeated(2, 1):square() end,
  repeated_each = function(x) return x:repeated({ 2, 0, 1 }, 0):square() end,
  prod = function(x) return x:prod(1) end, prod_of_all = function(x) return (x * 1.3):prod():reshape { 1 } end,
  cumprod = function(x) return x:cumprod(1) end, cumprod_reverse = function(x) return x:cumprod(0, true) end,
  logsumexp = function(x) return x:logsumexp(-1) end,
  tril = function(x) return x:tril(1):square() end, triu = function(x) return x:triu():square() end,
  reflect = function(x) return gb.pad(x, { { 1, 2 }, { 0, 3 } }, "reflect"):square() end,
  symmetric = function(x) return gb.pad(x, { { 1, 0 }, { 2, 4 } }, "symmetric"):square() end,
  sort = function(x) return x:sort() * x end, sort_rows = function(x) return x:sort(0):square() end,
  top_k = function(x) return (x:top_k(2)):square() end,
  moving_slice = function(x) return x:slice({ first_row, 1 }, { 2, 2 }):square() end,
  slice_by_vector = function(x) return x:slice(corner, { 2, 2 }):square() end,
  slice_update = function(x) return x:slice_update({ first_row, 1 }, x[{ { 1, 2 }, { 3, 4 } }]:square()):square() end,
  scatter = function(x) return gb.scatter(places, x[{ {}, { 2 } }]:reshape { 3 }:square(), { 3, 4 }):square() end,
  scatter_update = function(x) return x:scatter_update(places, x[{ {}, { 1 } }]:reshape { 3 }:square()):square() end,
  take_along_axis = function(x) return x:take_along_axis(columns, 1):square() end,
  einsum = function(x) return gb.einsum("ij,kj,jl->ikl", x, x:square(), dense) end,
  einsum_elements = function(x) return gb.einsum("ij,ij->j", x, x:square()) end,
  reverse = function(x) return x:reverse(1):square() end, tile = function(x) return x:tile { 2, 1 }:square() end,
  gather = function(x) return x:gather(indices):square() end,
  matmul = function(x) return x:matmul(dense):tanh() end, product = function(x) return x:matmul(x:transpose()) end,
  floor = function(x) return x:floor() * x:square() end, round = function(x) return x:round() * x:square() end,
  cast = function(x) return x:cast "float32":square() end,
  leaky_relu = function(x) return gb.layers.LeakyReLU()(x):square() end,
  elu = function(x) return gb.layers.ELU()(x) end,
  softplus = function(x) return gb.layers.Activation("softplus")(x) end,
  softmax_crossentropy = function(x) return gb.losses.CategoricalCrossentropy { from_logits = true }(labels, x) end,
  sparse_crossentropy = function(x)
    return gb.losses.SparseCategoricalCrossentropy { from_logits = true }(classes, x)
  end,
  binary_crossentropy = function(x) return gb.losses.BinaryCrossentropy { from_logits = true }(labels, x) end,
  resize = function(x) return gb.image.resize(x:reshape(image), { 7, 3 }):square() end,
  resize_nearest = function(x) return gb.image.resize(x:reshape(image), { 7, 3 }, { method = "nearest" }):square() end,
  average_pool = function(x) return gb.layers.AveragePooling2D(2)(x:reshape(image)):square() end,
  batch_norm = function(x) return gb.layers.BatchNormalization()(x):square() end,
  layer_norm = function(x) return gb.layers.LayerNormalization()(x) end,
  max_pool = function(x) return gb.layers.MaxPooling2D(2)(x:reshape(image)):square() end,
  attention = function(x)
    return gb.dot_product_attention(x:reshape { 1, 3, 1, 4 }, x:reshape { 1, 3, 1, 4 }, x:reshape { 1, 3, 1, 4 })
  end,
}
-- Those that have no rule, and so say it.
local refused = {
  layer_norm = "layer_norm_gradient", max_pool = "max_pool2d_gradient", attention = "attention_gradient",
  batch_norm = "batch_norm_inference_gradient", binary_crossentropy = "binary_cross_entropy_gradient",
  softmax_crossentropy = "softmax_cross_entropy_gradient",
  sparse_crossentropy = "sparse_softmax_cross_entropy_gradient",
}
local of_images = { resize = true, resize_nearest = true, average_pool = true, max_pool = true }

local names = {}
for name in pairs(functions) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  testing.case("second order of " .. name, function()
    local f = functions[name]
    local x = gb.random.normal(of_images[name] and { 16 } or matrix, { seed = 7 })
    local eager, compiled = second(f), gb.compile(second(f))
    if refused[name] then
      for _, one in ipairs { eager, compiled } do
        testing.raises(("'%s'"):format(refused[name]), one, x)
        testing.raises("has no rule for the gradient of its input", one, x)
      end
      return
    end
    local expected = by_differences(f, x)
    for kind, result in pairs { eager = eager(x), compiled = compiled(x) } do
      for k, value in ipairs(result:reshape { -1 }:to_table()) do
        local apart = math.abs(value - expected[k]) / math.max(1, math.abs(expected[k]))
        testing.is_true(apart < near,
          ("%s, element %d: %g by the tape, %g by differences"):format(kind, k, value, expected[k]))
      end
    end
  end)
end

testing.case("the case of the review: nested tapes of variables, eagerly and compiled", function()
  local function step(x)
    local outer <close> = gb.tape()
    local source = x * 1
    local steepness
    do
      local inner <close> = gb.tape()
      steepness = inner:gradient((source ^ 3):sum(), source):square():sum()
    end
    return outer:gradient(source:square():sum() + steepness, source)
  end
  local x = gb.tensor { 1.0, 2.0, 3.0 }
  testing.equal(step(x):to_table(), { 38.0, 292.0, 978.0 })
  testing.equal(gb.compile(step)(x):to_table(), { 38.0, 292.0, 978.0 })
end)

testing.case("what has no rule is an error with op and layer; what is constant has a gradient of 0", function()
  local images = gb.random.normal({ 2, 8, 8, 1 }, { seed = 1 })
  local model = gb.Sequential { gb.layers.Input { 8, 8, 1 }, gb.layers.Conv2D(2, 3), gb.layers.Lambda(function(x)
    return gb.image.random_crop(x, { 4, 4 })
  end, { name = "cropped" }), gb.layers.Flatten(), gb.layers.Dense(1) }
  model:compile { optimizer = "sgd", loss = "mse" }
  testing.raises("'random_crop' in 'cropped", model.fit, model, images, gb.ones { 2, 1 }, { verbose = 0 })
  local tape = gb.tape()
  local x = gb.tensor { 0.3, 1.7 }
  local y = (x:floor() + x:round() + x:ceil() + x:sign() + x:gt(1):cast "float32" + x:cast "int64":cast "float32"):sum()
  testing.equal(tape:gradient(y, x), false)
  tape = gb.tape()
  y = (x:floor() * x + x:round() * x):sum()
  testing.equal(tape:gradient(y, x):to_table(), { 0.0, 3.0 })
end)

testing.case("resizing between two convolutions trains the first as UpSampling2D does", function()
  local images, labels_of = gb.random.normal({ 8, 8, 8, 1 }, { seed = 2 }), gb.random.normal({ 8, 1 }, { seed = 3 })
  local function moved(between)
    gb.config.set_seed(5)
    local model = gb.Sequential { gb.layers.Input { 8, 8, 1 }, gb.layers.Conv2D(2, 3, { name = "first" }), between,
      gb.layers.Conv2D(1, 3), gb.layers.Flatten(), gb.layers.Dense(1) }
    model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0.1 }, loss = "mse" }
    local before = model:get_layer("first").variables[1] * 1
    model:fit(images, labels_of, { verbose = 0, epochs = 2, shuffle = false })
    return (model:get_layer("first").variables[1] - before)
  end
  for _, method in ipairs { "bilinear", "nearest" } do
    local resized = moved(gb.layers.Lambda(function(x) return gb.image.resize(x, { 12, 12 }, { method = method }) end))
    local scaled = moved(gb.layers.UpSampling2D(2, { interpolation = method }))
    testing.is_true(resized:abs():max():item() > 1e-3, method)
    testing.is_true(scaled:abs():max():item() > 1e-3)
  end
  local doubled = moved(gb.layers.Lambda(function(x) return gb.image.resize(x, { 12, 12 }) end))
  local up = moved(gb.layers.UpSampling2D(2, { interpolation = "bilinear" }))
  testing.is_true((doubled - up):abs():max():item() < 1e-4)
end)

testing.case("a tape keeps what it read, or says that it is gone", function()
  local refusal = "variable 'v' had when it was read, and the variable has been written since"
  local function made() return gb.Variable(3.0, { name = "v" }) end
  local function product(v) return v * v end
  local function in_view(v) return (v:reshape { 1 } * v:reshape { 1 }):sum() end
  for _, f in ipairs { product, in_view } do
    for _, write in ipairs { function(v) v:assign(10.0) end, function(v) v:assign_add(1.0) end } do
      local v, tape = made(), gb.tape()
      local y = f(v)
      testing.equal(tape:gradient(y, v):item(), 6.0)
      write(v)
      testing.raises(refusal, tape.gradient, tape, y, v)
      v = made()
      local compiled = gb.compile(function()
        local own <close> = gb.tape()
        local result = f(v)
        write(v)
        return own:gradient(result, v)
      end)
      testing.raises(refusal, compiled)
    end
  end
  -- Values that are not needed may have gone, and reads of both values count.
  local v, tape = made(), gb.tape()
  local y = v * 2.0
  v:assign(10.0)
  y = y + v * v
  testing.equal(tape:gradient(y, v):item(), 22.0)
  -- One tape, two losses and an update in between.
  v, tape = made(), gb.tape()
  local first, later = v * v, (v + 0) * (v + 0)
  local optimizer = gb.optimizers.SGD { learning_rate = 1.0 }
  optimizer:apply_gradients({ tape:gradient(first, v) }, { v })
  testing.raises(refusal, tape.gradient, tape, first, v)
  testing.equal(tape:gradient(later, v):item(), 6.0)
  -- Rows of a variable.
  local rows = gb.Variable({ { 1.0 }, { 2.0 } }, { name = "v" })
  tape = gb.tape()
  local squares = rows:square():sum()
  tape:stop()
  rows[1] = { 7.0 }
  testing.raises(refusal, tape.gradient, tape, squares, rows)
end)

testing.case("what stop_gradient gives is constant, at every order", function()
  local function step(x)
    local outer <close> = gb.tape()
    local source = x * 1
    local slope
    do
      local inner <close> = gb.tape()
      slope = inner:gradient((source:stop_gradient() * source:square()):sum(), source)
    end
    -- slope = 2 c x with c = x, which is constant.
    return outer:gradient(slope:sum(), source)
  end
  local x = gb.tensor { 1.0, 2.0, -3.0 }
  testing.equal(step(x):to_table(), { 2.0, 4.0, -6.0 })
  testing.equal(gb.compile(step)(x):to_table(), { 2.0, 4.0, -6.0 })
  local tape = gb.tape()
  testing.equal(tape:gradient(x:stop_gradient():square():sum(), x), false)
  local v = gb.Variable { 2.0, 5.0 }
  tape = gb.tape()
  testing.equal(tape:gradient((v:stop_gradient() * v):sum(), v):to_table(), { 2.0, 5.0 })
end)

testing.case("a view of a variable is another tensor for a tape", function()
  local v = gb.Variable { { 1.0, 2.0 }, { 3.0, 4.0 } }
  -- Reads of the variable itself count beside reads of a view that has its shape again.
  local tape = gb.tape()
  local y = v:square():sum() + (v:reshape { 4 }:reshape { 2, 2 } * 10.0):sum()
  testing.equal(tape:gradient(y, v):to_table(), { { 12.0, 14.0 }, { 16.0, 18.0 } })
  local constant = v:stop_gradient()
  testing.is_true(constant ~= v, "stop_gradient gives another tensor")
  testing.equal(gb.compile(function()
    local own <close> = gb.tape()
    return own:gradient((constant * v):sum(), v)
  end)():to_table(), v:to_table())
  testing.raises("only variables (gb.Variable) can be assigned to", constant.assign, constant, 1.0)
  testing.raises("element 1 of the variables is a tensor, not a variable", function()
    gb.optimizers.SGD {}:apply_gradients({ gb.ones { 2, 2 } }, { constant })
  end)
end)
