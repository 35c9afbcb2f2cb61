-- Datasets, images and tensors against tf.data, TensorFlow and Keras (data_values.lua, written by data.py).
local gb = require "gpubench"
local testing = require "testing"
local compare = dofile "tests/peers/conformance/compare.lua"
local reference = dofile "tests/peers/conformance/data_values.lua"
local close, tensor, tensors = compare.close, compare.tensor, compare.tensors

local Dataset = gb.data.Dataset
local r = Dataset.range

local function ragged()
  return Dataset.from_generator(function()
    for _, length in ipairs { 3, 1, 4, 2, 5 } do
      local element = {}
      for i = 1, length do element[i] = i end
      coroutine.yield(element)
    end
  end, { types = { "int64[?]" } })
end

local function tens(i, count)
  return r(count):map(function(j) return j + 10 * i:item() end)
end

local function three(i) return tens(i, 3) end

local pipelines = {
  ["repeat then batch crosses epochs"] = function() return r(5):repeated(2):batch(3) end,
  ["batch then repeat keeps the partial batch"] = function() return r(5):batch(3):repeated(2) end,
  ["batch drop_remainder then repeat"] = function() return r(5):batch(3, { drop_remainder = true }):repeated(2) end,
  ["repeat without end"] = function() return r(3):repeated():batch(4) end,
  ["take more than there is"] = function() return r(3):take(10) end,
  ["take 0"] = function() return r(3):take(0) end,
  ["take -1 takes all"] = function() return r(3):take(-1) end,
  ["skip more than there is"] = function() return r(3):skip(10) end,
  ["skip -1 skips all"] = function() return r(3):skip(-1) end,
  ["skip then take"] = function() return r(10):skip(3):take(4) end,
  ["zip of unequal lengths"] = function() return Dataset.zip { r(5), r(10, 13) } end,
  ["zip of three"] = function() return Dataset.zip { r(3), r(3, 6), r(6, 9) } end,
  ["batch of two tensors"] = function()
    return Dataset.zip { r(5), r(5):map(function(x) return x * x end) }:batch(2)
  end,
  ["unbatch of a partial batch"] = function() return r(7):batch(3):unbatch() end,
  ["rebatch across"] = function() return r(7):batch(3):rebatch(2) end,
  ["rebatch drop_remainder"] = function() return r(7):batch(3):rebatch(2, { drop_remainder = true }) end,
  ["window 3 shift 2"] = function() return r(8):window(3, { shift = 2 }) end,
  ["window 3 shift 1 stride 2 drop"] = function()
    return r(9):window(3, { shift = 1, stride = 2, drop_remainder = true })
  end,
  ["window 2 shift 5"] = function() return r(11):window(2, { shift = 5 }) end,
  ["window 3 stride 2 partial kept"] = function() return r(8):window(3, { shift = 3, stride = 2 }) end,
  ["shard 3 1"] = function() return r(10):shard(3, 1) end,
  ["shard after batch"] = function() return r(10):batch(2):shard(2, 1) end,
  ["enumerate start 5"] = function() return r(3, 6):enumerate(5) end,
  ["map then enumerate then batch"] = function() return r(5):map(function(x) return x * 3 end):enumerate():batch(2) end,
  ["concatenate"] = function() return r(3):concatenate(r(5, 7)) end,
  ["interleave cycle 2"] = function() return r(3):interleave(three, { cycle_length = 2, block_length = 1 }) end,
  ["interleave cycle 3 block 2"] = function()
    return r(4):interleave(function(i) return tens(i, 5) end, { cycle_length = 3, block_length = 2 })
  end,
  ["interleave uneven lengths"] = function()
    return r(1, 5):interleave(function(i) return tens(i, i:item()) end, { cycle_length = 3, block_length = 1 })
  end,
  ["interleave with an empty one"] = function()
    return r(4):interleave(function(i) return tens(i, i:item() % 2 * 2) end, { cycle_length = 2 })
  end,
  ["interleave parallel deterministic"] = function()
    return r(6):interleave(three, { cycle_length = 3, block_length = 2, num_parallel_calls = 3, deterministic = true })
  end,
  ["flat_map"] = function() return r(1, 4):flat_map(function(i) return r(i:item()) end) end,
  ["filter even"] = function() return r(9):filter(function(x) return (x % 2):eq(0) end) end,
  ["map parallel deterministic"] = function()
    return r(9):map(function(x) return x * x - 3 end, { num_parallel_calls = 3, deterministic = true }):batch(4)
  end,
  ["range negative step"] = function() return r(10, 0, -3) end,
  ["range empty"] = function() return r(5, 5) end,
  ["prefetch"] = function() return r(7):batch(2):prefetch(2) end,
  ["cache then repeat"] = function() return r(4):map(function(x) return x + 1 end):cache():repeated(2) end,
  ["options"] = function() return r(4):options { cpu_budget = 1 } end,
  ["ignore_errors"] = function()
    local numbers = gb.tensor({ 5, 7, 9 }, { dtype = "int64" })
    return r(6):map(function(x) return numbers:gather(x) end):ignore_errors()
  end,
  ["from_generator"] = ragged,
  ["from_tensors"] = function() return Dataset.from_tensors { tensor { 1, 2 }, tensor { 3 } } end,
  ["from_tensor_slices"] = function()
    return Dataset.from_tensor_slices({ tensor { { 0, 1 }, { 2, 3 }, { 4, 5 } }, tensor { 7, 8, 9 } }):batch(2)
  end,
  ["padded_batch 2"] = function() return ragged():padded_batch(2) end,
  ["padded_batch 2 value -1 to 6"] = function()
    return ragged():padded_batch(2, { padded_shapes = { { 6 } }, padding_values = { -1 } })
  end,
  ["padded_batch drop_remainder"] = function() return ragged():padded_batch(2, { drop_remainder = true }) end,
  ["bucket_by_sequence_length"] = function()
    return ragged():bucket_by_sequence_length { bucket_boundaries = { 3, 5 }, bucket_batch_sizes = { 2, 2, 2 } }
  end,
  ["bucket_by_sequence_length drop_remainder"] = function()
    return ragged():bucket_by_sequence_length {
      bucket_boundaries = { 3, 5 }, bucket_batch_sizes = { 2, 2, 2 }, drop_remainder = true }
  end,
  ["bucket_by_sequence_length pad to boundary"] = function()
    return ragged():bucket_by_sequence_length {
      bucket_boundaries = { 3, 6 }, bucket_batch_sizes = { 2, 2, 2 }, pad_to_bucket_boundary = true }
  end,
}

local function listed(data, most)
  local rows = {}
  local next_element = data:iter()
  while #rows < most do
    local row = { next_element() }
    if #row == 0 then break end
    rows[#rows + 1] = row
  end
  return rows
end

compare.run(reference.pipelines, function(case)
  local data = pipelines[case.name]()
  local rows = listed(data, 40)
  testing.equal(#rows, #case.elements)
  for index, row in ipairs(rows) do close(row, case.elements[index], 0, "element " .. index) end
  if case.size then close(data.size, case.size, 0, "size") end
end, {
  ["skip -1 skips all"] = { "an empty dataset is take(0)", "skip: a count of -1; 0 and more are possible" },
})

local function order(data)
  local numbers = {}
  for index, row in ipairs(listed(data, 60)) do numbers[index] = row[1]:item() end
  return numbers
end

local function part(numbers, first, last)
  return { table.unpack(numbers, first, last) }
end

local function same(a, b)
  return testing.show(a) == testing.show(b)
end

-- Whether these are the numbers from 0, each once.
local function whole(numbers)
  numbers = part(numbers, 1, #numbers)
  table.sort(numbers)
  for index, number in ipairs(numbers) do
    if number ~= index - 1 then return false end
  end
  return true
end

local function epochs_equal(data)
  return same(order(data), order(data))
end

local still = { seed = 3, reshuffle_each_iteration = false }
local facts = {
  ["shuffle without reshuffling: epochs are equal"] = function() return epochs_equal(r(50):shuffle(5, still)) end,
  ["shuffle: epochs differ"] = function() return not epochs_equal(r(50):shuffle(5, { seed = 1 })) end,
  ["shuffle: element i is one of the first i + buffer"] = function()
    for index, number in ipairs(order(r(50):shuffle(5, still))) do
      if number >= index - 1 + 5 then return false end
    end
    return true
  end,
  ["cache then shuffle: epochs differ"] = function()
    return not epochs_equal(r(20):cache():shuffle(20, { seed = 2 }))
  end,
  ["shuffle then cache: epochs are equal"] = function()
    return epochs_equal(r(20):shuffle(20, { seed = 2 }):cache())
  end,
  ["shuffle then repeat: each half is a whole epoch"] = function()
    return whole(part(order(r(10):shuffle(10, { seed = 3 }):repeated(2)), 1, 10))
  end,
  ["shuffle then repeat: halves differ"] = function()
    local numbers = order(r(10):shuffle(10, { seed = 3 }):repeated(2))
    return not same(part(numbers, 1, 10), part(numbers, 11, 20))
  end,
  ["repeat then shuffle: halves are mixed"] = function()
    return not whole(part(order(r(10):repeated(2):shuffle(20, { seed = 3 })), 1, 10))
  end,
  ["shuffle without reshuffling then repeat: halves are equal"] = function()
    local numbers = order(r(10):shuffle(10, still):repeated(2))
    return same(part(numbers, 1, 10), part(numbers, 11, 20))
  end,
  ["two shuffles: every element once"] = function()
    return whole(order(r(20):shuffle(20, { seed = 3 }):shuffle(20, { seed = 4 })))
  end,
  ["take and skip of one shuffle overlap"] = function()
    local shuffled, numbers = r(20):shuffle(20, { seed = 3 }), {}
    table.move(order(shuffled:take(10)), 1, 10, 1, numbers)
    table.move(order(shuffled:skip(10)), 1, 10, 11, numbers)
    return not whole(numbers)
  end,
}

compare.run(reference.facts, function(case) close(facts[case.name](), case.holds, 0, "the fact") end, {
  ["take and skip of one shuffle overlap"] = "an epoch has one order, whatever stands behind the shuffle",
})

local files = {
  csv = function(path)
    return Dataset.csv(path, { columns = {
      "float32", { name = "label", dtype = "int64", default = -1 }, { name = "note", dtype = "bytes" } } })
  end,
  text_lines = Dataset.text_lines,
  list_files = function()
    local folder = gb._native.options.out .. "/results/"
    return Dataset.list_files(folder .. "*.txt"):map(function(path) return path[{ #folder + 1, -1 }] end)
  end,
  tfrecord = function(path)
    return Dataset.tfrecord(path):map(gb.data.parse_example {
      { name = "x", shape = { 2 } }, { name = "label", dtype = "int64" }, { name = "weight", default = 1.5 } })
  end,
}

local function write_file(name, content)
  local path = gb._native.options.out .. "/results/" .. name
  io.open(path, "wb"):write(content):close()
  return path
end

compare.run(reference.files, function(case)
  for _, name in ipairs(case.names or {}) do write_file(name, "") end
  local path = case.file and write_file(case.name, case.file)
  local rows = listed(files[case.name](path), 40)
  testing.equal(#rows, #case.elements)
  for index, row in ipairs(rows) do close(row, case.elements[index], 1e-6, "element " .. index) end
end)

compare.run(reference.images, function(case)
  local bytes = gb.tensor({ { case.file:byte(1, -1) } }, { dtype = "uint8" })
  for image in Dataset.from_tensor_slices(bytes):map(gb.image.decode(compare.copy(case.options))):iter() do
    close(image, case.image, 1e-6, "image")
  end
end, { ["decode channels=1"] = "grey is rounded; TensorFlow's is cut off" })

-- As many draws as TensorFlow made: means differ by at most five of their standard deviations.
compare.run(reference.random_images, function(case)
  local images = tensor { case.example }:tile { case.draws, 1, 1, 1 }
  local arguments = { table.unpack(case.arguments) }
  arguments[#arguments + 1] = { seed = 3 }
  local output = gb.image[case.call](images, table.unpack(arguments)):reshape { case.draws, -1 }
  local mean, deviation = output:mean(0):to_table(), output:std(0):to_table()
  for index, expected in ipairs(case.deviation) do
    close(mean[index], case.mean[index], 5 * expected * (2 / case.draws) ^ 0.5 + 1e-5, "mean of number " .. index)
    close(deviation[index], expected, 0.05 * expected + 1e-5, "deviation of number " .. index)
  end
end)

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
  normalize = gb.image.normalize,
}

compare.run(reference.functions, function(case)
  local inputs, sources = tensors(case.inputs), {}
  for index, dtype in ipairs(case.types) do
    inputs[index] = gb.tensor(case.inputs[index], { dtype = dtype })
    if dtype == "float32" then sources[#sources + 1] = inputs[index] end
  end
  local function apply()
    local arguments = { table.unpack(inputs) }
    table.move(case.arguments, 1, #case.arguments, #arguments + 1, arguments)
    local method = calls[case.call] or function(x, ...) return x[case.call](x, ...) end
    return method(table.unpack(arguments))
  end
  local tape <close> = gb.tape()
  local output = apply()
  close(output, case.output, 1e-5, "output")
  if #case.gradients == 0 then return end
  local gradients = tape:gradient(output:square():sum(), sources)
  for index, expected in ipairs(case.gradients) do close(gradients[index], expected, 5e-5, "gradient " .. index) end
end, {
  ["sign arguments=[] of=[float32[3]]"] =
    "what is constant between its steps has no gradient, as floor and round; TensorFlow has 0 for this one",
})
