-- Stages with states, groups and choices. What tf.data gives is in tests/peers/conformance.
local gb = require "gpubench"
local testing = require "testing"
local values = require "dataset_values"

local data = gb.data
local range = data.Dataset.range

local function add(state, n) return state + n, state + n end

testing.case("take_while ends before the first that does not pass", function()
  testing.equal(values(range(math.huge):take_while(function(n) return (n * n):lt(20) end)), "0 1 2 3 4")
  testing.equal(values(range(9):take_while(data.lua_function(function(n) return n ~= 3 end)):batch(2)), "0,1 2")
  testing.equal(range(5):take_while(function(n) return n:lt(3) end).size, nil)
  testing.raises("take_while: the function gives (int64[]); one bool[] is needed", function()
    range(3):take_while(function(n) return n end)
  end)
end)

testing.case("scan passes a state on", function()
  testing.equal(values(range(1, 5):scan(0, add)), "1 3 6 10")
  testing.equal(values(range(1, 5):scan(gb.tensor(10, { dtype = "int64" }), add):batch(2)), "11,13 16,20")
  testing.equal(values(range(1, 4):map(function(n) return n:cast "float32" end):scan(0.5, add)), "1.5 3.5 6.5")
  testing.equal(range(7):scan(0, add).size, 7)
  local pairs_of = range(1, 4):scan({ gb.tensor(0, { dtype = "int64" }), gb.ones { 2 } }, function(sum, row, n)
    return sum + n, row * 2, row, sum
  end)
  testing.equal(pairs_of.element_types, { "float32[2]", "int64[]" })
  testing.equal(values(pairs_of), "1.0,1.0 2.0,2.0 4.0,4.0")
  testing.equal(values(range(1, 4):scan(0, data.lua_function(function(sum, n) return sum + n, -sum end))), "0 -1 -3")
end)

testing.case("a loop over a scan goes on where another stood", function()
  local sums = range(1, 9):scan(0, add)
  testing.equal(values(sums, { from = { epoch = 0, position = 5 } }), "21 28 36")
end)

testing.case("reduce gives the state behind the last element", function()
  testing.equal(range(5):reduce(0, function(sum, n) return sum + n end):item(), 10)
  testing.equal(range(0):reduce(7, function(sum, n) return sum + n end):item(), 7)
  local most, count = range(5):shuffle(5):batch(2):reduce(
    { gb.tensor(0, { dtype = "int64" }), gb.tensor(0) }, function(most, count, batch)
      return gb.where(batch:max():gt(most), batch:max(), most), count + 1
    end)
  testing.equal(most:item(), 4)
  testing.equal(count:item(), 3.0)
  local text = data.Dataset.from_tensor_slices(gb.arange(3)):reduce({ 0, 0, 0 }, data.lua_function(function(seen, n)
    seen[n + 1] = seen[n + 1] + 1
    return seen
  end))
  testing.equal(text:to_table(), { 1, 1, 1 })
end)

testing.case("what states cannot be says why", function()
  testing.raises("scan: the function gives (int64[], int64[]); it gives the new state first, which is of (float32[])",
    function() range(3):scan(0.0, function(_, n) return n, n end) end)
  testing.raises("scan: the function gives the new state alone", function()
    range(3):scan(0, function(sum) return sum end)
  end)
  testing.raises("reduce: the function gives (int64[], int64[]); it gives the new state alone, which is of (int64[])",
    function() range(3):reduce(0, add) end)
  testing.raises("reduce: the dataset never ends; use take", function()
    range(math.huge):reduce(0, function(sum) return sum end)
  end)
  testing.raises("the initial state is missing", function() range(3):reduce() end)
  testing.raises("not traced (in a dataset: gb.data.lua_function)", function()
    range(3):scan(0, function(sum, n) if n:item() > 1 then sum = sum + n end return sum, n end)
  end)
end)

testing.case("unique keeps the first of equal elements", function()
  testing.equal(values(range(10):map(function(n) return n % 4 end):unique()), "0 1 2 3")
  local words = data.Dataset.from_generator(function()
    for word in ("a rose is a rose"):gmatch "%a+" do coroutine.yield(word) end
  end, { types = { "uint8[?]" } })
  testing.equal(words:unique():reduce(0, function(count) return count + 1 end):item(), 3)
  testing.raises("unique: elements are one tensor of integers or a byte string (uint8[?]), got (int64[], int64[])",
    function() range(3):enumerate():unique() end)
end)

testing.case("apply calls a function of datasets", function()
  testing.equal(values(range(4):apply(function(source) return source:skip(2) end)), "2 3")
  testing.raises("Dataset expected, got number", function() range(4):apply(function() return 4 end) end)
end)

local function by_rest(source, options)
  options.key_func = function(n) return n % 3 end
  options.reduce_func = options.reduce_func or function(_, window) return window:batch(9) end
  return source:group_by_window(options)
end

testing.case("windows have the elements of one key", function()
  local grouped = by_rest(range(11), { window_size = 2 })
  testing.equal(values(grouped), "0,3 1,4 2,5 6,9 7,10 8")
  testing.equal(values(grouped:prefetch(2)), "0,3 1,4 2,5 6,9 7,10 8")
  testing.equal(values(by_rest(range(6), { window_size_func = function(key) return key + 1 end })), "0 3 1,4 2,5")
  local function doubled(_, window) return window:map(function(n) return n * 2 end):batch(2) end
  testing.equal(values(by_rest(range(6), { window_size = 2, reduce_func = doubled })), "0,6 2,8 4,10")
  local key = data.lua_function(function(n) return n > 2 and 1 or 0 end)
  testing.equal(values(range(6):group_by_window { key_func = key, window_size = 3, reduce_func = function(_, window)
    return window:padded_batch(3)
  end }), "0,1,2 3,4,5")
end)

testing.case("what windows cannot be says why", function()
  testing.raises("one of the options 'window_size' and 'window_size_func' is needed", by_rest, range(3), {})
  testing.raises("one of the options 'window_size' and 'window_size_func' is needed", by_rest, range(3),
    { window_size = 2, window_size_func = function(key) return key end })
  testing.raises("group_by_window: a window_size of 0; at least 1 is needed", by_rest, range(3), { window_size = 0 })
  testing.raises("group_by_window: key_func gives (float32[]); one int64[] is needed", function()
    range(3):group_by_window { key_func = function(n) return n:cast "float32" end, window_size = 2,
      reduce_func = function(_, window) return window end }
  end)
  testing.raises("calls reduce_func once, for the windows of all keys, so that the key has no value", by_rest, range(3),
    { window_size = 2, reduce_func = function(key, window) return window:batch(key:item()) end })
  testing.raises("so that the key has no value", by_rest, range(3), { window_size = 2,
    reduce_func = function(key, window) return window:map(function(n) return n + key end) end })
  testing.raises("group_by_window: the window goes through zip", by_rest, range(3), { window_size = 2,
    reduce_func = function(_, window) return data.Dataset.zip { window, window } end })
  testing.raises("Dataset expected, got number", by_rest, range(3),
    { window_size = 2, reduce_func = function() return 3 end })
end)

testing.case("datasets are chosen and drawn", function()
  local list = { range(0, 3), range(10, 15) }
  local turns = range(8):map(function(n) return n % 2 end)
  local choose, sample = data.Dataset.choose_from_datasets, data.Dataset.sample_from_datasets
  testing.equal(values(choose(list, turns)), "0 10 1 11 2 12")
  testing.equal(values(choose(list, turns, { stop_on_empty_dataset = false })), "0 10 1 11 2 12 13")
  testing.raises("choose_from_datasets: a choice of 2; the 2 datasets are counted from 0", function()
    values(choose(list, range(2, 3)))
  end)
  local drawn = sample(list, { weights = { 1, 4 }, seed = 3 })
  testing.equal(values(drawn), values(drawn))
  testing.equal(#values(drawn), #"0 1 2 10 11 12 13 14")
  local anew = sample({ range(100), range(100, 200) }, { seed = 3, rerandomize_each_iteration = true })
  testing.is_true(values(anew) ~= values(anew))
  testing.equal(values(sample(list, { weights = { 1, 0 } })), "0 1 2")
  testing.raises("sample_from_datasets: 1 weights for 2 datasets", sample, list, { weights = { 1 } })
  testing.raises("sample_from_datasets: a weight of -1; weights are not negative, and finite", sample, list,
    { weights = { 1, -1 } })
  gb.config.set_seed(5)
  local first = values(data.Dataset.random():take(3))
  gb.config.set_seed(5)
  testing.equal(values(data.Dataset.random():take(3)), first)
  testing.equal(data.Dataset.random { seed = 1 }.size, math.huge)
end)

testing.case("pipelines with states are destroyed while they run", function()
  local source = range(1000):map(function(n) return n end, { num_parallel_calls = 2 })
  for _, pipeline in ipairs {
    source:scan(0, add), by_rest(source, { window_size = 4 }), source:take_while(function(n) return n:lt(900) end),
    source:unique(), data.Dataset.sample_from_datasets { source, source },
  } do
    local next_element = pipeline:prefetch(2):iter()
    testing.is_true(next_element())
  end
end)
