-- Products and layers that `gpubench doctor --verify` computes (arithmetic/cases.lua).
local gb = require "gpubench.native"
local flat = require "gpubench.arithmetic.flat"
local product, transposed, mapped = flat.product, flat.transposed, flat.mapped

local layers = {}

function layers.matmul(make)
  local m, n, k = 37, 29, 53
  local a, a_values = make.float({ m, k }, -1, 1)
  local b, b_values = make.float({ k, n }, -1, 1)
  local tape <close> = gb.tape()
  local c = gb.matmul(a, b)
  local whole_a, left = make.whole({ 128, 128 }, -8, 8)
  local whole_b, right = make.whole({ 128, 128 }, -8, 8)
  local ones = mapped(product(a_values, b_values, m, n, k), function() return 1 end)
  return {
    { got = c, want = product(a_values, b_values, m, n, k) },
    { got = tape:gradient(c:sum(), a), want = product(ones, transposed(b_values, k, n), m, k, n) },
    { got = gb.matmul(whole_a, whole_b), want = product(left, right, 128, 128, 128), exact = make.dtype == "float32" },
  }
end

-- Of images of 6 x 5 pixels with 3 channels, by 4 filters of 3 x 3.
function layers.convolution(make)
  local batch, height, width, channels, filters, size = 2, 6, 5, 3, 4, 3
  local x, pixels = make.float({ batch, height, width, channels }, -1, 1)
  local model = gb.Sequential {
    gb.layers.Conv2D(filters, { size, size },
      { use_bias = false, input_shape = { height, width, channels }, dtype = make.dtype }),
  }
  local kernel = make.values(model:get_weights()[1])
  local tape <close> = gb.tape()
  local y = model(x)
  local rows, columns = height - size + 1, width - size + 1
  local want, gradient = {}, {}
  for index = 1, size * size * channels * filters do gradient[index] = 0 end
  for b = 0, batch - 1 do
    for row = 0, rows - 1 do
      for column = 0, columns - 1 do
        for f = 0, filters - 1 do
          local sum = 0
          for i = 0, size - 1 do
            for j = 0, size - 1 do
              for c = 0, channels - 1 do
                local pixel = pixels[((b * height + row + i) * width + column + j) * channels + c + 1]
                local at = ((i * size + j) * channels + c) * filters + f + 1
                sum = sum + pixel * kernel[at]
                gradient[at] = gradient[at] + pixel
              end
            end
          end
          want[#want + 1] = sum
        end
      end
    end
  end
  return {
    { got = y, want = want },
    { got = tape:gradient(y:sum(), model.trainable_variables[1]), want = gradient },
  }
end

function layers.pooling(make)
  local x, values = make.float({ 1, 4, 4, 2 }, -1, 1)
  local largest, mean = {}, {}
  for row = 0, 1 do
    for column = 0, 1 do
      for c = 0, 1 do
        local most, sum = -math.huge, 0
        for i = 0, 1 do
          for j = 0, 1 do
            local value = values[((2 * row + i) * 4 + 2 * column + j) * 2 + c + 1]
            most, sum = math.max(most, value), sum + value
          end
        end
        largest[#largest + 1], mean[#mean + 1] = most, sum / 4
      end
    end
  end
  local function layer(made) return gb.Sequential { made }(x) end
  local options = { input_shape = { 4, 4, 2 }, dtype = make.dtype }
  return {
    { got = layer(gb.layers.MaxPooling2D({ 2, 2 }, options)), want = largest, exact = true },
    { got = layer(gb.layers.AveragePooling2D({ 2, 2 }, options)), want = mean },
  }
end

function layers.batch_norm(make)
  local rows, channels, epsilon = 32, 3, 1e-3
  local x, values = make.float({ rows, channels }, -2, 2)
  local model = gb.Sequential { gb.layers.BatchNormalization { input_shape = { channels }, epsilon = epsilon,
    dtype = make.dtype } }
  local want = {}
  for c = 1, channels do
    local sum, squares = 0, 0
    for row = 0, rows - 1 do sum = sum + values[row * channels + c] end
    local mean = sum / rows
    for row = 0, rows - 1 do squares = squares + (values[row * channels + c] - mean) ^ 2 end
    local scale = 1 / math.sqrt(squares / rows + epsilon)
    for row = 0, rows - 1 do want[row * channels + c] = (values[row * channels + c] - mean) * scale end
  end
  return { { got = model(x, { training = true }), want = want } }
end

-- Causal attention of heads of 64 numbers, two for each head of keys and values; with fewer keys than queries.
function layers.attention(make)
  local batch, queries, keys, heads, groups, dim = 1, 5, 4, 2, 1, 64
  local q, q_values = make.float({ batch, queries, heads, dim }, -1, 1)
  local k, k_values = make.float({ batch, keys, groups, dim }, -1, 1)
  local v, v_values = make.float({ batch, keys, groups, dim }, -1, 1)
  local tape <close> = gb.tape()
  local y = gb.dot_product_attention(q, k, v, { is_causal = true })
  local scale, want, gradient = 1 / math.sqrt(dim), {}, {}
  for index = 1, keys * dim do gradient[index] = 0 end
  for query = 0, queries - 1 do
    for head = 0, heads - 1 do
      local weights, sum = {}, 0
      for key = 0, math.min(query, keys - 1) do
        local score = 0
        for d = 1, dim do
          score = score + q_values[(query * heads + head) * dim + d] * k_values[key * dim + d]
        end
        weights[key] = math.exp(score * scale)
        sum = sum + weights[key]
      end
      for d = 1, dim do
        local value = 0
        for key = 0, math.min(query, keys - 1) do
          value = value + weights[key] / sum * v_values[key * dim + d]
          gradient[key * dim + d] = gradient[key * dim + d] + weights[key] / sum
        end
        want[#want + 1] = value
      end
    end
  end
  return { { got = y, want = want }, { got = tape:gradient(y:sum(), v), want = gradient } }
end

-- A layer with bias and activation, as a training step computes it: planned as a graph, and fused where the device can.
function layers.fused_layer(make)
  local rows, inputs, outputs = 9, 17, 6
  local x, values = make.float({ rows, inputs }, -1, 1)
  local w, weights = make.float({ inputs, outputs }, -1, 1)
  local b, biases = make.float({ outputs }, -1, 1)
  local want = product(values, weights, rows, outputs, inputs)
  for index, value in ipairs(want) do want[index] = math.max(value + biases[(index - 1) % outputs + 1], 0) end
  local layer = gb.compile(function(input) return (gb.matmul(input, w) + b):relu() end)
  return { { got = layer(x), want = want } }
end

-- int8 products: at most a few hundredths of the largest value off.
function layers.quantized(make)
  local model = gb.Sequential { gb.layers.Dense(8, { input_shape = { 32 }, use_bias = false }) }
  local x, values = make.float({ 64, 32 }, -1, 1)
  local weights = make.values(model:get_weights()[1])
  local data = gb.data.Dataset.from_tensor_slices(x):batch(64)
  local small = gb.quantize.int8(model, { calibration = data })
  return { { got = small(x), want = product(values, weights, 64, 8, 32), tolerance = 0.05 } }
end

return layers
