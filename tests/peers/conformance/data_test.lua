-- Datasets against tf.data (data_values.lua, written by data.py).
local gb = require "gpubench"
local testing = require "testing"
local compare = dofile "tests/peers/conformance/compare.lua"
local checks = dofile "tests/peers/conformance/data_checks.lua"
local reference = dofile "tests/peers/conformance/data_values.lua"
local more = dofile "tests/peers/conformance/input_values.lua"
local close, tensor = compare.close, compare.tensor
local listed = checks.listed

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
  ["repeat 1"] = function() return r(3):repeated(1) end,
  ["repeat 0"] = function() return r(3):repeated(0) end,
  ["repeat -1 never ends"] = function() return r(3):repeated(-1) end,
  ["repeat of a filter"] = function()
    return r(6):filter(function(x) return (x % 3):eq(1) end):repeated(2):batch(3)
  end,
  ["batch 1"] = function() return r(3):batch(1) end,
  ["batch larger than the data"] = function() return r(3):batch(5) end,
  ["batch larger than the data drop_remainder"] = function() return r(3):batch(5, { drop_remainder = true }) end,
  ["batch of batches"] = function() return r(7):batch(2, { drop_remainder = true }):batch(2) end,
  ["take of a repeat"] = function() return r(3):repeated():take(7) end,
  ["take then repeat"] = function() return r(9):take(2):repeated(2) end,
  ["take of batches"] = function() return r(9):batch(2):take(2) end,
  ["skip 0"] = function() return r(3):skip(0) end,
  ["skip then repeat"] = function() return r(4):skip(2):repeated(2) end,
  ["skip of batches"] = function() return r(9):batch(2):skip(3) end,
  ["zip of tuples"] = function() return Dataset.zip { Dataset.zip { r(3), r(3, 6) }, r(6, 9) } end,
  ["zip with a dataset that never ends"] = function() return Dataset.zip { r(3), r(2):repeated() } end,
  ["unbatch of two tensors"] = function() return Dataset.zip { r(5), r(5, 10) }:batch(2):unbatch() end,
  ["unbatch of rows"] = function()
    return Dataset.from_tensor_slices(gb.arange(12):reshape { 2, 3, 2 }):unbatch()
  end,
  ["rebatch to larger ones"] = function() return r(7):batch(2):rebatch(5) end,
  ["rebatch of two tensors"] = function() return Dataset.zip { r(5), r(5, 10) }:batch(3):rebatch(2) end,
  ["window drop_remainder"] = function() return r(8):window(3, { drop_remainder = true }) end,
  ["window 1"] = function() return r(3):window(1) end,
  ["window larger than the data"] = function() return r(3):window(5) end,
  ["window of rows"] = function()
    local rows = Dataset.from_tensor_slices(gb.arange(10):reshape { 5, 2 })
    return rows:window(2, { shift = 1, drop_remainder = true })
  end,
  ["window of two tensors"] = function()
    return Dataset.zip { r(5), r(5, 10) }:window(2, { shift = 2, drop_remainder = true })
  end,
  ["shard 3 2 of fewer"] = function() return r(2):shard(3, 2) end,
  ["shard then repeat"] = function() return r(5):shard(2, 1):repeated(2) end,
  ["shard of a repeat"] = function() return r(3):repeated(2):shard(2, 1) end,
  ["enumerate of batches"] = function() return r(5):batch(2):enumerate() end,
  ["enumerate of a repeat"] = function() return r(2):repeated(2):enumerate(3) end,
  ["concatenate then repeat"] = function() return r(2):concatenate(r(5, 7)):repeated(2) end,
  ["concatenate an empty one"] = function() return r(2):concatenate(r(0)) end,
  ["concatenate then batch"] = function() return r(3):concatenate(r(5, 7)):batch(2) end,
  ["interleave cycle larger than the data"] = function()
    return r(2):interleave(function(i) return tens(i, 2) end, { cycle_length = 5 })
  end,
  ["interleave block larger than datasets"] = function()
    return r(3):interleave(function(i) return tens(i, 2) end, { cycle_length = 2, block_length = 9 })
  end,
  ["interleave cycle 1"] = function()
    return r(3):interleave(function(i) return tens(i, 2) end, { cycle_length = 1 })
  end,
  ["interleave of batches"] = function()
    return r(3):interleave(function(i) return three(i):batch(2) end, { cycle_length = 3 })
  end,
  ["interleave of nothing"] = function() return r(0):interleave(three, { cycle_length = 2 }) end,
  ["interleave of a list"] = function()
    return Dataset.interleave({ r(3), r(10, 13) }, { block_length = 2 })
  end,
  ["interleave AUTOTUNE"] = function()
    return r(4):interleave(three, { cycle_length = 2, num_parallel_calls = gb.AUTOTUNE })
  end,
  ["flat_map of nothing"] = function() return r(3):flat_map(function() return r(0) end) end,
  ["flat_map with empty ones"] = function() return r(4):flat_map(function(i) return r(i:item() % 2 * 2) end) end,
  ["flat_map then batch"] = function() return r(1, 4):flat_map(function(i) return r(i:item()) end):batch(4) end,
  ["filter none"] = function() return r(5):filter(function(x) return x:gt(9) end) end,
  ["filter of two tensors"] = function()
    return Dataset.zip { r(6), r(6):map(function(x) return x % 4 end) }:filter(function(_, b) return b:lt(2) end)
  end,
  ["filter of rows"] = function()
    local rows = Dataset.from_tensor_slices(gb.arange(8):reshape { 4, 2 })
    return rows:filter(function(x) return (x:sum() % 4):eq(1) end)
  end,
  ["filter by a lua_function"] = function()
    return r(9):filter(gb.data.lua_function(function(x) return x % 3 == 0 end))
  end,
  ["map to two tensors"] = function() return r(3):map(function(x) return x, x * x end) end,
  ["map of two tensors to one"] = function()
    return Dataset.zip { r(3), r(3, 6) }:map(function(a, b) return a * b end)
  end,
  ["map of batches"] = function() return r(5):batch(2):map(function(x) return x:sum() end) end,
  ["map by a lua_function"] = function()
    return r(5):map(gb.data.lua_function(function(x) return x * x - 3 end))
  end,
  ["map to another type"] = function() return r(3):map(function(x) return x:cast "float32" / 4 end) end,
  ["map AUTOTUNE"] = function()
    return r(9):map(function(x) return x + 1 end, { num_parallel_calls = gb.AUTOTUNE }):batch(4)
  end,
  ["map one_hot"] = function() return r(3):map(function(x) return x:one_hot(3) end) end,
  ["range to a stop"] = function() return r(4) end,
  ["range with a step"] = function() return r(2, 11, 4) end,
  ["range negative numbers"] = function() return r(-3, 2, 2) end,
  ["range backwards to nothing"] = function() return r(0, 5, -1) end,
  ["prefetch AUTOTUNE"] = function() return r(5):prefetch(gb.AUTOTUNE) end,
  ["prefetch_to_device"] = function() return r(5):batch(2):prefetch_to_device(gb.devices()[1]) end,
  ["cache of batches"] = function() return r(5):batch(2):cache():repeated(2) end,
  ["cache then take"] = function() return r(5):cache():take(2) end,
  ["options deterministic"] = function()
    return r(6):map(function(x) return x * 2 end, { num_parallel_calls = 3 }):options { deterministic = true }
  end,
  ["ignore_errors of batches"] = function()
    local numbers = gb.tensor({ 5, 7, 9 }, { dtype = "int64" })
    return r(6):map(function(x) return numbers:gather(x) end):batch(2):ignore_errors()
  end,
  ["from_generator of two"] = function()
    return Dataset.from_generator(function()
      for i = 0, 2 do coroutine.yield(i, { i * i, 0.5 }) end
    end, { types = { "int64", "float32[2]" } }):batch(2)
  end,
  ["from_tensors then repeat"] = function() return Dataset.from_tensors(tensor { 1, 2 }):repeated(2) end,
  ["from_tensor_slices of numbers"] = function() return Dataset.from_tensor_slices { 5, 3, 8 } end,
  ["padded_batch 2 of two tensors"] = function() return ragged():enumerate():padded_batch(2) end,
  ["padded_batch 2 of rows"] = function()
    return ragged():map(function(x) return gb.stack({ x, -x }, -1) end):padded_batch(2)
  end,
  ["padded_batch 9"] = function() return ragged():padded_batch(9) end,
  ["bucket_by_sequence_length of two tensors"] = function()
    return ragged():map(function(x) return x, x:sum() end):bucket_by_sequence_length {
      bucket_boundaries = { 3 }, bucket_batch_sizes = { 2, 3 } }
  end,
  ["bucket_by_sequence_length padding -1"] = function()
    return ragged():bucket_by_sequence_length {
      bucket_boundaries = { 3, 5 }, bucket_batch_sizes = { 2, 2, 2 }, padding_values = { -1 } }
  end,
}

local function same_as(x) return x end

local sizes = {
  ["batch"] = function() return r(10):batch(3) end,
  ["filter"] = function() return r(10):filter(function(x) return x:gt(3) end) end,
  ["repeat"] = function() return r(3):repeated() end, ["repeat 4"] = function() return r(3):repeated(4) end,
  ["batch drop_remainder, repeat, skip"] = function()
    return r(7):batch(3, { drop_remainder = true }):repeated(2):skip(1)
  end,
  ["unbatch"] = function() return r(7):batch(3):unbatch() end,
  ["window"] = function() return r(10):window(3, { shift = 2 }) end,
  ["window drop_remainder"] = function() return r(10):window(3, { shift = 2, drop_remainder = true }) end,
  ["shard"] = function() return r(10):shard(4, 3) end,
  ["take"] = function() return r(10):take(3) end, ["take of more"] = function() return r(3):take(10) end,
  ["skip of more"] = function() return r(3):skip(10) end, ["take 0"] = function() return r(4):take(0) end,
  ["zip"] = function() return Dataset.zip { r(4), r(9) } end,
  ["zip with an endless one"] = function() return Dataset.zip { r(4), r(9):repeated() } end,
  ["concatenate"] = function() return r(4):concatenate(r(3)) end,
  ["concatenate an endless one"] = function() return r(4):concatenate(r(3):repeated()) end,
  ["enumerate"] = function() return r(4):enumerate() end, ["map"] = function() return r(4):map(same_as) end,
  ["cache"] = function() return r(4):cache() end, ["prefetch"] = function() return r(4):prefetch(1) end,
  ["shuffle"] = function() return r(4):shuffle(2) end,
  ["shuffle, batch"] = function() return r(5):shuffle(2):batch(2) end,
  ["range"] = function() return r(2, 11, 4) end, ["empty range"] = function() return r(5, 5) end,
  ["from_tensors"] = function() return Dataset.from_tensors(tensor { 1, 2 }) end, ["from_generator"] = ragged,
  ["from_tensor_slices"] = function() return Dataset.from_tensor_slices { 5, 3, 8 } end,
  ["padded_batch"] = function() return r(5):padded_batch(2) end,
  ["flat_map"] = function() return r(4):flat_map(function(i) return r(i:item()) end) end,
  ["interleave"] = function() return r(4):interleave(three) end,
}

compare.run(reference.pipelines, function(case)
  local data = pipelines[case.name]()
  local rows = listed(data, 40)
  testing.equal(#rows, #case.elements)
  for index, row in ipairs(rows) do close(row, case.elements[index], 0, "element " .. index) end
  if case.size then close(data.size, case.size, 0, "size") end
end, {
  ["skip -1 skips all"] = { "an empty dataset is take(0)", "skip: a count of -1; 0 and more are possible" },
  ["repeat 0"] = { "an empty dataset is take(0)", "repeat: a count of 0; at least 1 is needed" },
  ["repeat -1 never ends"] = { "without a count it never ends", "repeat: a count of -1; at least 1 is needed" },
  ["batch larger than the data drop_remainder"] = { "a training without a batch is a mistake", "leaves nothing of" },
  ["shard 3 2 of fewer"] = { "a worker without an element is a mistake", "shard 2 of 3 gets nothing" },
  ["interleave of nothing"] = { "nothing tells what its elements are", "interleave: the source is empty" },
})

compare.run(reference.sizes, function(case)
  close(sizes[case.name]().size or false, case.size, 0, "size")
end)

local function order(data) return checks.order(data, 60) end

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
  ["shuffle with a buffer of 1 keeps the order"] = function()
    return same(order(r(9):shuffle(1, { seed = 3 })), order(r(9)))
  end,
  ["shuffle with a buffer larger than the data"] = function() return whole(order(r(9):shuffle(99, { seed = 3 }))) end,
  ["shuffle: the same seed, the same order"] = function()
    return same(order(r(20):shuffle(9, { seed = 3 })), order(r(20):shuffle(9, { seed = 3 })))
  end,
  ["shuffle: another seed, another order"] = function()
    return not same(order(r(20):shuffle(9, { seed = 3 })), order(r(20):shuffle(9, { seed = 4 })))
  end,
  ["shuffle then batch: every element once"] = function()
    return whole(order(r(20):shuffle(9, { seed = 3 }):batch(3):unbatch()))
  end,
  ["shuffle then filter: every element once"] = function()
    return whole(order(r(20):shuffle(9, { seed = 3 }):filter(function(x) return x:ge(0) end)))
  end,
  ["shuffle without reshuffling: shards are disjoint"] = function()
    local shuffled = r(20):shuffle(20, still)
    return whole(table.move(order(shuffled:shard(2, 0)), 1, 10, 11, order(shuffled:shard(2, 1))))
  end,
  ["shuffle without reshuffling: two readers see one order"] = function()
    local shuffled = r(20):shuffle(20, still)
    return same(order(Dataset.zip { shuffled, shuffled }:map(function(a, b) return a - b end)), order(r(20):map(
      function(x) return x * 0 end)))
  end,
  ["interleave in any order: every element once"] = function()
    local options = { cycle_length = 3, num_parallel_calls = 3, deterministic = false }
    return whole(order(r(20):interleave(function(i) return tens(i, 1) end, options):map(function(x)
      return x // 10
    end)))
  end,
  ["map in any order: every element once"] = function()
    return whole(order(r(20):map(same_as, { num_parallel_calls = 3, deterministic = false })))
  end,
}

compare.run(reference.facts, function(case) close(facts[case.name](), case.holds, 0, "the fact") end, {
  ["take and skip of one shuffle overlap"] = "an epoch has one order, whatever stands behind the shuffle",
})

compare.covers(checks.methods_of "Dataset", {
  shuffle = "the facts have it", repeated = "tf.data's repeat", iter = "it computes nothing",
  stats = "it computes nothing", throttle = "tf.data has none",
}, reference.pipelines, more.pipelines, more.reduced)
compare.covers(gb.data.Dataset, {
  idx = "TensorFlow reads no such files", safetensors = "TensorFlow reads no such files",
  synthetic = "tf.data has none",
}, reference.pipelines, reference.files, more.pipelines)
