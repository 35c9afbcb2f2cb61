-- Tensors and images against TensorFlow and Keras (data_values.lua, written by data.py).
local gb = require "gpubench"
local compare = dofile "tests/peers/conformance/compare.lua"
local checks = dofile "tests/peers/conformance/data_checks.lua"
local reference = dofile "tests/peers/conformance/data_values.lua"
local more = dofile "tests/peers/conformance/input_values.lua"
local close, tensors = compare.close, compare.tensors

compare.run(reference.images, function(case)
  for image in checks.bytes_of(case.file):map(gb.image.decode(compare.copy(case.options))):iter() do
    close(image, case.image, 1e-6, "image")
  end
end, {
  ["decode channels=1, PNG"] = "grey is rounded; TensorFlow's is cut off",
  ["decode, PNG of 16 bits"] = "samples are rounded; TensorFlow takes their upper byte",
})

compare.run(reference.encoded, function(case)
  local pixels = gb.tensor(case.pixels, { dtype = "uint8" })
  local file = gb.data.Dataset.from_tensors(gb.image.encode_jpeg(pixels, { quality = case.quality }))
  for image in file:map(gb.image.decode()):iter() do close(image, case.image, 0, "image") end
end)

compare.run(reference.random_images, checks.draws)

-- What is no method of the first input.
local calls = {
  where = gb.where, pad = gb.pad, resize = gb.image.resize, image_cast = gb.image.cast,
  stack = function(a, b, axis) return gb.stack({ a, b }, axis) end,
  concat = function(a, b, axis) return gb.concat({ a, b }, axis) end,
  transposed_matmul = function(a, b) return gb.matmul(a, b, { transpose_a = true, transpose_b = true }) end,
  floor_division = function(a, b) return a // b end, remainder = function(a, b) return a % b end,
  power = function(a, b) return a ^ b end,
  attention = gb.dot_product_attention,
  masked_attention = function(q, k, v, mask) return gb.dot_product_attention(q, k, v, { mask = mask }) end,
  biased_attention = function(q, k, v, bias)
    return gb.dot_product_attention(q, k, v, { mask = gb.tensor(bias) })
  end,
  normalize = gb.image.normalize,
  add = function(a, b) return a + b end, sub = function(a, b) return a - b end, mul = function(a, b) return a * b end,
  div = function(a, b) return a / b end, negative = function(a) return -a end,
  remainder_of = function(a, b) return gb.full(a.shape, b) % a end,
  power_of = function(a, b) return gb.full(a.shape, b) ^ a end,
  row = function(a, number) return a[number] end,
  columns = function(a, first, last) return a[{ {}, { first, last } }] end,
  half = function(a, dtype) return a:cast(dtype):cast "float32" end,
  half_sum = function(a, dtype) return a:cast(dtype):sum():cast "float32" end,
  half_gelu = function(a, dtype) return a:cast(dtype):gelu():cast "float32" end,
}

local none = "it computes nothing"
compare.covers(checks.methods_of "Tensor", {
  item = none, to_table = none, to = none, pin_memory = none, assign = none, assign_add = none,
}, reference.functions, dofile("tests/peers/conformance/functions_values.lua").functions)
compare.covers(gb.image, {
  decode = "among the images", encode_jpeg = "among the encoded", cast = "image_cast",
}, reference.functions, reference.random_images, more.functions, more.random_images)

compare.run(reference.functions, function(case)
  local inputs, sources = tensors(case.inputs), {}
  for index, dtype in ipairs(case.types) do
    inputs[index] = gb.tensor(case.inputs[index], { dtype = dtype })
    if dtype == "float32" then sources[#sources + 1] = inputs[index] end
  end
  local function apply()
    local arguments = { table.unpack(inputs) }
    table.move(case.arguments, 1, #case.arguments, #arguments + 1, arguments)
    local method = calls[case.class] or function(first, ...) return first[case.class](first, ...) end
    return method(table.unpack(arguments))
  end
  local tape <close> = gb.tape()
  local output = apply()
  close(output, case.output, 1e-5, "output")
  if #case.gradients == 0 then return end
  local gradients = tape:gradient(output:square():sum(), sources)
  for index, expected in ipairs(case.gradients) do close(gradients[index], expected, 5e-5, "gradient " .. index) end
end, {
  ["relu arguments=[] of=[int64[2,3]]"] = { "integers are cast, or have maximum(0)", "is not floating-point" },
  ["sqrt arguments=[] of=[float32[3]]"] = "0 times infinity is not a number; TensorFlow has 0 where nothing flows in",
  ["sqrt arguments=[] of=[float32[5]]"] = "0 times infinity is not a number; TensorFlow has 0 where nothing flows in",
  ["half_sum arguments=[float16] of=[[40]]"] = "sums of 16 bits are rounded once, at their end",
  ["half_gelu arguments=[float16] of=[[2,3]]"] = "functions of 16 bits are rounded once, at their end",
  ["mean arguments=[] of=[int64[2,3]]"] = { "TensorFlow cuts what is behind the point off", "cast" },
  ["sign arguments=[] of=[float32[3]]"] =
    "what is constant between its steps has no gradient, as floor and round; TensorFlow has 0 for this one",
})
