-- The families of ops that `gpubench doctor --verify` computes on a device, each with what plain loops in double
-- precision make of the same inputs. A family's function gets a maker of inputs and returns a list of { got = tensor,
-- want = flat list, exact = true or tolerance = relative to the largest value }; it runs with its device as the current
-- one. Families without `sixteen_bits` are checked in float32 only.
local gb = require "gpubench.native"
local flat = require "gpubench.arithmetic.flat"
local layers = require "gpubench.arithmetic.layers"
local transposed, mapped = flat.transposed, flat.mapped

local function sigmoid(v) return 1 / (1 + math.exp(-v)) end

local function elementwise(make)
  local x, values = make.float({ 301 }, 0.1, 3)
  local y, others = make.float({ 301 }, 0.5, 2)
  local signed, signs = make.float({ 301 }, -1, 1)
  local function of(got, fn) return { got = got, want = mapped(values, fn) } end
  local quotients, sums = {}, {}
  for index, value in ipairs(values) do
    quotients[index], sums[index] = value / others[index], value + others[index]
  end
  return {
    of(x:exp(), math.exp), of(x:log(), math.log), of(x:sqrt(), math.sqrt), of(x:sigmoid(), sigmoid),
    of(x:tanh(), function(v) return 1 - 2 / (math.exp(2 * v) + 1) end),
    of(x:sin(), math.sin), of(x:cos(), math.cos), of(x:arctan(), math.atan),
    { got = signed:relu(), want = mapped(signs, function(v) return math.max(v, 0) end), exact = true },
    { got = x / y, want = quotients }, { got = x + y, want = sums },
  }
end

local function reductions(make)
  local rows, columns = 7, 33
  local x, values = make.whole({ rows, columns }, -3, 3)
  local sums, largest, running = {}, {}, {}
  for row = 0, rows - 1 do
    local sum, most = 0, -math.huge
    for column = 1, columns do
      local value = values[row * columns + column]
      sum, most = sum + value, math.max(most, value)
      running[#running + 1] = sum
    end
    sums[#sums + 1], largest[#largest + 1] = sum, most
  end
  return {
    { got = x:sum(1), want = sums, exact = true },
    { got = x:max(1), want = largest, exact = true },
    { got = x:mean(1), want = mapped(sums, function(sum) return sum / columns end) },
    { got = x:cumsum(1), want = running, exact = true },
  }
end

local function softmax(make)
  local rows, columns = 5, 11
  local x, values = make.float({ rows, columns }, -4, 4)
  local shares, logarithms = {}, {}
  for row = 0, rows - 1 do
    local sum = 0
    for column = 1, columns do sum = sum + math.exp(values[row * columns + column]) end
    for column = 1, columns do
      shares[#shares + 1] = math.exp(values[row * columns + column]) / sum
      logarithms[#logarithms + 1] = values[row * columns + column] - math.log(sum)
    end
  end
  return { { got = x:softmax(), want = shares }, { got = x:log_softmax(), want = logarithms } }
end

local function losses(make)
  local rows, columns = 6, 5
  local x, values = make.float({ rows, columns }, -3, 3)
  local classes, gradient, loss = {}, {}, 0
  for row = 0, rows - 1 do
    classes[row + 1] = row % columns
    local sum = 0
    for column = 1, columns do sum = sum + math.exp(values[row * columns + column]) end
    loss = loss + (math.log(sum) - values[row * columns + classes[row + 1] + 1]) / rows
    for column = 1, columns do
      local hit = column == classes[row + 1] + 1 and 1 or 0
      gradient[#gradient + 1] = (math.exp(values[row * columns + column]) / sum - hit) / rows
    end
  end
  local labels = gb.tensor(classes, { dtype = "int64" })
  local tape <close> = gb.tape()
  local got = gb.losses.SparseCategoricalCrossentropy { from_logits = true }(labels, x)
  local accuracy = gb.metrics.SparseCategoricalAccuracy()
  accuracy:update_state(labels, labels:one_hot(columns))
  return {
    { got = got, want = { loss } },
    { got = tape:gradient(got, x), want = gradient },
    { got = gb.tensor(accuracy:result()), want = { 1 }, exact = true },
  }
end

local function indexing(make)
  local rows, columns = 4, 3
  local x, values = make.float({ rows, columns }, -1, 1)
  local picked, twice = {}, {}
  for _, row in ipairs { 2, 0, 2 } do
    for column = 1, columns do picked[#picked + 1] = values[row * columns + column] end
  end
  table.move(values, 1, #values, 1, twice)
  table.move(values, 1, #values, #values + 1, twice)
  local ordered, updated = {}, table.move(values, 1, #values, 1, {})
  for row = 0, rows - 1 do
    local sorted = table.move(values, row * columns + 1, (row + 1) * columns, 1, {})
    table.sort(sorted)
    table.move(sorted, 1, columns, #ordered + 1, ordered)
  end
  table.move(values, 1, columns, 3 * columns + 1, updated)
  return {
    { got = x:sort(), want = ordered, exact = true },
    { got = x:scatter_update(gb.tensor({ { 3 } }, { dtype = "int64" }), x:rows(1, 1)), want = updated, exact = true },
    { got = x:gather(gb.tensor({ 2, 0, 2 }, { dtype = "int64" })), want = picked, exact = true },
    { got = x:transpose(), want = transposed(values, rows, columns), exact = true },
    { got = gb.concat { x, x }, want = twice, exact = true },
    { got = x:rows(2, 3), want = { table.unpack(values, columns + 1, 3 * columns) }, exact = true },
  }
end

-- The nearest bfloat16, ties to even: the upper half of a float32.
local function to_bfloat16(value)
  local bits = string.unpack("<I4", string.pack("<f", value))
  bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000
  return (string.unpack("<f", string.pack("<I4", bits)))
end

local function casts(make)
  local x, values = make.float({ 257 }, -100, 100)
  return {
    { got = x:cast("bfloat16"):cast("float32"), want = mapped(values, to_bfloat16), exact = true },
    { got = x:cast("int64"), want = mapped(values, function(v) return v < 0 and math.ceil(v) or math.floor(v) end),
      exact = true },
  }
end

-- A hundred thousand uniform numbers: their mean is within 0.01 of the middle, ten times its standard deviation.
local function random(make)
  local x = gb.random.uniform({ 100000 }, { seed = make.seed })
  local inside = x:min():item() >= 0 and x:max():item() < 1 and math.abs(x:mean():item() - 0.5) < 0.01
  local again = gb.random.uniform({ 100000 }, { seed = make.seed })
  return {
    { got = gb.tensor(inside and 1 or 0), want = { 1 }, exact = true },
    { got = (x - again):abs():max(), want = { 0 }, exact = true },
  }
end

-- One step each from the same weights; Adam as in its paper, with Keras' epsilon.
local function optimizers(make)
  local start, weights = make.float({ 19 }, -1, 1)
  local slope, slopes = make.float({ 19 }, -1, 1)
  local plain, adaptive = {}, {}
  for index, weight in ipairs(weights) do
    local g = slopes[index]
    plain[index] = weight - 0.1 * g
    local m, v = 0.1 * g, 0.001 * g * g
    adaptive[index] = weight - 0.01 * math.sqrt(1 - 0.999) / (1 - 0.9) * m / (math.sqrt(v) + 1e-7)
  end
  local function stepped(optimizer)
    local variable = gb.Variable(start)
    optimizer:apply_gradients({ slope }, { variable })
    return variable
  end
  return {
    { got = stepped(gb.optimizers.SGD { learning_rate = 0.1 }), want = plain },
    { got = stepped(gb.optimizers.Adam { learning_rate = 0.01 }), want = adaptive },
  }
end

local function images(make)
  local x, values = make.float({ 1, 2, 2, 1 }, 0, 1)
  local doubled = {}
  for row = 0, 3 do
    for column = 0, 3 do doubled[#doubled + 1] = values[(row // 2) * 2 + column // 2 + 1] end
  end
  return {
    { got = gb.image.resize(x, { 4, 4 }, { method = "nearest" }), want = doubled, exact = true },
    { got = gb.image.normalize(x, 0.5, 0.25), want = mapped(values, function(v) return (v - 0.5) / 0.25 end) },
  }
end

local function variables(make)
  local x, values = make.whole({ 12 }, -9, 9)
  local variable = gb.Variable(x)
  variable:assign_add(x)
  return { { got = variable, want = mapped(values, function(v) return 2 * v end), exact = true } }
end

return {
  { name = "matrix products", run = layers.matmul, sixteen_bits = true },
  { name = "fused layers", run = layers.fused_layer, sixteen_bits = true },
  { name = "int8 products", run = layers.quantized },
  { name = "convolutions", run = layers.convolution, sixteen_bits = true },
  { name = "attention", run = layers.attention, sixteen_bits = true },
  { name = "pooling", run = layers.pooling, sixteen_bits = true },
  { name = "normalization", run = layers.batch_norm },
  { name = "element-wise functions", run = elementwise, sixteen_bits = true },
  { name = "reductions", run = reductions, sixteen_bits = true },
  { name = "softmax", run = softmax, sixteen_bits = true },
  { name = "losses and metrics", run = losses },
  { name = "indexing and shapes", run = indexing, sixteen_bits = true },
  { name = "casts", run = casts },
  { name = "random numbers", run = random },
  { name = "optimizers", run = optimizers },
  { name = "images", run = images },
  { name = "variables", run = variables },
}
