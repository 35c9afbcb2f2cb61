-- Pipelines with states, groups and choices, images, and the reviews of imdb.npz against tf.data, TensorFlow and Keras
-- (input_values.lua, written by input.py).
local gb = require "gpubench"
local testing = require "testing"
local compare = dofile "tests/peers/conformance/compare.lua"
local checks = dofile "tests/peers/conformance/data_checks.lua"
local reference = dofile "tests/peers/conformance/input_values.lua"
local close, tensor = compare.close, compare.tensor
local listed = checks.listed

local Dataset = gb.data.Dataset
local r = Dataset.range

local function halves(count)
  return r(count):map(function(x) return x:cast "float32" / 2 end)
end

local function pairs_of(count)
  return Dataset.zip { r(count), r(10, 10 + count) }
end

local function summed(state, x) return state + x, state + x end

local function by_rest(data, size, reduce, size_of)
  return data:group_by_window {
    key_func = function(x) return x % 3 end, window_size = size, window_size_func = size_of,
    reduce_func = reduce or function(_, window) return window:batch(4) end,
  }
end

local function three(...)
  local list = {}
  for index, count in ipairs { ... } do list[index] = r(10 * (index - 1), 10 * (index - 1) + count) end
  return list
end

local function chosen(datasets, choice, options)
  return Dataset.choose_from_datasets(datasets, Dataset.from_tensor_slices(tensor(choice)), options)
end

local function ragged()
  return Dataset.from_generator(function()
    for _, length in ipairs { 3, 1, 4, 2, 5 } do
      local element = {}
      for i = 1, length do element[i] = i end
      coroutine.yield(element)
    end
  end, { types = { "int64[?]" } })
end

local function words()
  return Dataset.from_generator(function()
    for _, word in ipairs { "a", "rose", "is", "a", "rose", "", "is" } do coroutine.yield(word) end
  end, { types = { "uint8[?]" } })
end

local passing = { stop_on_empty_dataset = false }
local pipelines = {
  ["take_while"] = function() return r(9):take_while(function(x) return (x * x):lt(20) end) end,
  ["take_while none"] = function() return r(5):take_while(function(x) return x:gt(3) end) end,
  ["take_while all"] = function() return r(5):take_while(function(x) return x:lt(99) end) end,
  ["take_while passes again"] = function() return r(9):take_while(function(x) return (x % 4):lt(3) end) end,
  ["take_while of two tensors"] = function()
    return pairs_of(6):take_while(function(a, b) return (a + b):lt(16) end)
  end,
  ["take_while then repeat"] = function() return r(9):take_while(function(x) return x:lt(3) end):repeated(2) end,
  ["take_while then batch"] = function() return r(9):take_while(function(x) return x:lt(5) end):batch(2) end,
  ["take_while of a repeat"] = function() return r(4):repeated():take_while(function(x) return x:lt(3) end) end,
  ["take_while of batches"] = function() return r(9):batch(2):take_while(function(x) return x:sum():lt(10) end) end,
  ["scan"] = function() return r(1, 6):scan(0, summed) end,
  ["scan of numbers with a point"] = function() return halves(5):scan(0.25, summed) end,
  ["scan of two tensors"] = function()
    return pairs_of(4):scan(1, function(s, a, b) return s + a * b, s, b end)
  end,
  ["scan with a state of two"] = function()
    return halves(4):scan({ gb.tensor(0), gb.tensor(0) }, function(total, count, x)
      return total + x, count + 1, total, count
    end)
  end,
  ["scan with a state of rows"] = function()
    return halves(4):scan({ 0.0, 0.0 }, function(s, x) return gb.stack { s[2], x }, s end)
  end,
  ["scan then repeat"] = function() return r(1, 4):scan(0, summed):repeated(2) end,
  ["scan of a repeat"] = function() return r(1, 3):repeated(2):scan(0, summed) end,
  ["scan of nothing"] = function() return r(0):scan(0, summed) end,
  ["scan of batches"] = function()
    return r(5):batch(2):scan(1, function(s, x) return s + x:sum(), x * s end)
  end,
  ["scan then skip"] = function() return r(1, 6):scan(0, summed):skip(2) end,
  ["unique"] = function() return r(10):map(function(x) return x * x % 7 end):unique() end,
  ["unique of texts"] = function() return words():unique() end,
  ["unique of a repeat"] = function() return r(3):repeated(4):unique() end,
  ["unique then repeat"] = function() return r(6):map(function(x) return x % 3 end):unique():repeated(2) end,
  ["unique then batch"] = function() return r(6):map(function(x) return x // 2 end):unique():batch(2) end,
  ["group_by_window"] = function() return by_rest(r(14), 4) end,
  ["group_by_window larger than the groups"] = function() return by_rest(r(8), 9) end,
  ["group_by_window of 1"] = function() return by_rest(r(4), 1) end,
  ["group_by_window of nothing"] = function() return by_rest(r(0), 2) end,
  ["group_by_window drop_remainder"] = function()
    return by_rest(r(14), 4, function(_, window) return window:batch(4, { drop_remainder = true }) end)
  end,
  ["group_by_window of two tensors"] = function()
    return by_rest(pairs_of(7), 2, function(_, window) return window:batch(2) end)
  end,
  ["group_by_window with small batches"] = function()
    return by_rest(r(14), 4, function(_, window) return window:batch(3) end)
  end,
  ["group_by_window without a batch"] = function()
    return by_rest(r(9), 2, function(_, window) return window end)
  end,
  ["group_by_window with a map"] = function()
    return by_rest(r(9), 2, function(_, window) return window:map(function(x) return x * 2 end):batch(2) end)
  end,
  ["group_by_window with a repeat"] = function()
    return by_rest(r(6), 2, function(_, window) return window:batch(2):repeated(2) end)
  end,
  ["group_by_window with a take"] = function()
    return by_rest(r(12), 3, function(_, window) return window:take(2) end)
  end,
  ["group_by_window then repeat"] = function() return by_rest(r(5), 2):repeated(2) end,
  ["group_by_window window_size_func"] = function()
    return by_rest(r(14), nil, nil, function(key) return key + 1 end)
  end,
  ["group_by_window padded"] = function()
    return ragged():group_by_window {
      key_func = gb.data.lua_function(function(x) return #x // 3 end), window_size = 2,
      reduce_func = function(_, window) return window:padded_batch(2) end,
    }
  end,
  ["group_by_window negative keys"] = function()
    return r(7):group_by_window {
      key_func = function(x) return -x % 3 - 2 end, window_size = 5,
      reduce_func = function(_, window) return window:batch(9) end,
    }
  end,
  ["apply"] = function() return r(8):apply(function(data) return data:skip(2):batch(3) end) end,
  ["choose_from_datasets"] = function() return chosen(three(3, 2, 4), { 0, 1, 2, 2, 1, 0 }) end,
  ["choose_from_datasets stops"] = function() return chosen(three(3, 2, 4), { 1, 1, 1, 0, 0 }) end,
  ["choose_from_datasets passes over"] = function()
    return chosen(three(3, 2, 4), { 1, 1, 1, 0, 2, 1, 0 }, passing)
  end,
  ["choose_from_datasets of all"] = function()
    return Dataset.choose_from_datasets(three(3, 2, 4), r(3):repeated(), passing)
  end,
  ["choose_from_datasets of two tensors"] = function() return chosen({ pairs_of(3), pairs_of(2) }, { 1, 0, 0 }) end,
  ["choose_from_datasets then repeat"] = function() return chosen(three(2, 2), { 0, 1 }):repeated(2) end,
  ["sample_from_datasets of one"] = function()
    return Dataset.sample_from_datasets({ r(4) }, { weights = { 0.5 } })
  end,
  ["sample_from_datasets with a weight of 0"] = function()
    return Dataset.sample_from_datasets(three(3, 2), { weights = { 0, 1 } })
  end,
  ["random"] = function()
    return Dataset.random({ seed = 1 }):take(4):map(function(x)
      return x:ge(0):logical_and(x:lt(1 << 32)):cast "int64"
    end)
  end,
}

local sizes = {
  ["take_while"] = function() return r(4):take_while(function(x) return x:lt(2) end) end,
  ["scan"] = function() return r(4):scan(1, summed) end,
  ["scan of one without end"] = function() return r(4):repeated():scan(1, summed) end,
  ["unique"] = function() return r(4):unique() end,
  ["group_by_window"] = function() return by_rest(r(4), 2) end,
  ["apply"] = function() return r(4):apply(function(data) return data:batch(3) end) end,
  ["choose_from_datasets"] = function() return chosen(three(3, 2), { 0, 1 }) end,
  ["choose_from_datasets without end"] = function()
    return Dataset.choose_from_datasets({ r(3):repeated(), r(2) }, r(2):repeated(), passing)
  end,
  ["choose_from_datasets without end stops"] = function()
    return Dataset.choose_from_datasets({ r(3):repeated(), r(2) }, r(2):repeated())
  end,
  ["choose_from_datasets of choices that end"] = function()
    return Dataset.choose_from_datasets({ r(3):repeated(), r(2):repeated() }, r(2))
  end,
  ["sample_from_datasets"] = function() return Dataset.sample_from_datasets(three(3, 2)) end,
  ["sample_from_datasets without end"] = function() return Dataset.sample_from_datasets { r(3):repeated(), r(2) } end,
  ["random"] = function() return Dataset.random { seed = 1 } end,
}

-- The tensors of at most so many elements.
compare.run(reference.pipelines, function(case)
  local data = pipelines[case.name]()
  local rows = listed(data, 40)
  testing.equal(#rows, #case.elements)
  for index, row in ipairs(rows) do
    for place, expected in ipairs(case.elements[index]) do
      close(row[place], expected, 1e-6, string.format("tensor %d of element %d", place, index))
    end
  end
  close(data.size, case.size, 0, "size")
end)

compare.run(reference.sizes, function(case)
  close(sizes[case.name]().size or false, case.size, 0, "size")
end, {
  ["choose_from_datasets without end stops"] =
    "it ends with the dataset that ends, where tf.data says that it does not",
  ["choose_from_datasets of choices that end"] = "it ends with the choices, where tf.data says that it does not",
})

local reduced = {
  ["reduce"] = function() return r(5):reduce(0, function(s, x) return s + x end) end,
  ["reduce of nothing"] = function() return r(0):reduce(7, function(s, x) return s + x end) end,
  ["reduce of batches"] = function() return halves(5):batch(2):reduce(0.0, function(s, x) return s + x:sum() end) end,
  ["reduce of two tensors"] = function()
    return pairs_of(4):reduce(1, function(s, a, b) return s * 2 + a * b end)
  end,
  ["reduce to two"] = function()
    return halves(5):reduce({ gb.tensor(0), gb.tensor(0) }, function(most, count, x)
      return most:maximum(x), count + 1
    end)
  end,
  ["reduce of a shuffle"] = function()
    return r(9):shuffle(9, { seed = 1 }):reduce(0, function(s, x) return s + x * x end)
  end,
  ["reduce of a filter"] = function()
    return r(9):filter(function(x) return (x % 2):eq(1) end):reduce(0, function(s, x) return s * 10 + x end)
  end,
}

compare.run(reference.reduced, function(case)
  local state = table.pack(reduced[case.name]())
  testing.equal(state.n, #case.state)
  for index, expected in ipairs(case.state) do close(state[index], expected, 1e-6, "tensor " .. index) end
end)

local function order(data) return checks.order(data, 2000) end

local function epochs_equal(data)
  return table.concat(order(data), " ") == table.concat(order(data), " ")
end

local far = { r(1000000), r(1000000, 2000000) }

local function of_first(weights)
  local count, rising, last = 0, true, -1
  for _, number in ipairs(order(Dataset.sample_from_datasets(far, { weights = weights, seed = 3 }):take(2000))) do
    if number < 1000000 then count, rising, last = count + 1, rising and number > last, number end
  end
  return count / 2000, rising
end

local facts = {
  ["sample_from_datasets: a share of 0.8"] = function() return math.abs(of_first { 0.8, 0.2 } - 0.8) < 0.05 end,
  ["sample_from_datasets: each dataset in its order"] = function() return select(2, of_first { 0.8, 0.2 }) end,
  ["sample_from_datasets: weights need no sum of 1"] = function() return math.abs(of_first { 8, 2 } - 0.8) < 0.05 end,
  ["sample_from_datasets: all elements"] = function()
    local numbers = order(Dataset.sample_from_datasets(three(5, 9), { seed = 3 }))
    table.sort(numbers)
    return table.concat(numbers, " ") == "0 1 2 3 4 10 11 12 13 14 15 16 17 18"
  end,
  ["sample_from_datasets: stops at an empty one"] = function()
    return #order(Dataset.sample_from_datasets(three(5, 900), { weights = { 0.9, 0.1 }, seed = 3,
      stop_on_empty_dataset = true })) < 100
  end,
  ["sample_from_datasets: epochs are equal"] = function()
    return epochs_equal(Dataset.sample_from_datasets(far, { seed = 3 }):take(50))
  end,
  ["sample_from_datasets: epochs differ"] = function()
    return not epochs_equal(Dataset.sample_from_datasets(far, { seed = 3, rerandomize_each_iteration = true }):take(50))
  end,
  ["random: epochs are equal"] = function() return epochs_equal(Dataset.random({ seed = 3 }):take(5)) end,
  ["random: epochs differ"] = function()
    return not epochs_equal(Dataset.random({ seed = 3, rerandomize_each_iteration = true }):take(5))
  end,
  ["random: another seed, other numbers"] = function()
    return order(Dataset.random({ seed = 3 }):take(1))[1] ~= order(Dataset.random({ seed = 4 }):take(1))[1]
  end,
  ["group_by_window: shuffled windows differ"] = function()
    local windows = r(60):group_by_window {
      key_func = function(x) return x // 10 end, window_size = 10,
      reduce_func = function(_, window) return window:shuffle(10, { seed = 1 }):batch(10) end,
    }
    local different, count = {}, 0
    for batch in windows:map(function(x) return x % 10 end):iter() do
      local text = table.concat(batch:to_table(), " ")
      if not different[text] then different[text], count = true, count + 1 end
    end
    return count > 1
  end,
}

compare.run(reference.facts, function(case) close(facts[case.name](), case.holds, 0, "the fact") end)

compare.run(reference.functions, function(case)
  local inputs, sources = {}, {}
  for index, dtype in ipairs(case.types) do
    inputs[index] = gb.tensor(case.inputs[index], { dtype = dtype })
    if dtype == "float32" then sources[#sources + 1] = inputs[index] end
  end
  local tape <close> = gb.tape()
  local output = gb.image[case.class](inputs[1], table.unpack(case.arguments))
  -- The byte below may be meant where a float is a whole number.
  close(output, case.output, output.dtype == "uint8" and 0 or 2e-5, "output")
  if #case.gradients == 0 then return end
  local gradients = tape:gradient(output:square():sum(), sources)
  for index, expected in ipairs(case.gradients) do close(gradients[index], expected, 1e-4, "gradient " .. index) end
end)

compare.run(reference.random_images, checks.draws)

local results = gb._native.options.out .. "/results/"
do
  local file <close> = assert(io.open(results .. "imdb.npz", "wb"))
  file:write(reference.archives[1].file)
end

compare.run(reference.reviews, function(case)
  for split, expected in pairs(case.splits) do
    local data = gb.datasets.imdb(split, compare.copy(case.options, { directory = results }))
    local rows = listed(data, 40)
    testing.equal(#rows, #expected)
    for index, row in ipairs(rows) do
      close(row[1], expected[index][1], 0, split .. ": review " .. index)
      close(row[2], expected[index][2], 0, split .. ": label " .. index)
    end
  end
end)
