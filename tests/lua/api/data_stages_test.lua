local gb = require "gpubench"
local testing = require "testing"
local values = require "dataset_values"

local data = gb.data
local range = data.Dataset.range

testing.case("ranges", function()
  testing.equal(values(range(4)), "0 1 2 3")
  testing.equal(values(range(3, 0, -1)), "3 2 1")
  testing.equal(range(0, math.huge).size, math.huge)
  testing.raises("range: a step of 0 never gets from 0 to 3", range, 0, 3, 0)
  testing.raises("integer or math.huge expected, got 2.5", range, 2.5)
end)

testing.case("synthetic elements follow their seed", function()
  local options = { types = { "float32[2, 2]", "int64" }, count = 5, resident = false, seed = 3 }
  local function sums()
    local found = {}
    for x, label in data.Dataset.synthetic(options):iter() do
      testing.is_true(label:item() < 10)
      found[#found + 1] = x:sum():item()
    end
    return found
  end
  testing.equal(sums(), sums())
  testing.raises("synthetic: 'float32[x]' is no type", data.Dataset.synthetic, { types = { "float32[x]" } })
  testing.raises("unknown option 'type'", data.Dataset.synthetic, { type = { "int64" } })
end)

testing.case("filters are traced, or really run in Lua", function()
  testing.equal(values(range(10):filter(function(n) return n:ge(7) end)), "7 8 9")
  local odd = data.lua_function(function(n) return n % 2 == 1 end)
  testing.equal(values(range(6):filter(odd)), "1 3 5")
  testing.equal(values(range(6):filter(odd):batch(2)), "1,3 5")
  testing.raises("filter: the function gives (int64[]); one bool[] is needed", function()
    range(3):filter(function(n) return n end)
  end)
end)

testing.case("stages chain", function()
  testing.equal(values(range(10):shard(3, 1)), "1 4 7")
  testing.equal(values(range(2):concatenate(range(3))), "0 1 0 1 2")
  testing.equal(values(range(7):batch(3):unbatch()), "0 1 2 3 4 5 6")
  testing.equal(values(range(5, 7):enumerate(3)), "3 4")
  testing.equal(values(range(3):throttle { latency = 1e-6, bandwidth = 1e9 }), "0 1 2")
  testing.equal(values(range(5):padded_batch(2)), "0,1 2,3 4")
  testing.raises("padded_batch: 1 padding values", function()
    range(3):enumerate():padded_batch(2, { padding_values = { 1 } })
  end)
  testing.raises("an extent of -2", function() range(3):padded_batch(2, { padded_shapes = { { -2 } } }) end)
end)

testing.case("caches keep the first epoch", function()
  local shuffled = range(9):shuffle(9, { seed = 1 })
  local cached = shuffled:cache()
  local first = values(cached)
  testing.equal(values(cached), first)
  testing.equal(values(cached:batch(9)):gsub(",", " "), first)
  local in_a_file = data.Dataset.from_tensor_slices(gb.zeros { 1, 3 }):cache(gb._native.options.out .. "/results/kept")
  for _ in in_a_file:iter() do end
  for row in in_a_file:iter() do  -- its memory is no longer that of the file
    row[1] = 5
    testing.equal(row:to_table(), { 5.0, 0.0, 0.0 })
  end
  testing.raises("more than the limit of 20 B", function() range(9):cache { limit = 20 } end)
  testing.raises("at least 1 byte is expected, got 0", function() range(9):cache { limit = 0 } end)
end)

testing.case("interleave reads lists and what a function makes", function()
  local list = { range(0, 3), range(10, 12) }
  testing.equal(values(data.Dataset.interleave(list)), "0 10 1 11 2")
  testing.equal(values(data.Dataset.interleave(list, { cycle_length = 1 })), "0 1 2 10 11")
  testing.raises("interleave: no datasets given; at least one is needed", data.Dataset.interleave, {})
  testing.equal(values(data.Dataset.interleave(list, { num_parallel_calls = gb.AUTOTUNE })), "0 10 1 11 2")
  local made = range(0, 30, 10):interleave(function(first)
    local n = first:item()
    return range(n, n + 2)
  end, { cycle_length = 2, block_length = 2 })
  testing.equal(values(made), "0 1 10 11 20 21")
  testing.equal(values(made:prefetch(2)), "0 1 10 11 20 21")
  testing.raises("interleave: the function returned a number; it returns the Dataset to read", function()
    range(3):interleave(function() return 3 end)
  end)
  testing.raises("interleave: the function is the script's and cannot be called by a pipeline's thread", function()
    values(made:repeated(2):prefetch(2))
  end)
end)

testing.case("Lua functions look at values and give any of their types", function()
  local function describe(n)
    if n % 2 == 0 then return n / 4, true, { { n, n }, { n, n } }, ("x"):rep(n) end
    return -n, false, { { 0, 0 }, { 0, 0 } }, ""
  end
  local declared = { "float32", "bool", "int64[2, 2]", "uint8[?]" }
  local mapped = range(4):map(data.lua_function(describe, { output = declared }))
  testing.equal(mapped.element_types, { "float32[]", "bool[]", "int64[2, 2]", "uint8[?]" })
  local rows = {}
  for a, b, c, d in mapped:iter() do rows[#rows + 1] = { a:item(), b:item(), c:to_table()[2][1], #d } end
  testing.equal(rows, { { 0.0, true, 0, 0 }, { -1.0, false, 0, 0 }, { 0.5, true, 2, 2 }, { -3.0, false, 0, 0 } })

  local inferred = range(4):map(data.lua_function(function(n) return n + 1, { 0.5, 1 }, n > 0, "ab" end))
  testing.equal(inferred.element_types, { "int64[]", "float32[2]", "bool[]", "uint8[?]" })
end)

testing.case("Lua functions take tables, strings and copies of their variables", function()
  local words = data.Dataset.from_generator(function()
    for _, word in ipairs { "one", "three" } do coroutine.yield(word, { { 1, 2 }, { 3, 4 } }) end
  end, { types = { "uint8[?]", "float32[2, 2]" } })
  local scale, names = 10, { three = { 3 } }
  local function lookup(word) return names[word] and names[word][1] or 0 end
  local mapped = words:map(data.lua_function(function(word, matrix)
    return lookup(word) * scale + math.tointeger(matrix[2][1])
  end, { output = { "int64" } }))
  testing.equal(values(mapped), "3 33")
  scale = 100
  testing.equal(values(mapped), "3 33")
end)

testing.case("Lua functions draw by the element's number", function()
  local function draw() return math.random(1000000) end
  local drawn = range(20):map(data.lua_function(draw))
  local all = values(drawn:take(20))
  testing.equal(values(drawn, { from = { epoch = 0, position = 5 } }), (all:gsub("^%S+ %S+ %S+ %S+ %S+ ", "")))
  local function pipeline(seed, options)
    gb.config.set_seed(seed)
    return values(range(200):map(data.lua_function(draw), options))
  end
  testing.equal(pipeline(1, { num_parallel_calls = 3 }), pipeline(1))
  testing.is_true(pipeline(1) ~= pipeline(2))
  local twice = data.lua_function(draw, { output = { "int64" } })
  testing.is_true(values(range(20):map(twice)) ~= values(range(20):map(twice)))
end)

testing.case("neighbours draw independently in a Lua function", function()
  local flips = {}
  for flip in range(4096):map(data.lua_function(function() return math.random(0, 1) end)):iter() do
    flips[#flips + 1] = 2 * flip:item() - 1
  end
  local sum, products = 0, 0
  for i, flip in ipairs(flips) do
    sum = sum + flip
    products = products + flip * (flips[i + 1] or 0)
  end
  testing.is_true(math.abs(sum / #flips) < 0.1)
  testing.is_true(math.abs(products / #flips) < 0.1)
end)

testing.case("what a Lua function cannot do says why", function()
  local function failing(fn, options)
    return function() return values(range(3):map(data.lua_function(fn, options))) end
  end
  local int = { output = { "int64" } }
  testing.raises("lua_function: the function uses 'gb', a table with a metatable; it runs in threads",
    failing(function(n) return gb.zeros { n } end))
  local floor = math.floor
  testing.raises("lua_function: the function uses 'floor', a native function", failing(function(n) return floor(n) end))
  local held = gb.zeros { 2 }
  testing.raises("lua_function: the function uses 'held', a Tensor", failing(function() return #held end))
  testing.raises("lua_function: a function written in Lua is expected", data.lua_function, print)
  testing.raises("data_stages_test.lua:", failing(function(n) return n.x.y end, int))
  testing.raises("attempt to index a number value", failing(function(n) return n.x.y end, int))
  testing.raises("lua_function: the function returned 2 values where 1 are expected: (int64[])",
    failing(function() return 1, 2 end, int))
  testing.raises("lua_function: result 1: int64[] is expected, got int64[2]",
    failing(function() return { 1, 2 } end, int))
  testing.raises("lua_function: result 1: int64[] is expected: 0.5 is no int64",
    failing(function() return 0.5 end, int))
  testing.raises("lua_function: the function returned nothing", failing(function() end))
  testing.raises("option 'output': at least one type is expected", failing(function() end, { output = {} }))
end)

testing.case("a map that looks at values names both ways out", function()
  local function looks() range(3):map(function(n) if n:item() > 1 then return n end return -n end) end
  testing.raises("gb.where", looks)
  testing.raises("gb.data.lua_function", looks)
end)

testing.case("generators start anew in every epoch", function()
  local calls = 0
  local counted = data.Dataset.from_generator(function()
    calls = calls + 1
    for i = 1, 3 do coroutine.yield(i) end
  end, { types = { "int64" } })
  testing.equal(values(counted), "1 2 3")
  testing.equal(values(counted:repeated(2):batch(2)), "1,2 3,1 2,3")
  testing.equal(calls, 3)
  local closures = data.Dataset.from_generator(function()
    local i = 0
    return function()
      i = i + 1
      if i <= 2 then return gb.tensor { i, i } end
    end
  end, { types = { "float32[2]" } })
  testing.equal(values(closures), "1.0,1.0 2.0,2.0")
end)

testing.case("generators are read by the script's thread alone, and fail by name", function()
  local function of(fn, ...)
    local types = { ... }
    return function() return values(data.Dataset.from_generator(fn, { types = types })) end
  end
  local numbers = data.Dataset.from_generator(function() coroutine.yield(1) end, { types = { "int64" } })
  testing.raises("from_generator: the function is the script's and cannot be called by a pipeline's thread",
    function() values(numbers:prefetch(2)) end)
  testing.raises("from_generator: an element of 2 values where 1 are expected: (int64[])",
    of(function() coroutine.yield(1, 2) end, "int64"))
  testing.raises("from_generator: value 1: int64[] is expected, got int64[1]",
    of(function() coroutine.yield { 1 } end, "int64"))
  testing.raises("from_generator: value 1: int64[] is expected, got float32[2]",
    of(function() coroutine.yield(gb.zeros { 2 }) end, "int64"))
  testing.raises("from_generator: the function returned a number; it yields each element (coroutine.yield), or returns "
    .. "a function that gives the next one at each call", of(function() return 5 end, "int64"))
  testing.raises("from_generator: the function returned a string; it yields", of(function()
    coroutine.yield(1)
    return "done"
  end, "int64"))
  testing.equal(of(function() return nil end, "int64")(), "")
  testing.raises("out of ideas", of(function() error "out of ideas" end, "int64"))
  testing.raises("from_generator: no types given", of(function() end))
end)

testing.case("a loop goes on where another stood", function()
  testing.raises("iter: a position of -2; it cannot be negative", function()
    gb.data.Dataset.range(5):iter { from = { epoch = 0, position = -2 } }
  end)
  local function pipeline() return range(50):shuffle(20, { seed = 4 }):map(function(n) return n * 2 end):batch(3) end
  local whole = pipeline()
  values(whole)
  local second = values(whole)
  local dataset = pipeline()
  values(dataset)
  local iterator = dataset:iter()
  local taken = {}
  for _ = 1, 4 do taken[#taken + 1] = table.concat(iterator():to_table(), ",") end
  local position = iterator:state()
  testing.equal(position, { epoch = 1, position = 4 })
  local other = pipeline()
  testing.equal(table.concat(taken, " ") .. " " .. values(other, { from = position }), second)
  testing.equal(other:iter():state(), { epoch = 2, position = 0 })
  testing.raises("iter: position 99 is behind the end of the epoch, which has 17 elements",
    function() other:iter { from = { epoch = 0, position = 99 } } end)
  testing.raises("unknown option 'form'", function() other:iter { form = position } end)
  local late = { epoch = 1 << 40, position = 0 }
  testing.equal(other:iter({ from = late }):state(), late)
  testing.equal(other:iter():state().epoch, late.epoch + 1)
end)

testing.case("a pipeline that hands elements on in any order has no position", function()
  local function any(workers, deterministic)
    return range(8):map(function(n) return n end, { num_parallel_calls = workers, deterministic = deterministic })
  end
  local function state_of(dataset) return dataset:batch(2):iter():state().position end
  testing.equal(state_of(any(2, true)), 0)
  testing.equal(state_of(any(0, false)), 0)
  testing.equal(state_of(any(2):options { deterministic = true }:options { threads = 2 }), 0)
  testing.raises("state: elements come as threads have them ready", function() state_of(any(2, false)) end)
  testing.raises("map(workers=2) > options(deterministic=false)",
    function() state_of(any(2):options { deterministic = false }) end)
  testing.raises("iter: from: elements come as threads have them ready",
    function() any(2, false):iter { from = { epoch = 0, position = 1 } } end)
  testing.raises("throttle: a bandwidth of 0 bytes/s", function() range(3):throttle { bandwidth = 0 } end)
end)

testing.case("an interleave that is not told whether to keep the order is told by the options", function()
  local Dataset = gb.data.Dataset
  local slow = Dataset.range(5):throttle { latency = 0.05 }
  local mixed = Dataset.interleave({ slow, Dataset.range(100, 105) }, { num_parallel_calls = 2 })
  local function first_of(dataset)
    local first = dataset:take(1):iter()()
    return first:item()
  end
  testing.equal(first_of(mixed), 0)
  testing.equal(first_of(mixed:options { deterministic = false }), 100)
  local told = Dataset.interleave({ slow, Dataset.range(100, 105) }, { num_parallel_calls = 2, deterministic = true })
  testing.equal(first_of(told:options { deterministic = false }), 0)
end)

testing.case("buffers of an interleave under AUTOTUNE stay within the budget", function()
  local Dataset = gb.data.Dataset
  local inputs = {}
  for i = 1, 4 do inputs[i] = Dataset.synthetic { types = { "float32[131072]" }, count = 20 } end
  local all = Dataset.interleave(inputs, { num_parallel_calls = gb.AUTOTUNE }):options { ram_budget = 2 << 20 }
  local count = 0
  for _ in all:iter() do count = count + 1 end
  testing.equal(count, 80)
  for _, stage in ipairs(all:stats()) do
    if stage.stage == "interleave" then
      testing.is_true(stage.buffer * (512 << 10) <= 2 << 20, tostring(stage.buffer))
    end
  end
end)

testing.case("iterators that a script forgets do not add up", function()
  local function threads()
    local file <close> = io.open "/proc/self/status"
    return tonumber(file:read("a"):match "Threads:%s+(%d+)")
  end
  local all = range(50):map(function(v) return v * 2 end, { num_parallel_calls = 2 }):batch(4):prefetch(2)
  collectgarbage()
  local before, most = threads(), 0
  collectgarbage "stop"  -- what the iterators ask for is done all the same
  for _ = 1, 300 do
    local next_element = all:iter()
    next_element()
    most = math.max(most, threads())
  end
  collectgarbage "restart"
  testing.is_true(most - before < 150, string.format("%d threads beside the first %d", most - before, before))
end)

testing.case("windows overlap, have strides, and drop what is incomplete", function()
  testing.equal(values(range(7):window(3)), "0,1,2 3,4,5 6")
  testing.equal(values(range(7):window { size = 3, shift = 2, drop_remainder = true }), "0,1,2 2,3,4 4,5,6")
  testing.equal(values(range(7):window(3, { shift = 1, stride = 2, drop_remainder = true })), "0,2,4 1,3,5 2,4,6")
  testing.equal(values(range(7):window(2, { drop_remainder = true }):batch(2)
    :map(function(x) return x:sum() end)), "6 9")
  testing.raises("size is missing: a number first, or by name", function() range(7):window { shift = 2 } end)
  testing.raises("window: a shift of 0; at least 1 is needed", function() range(7):window(2, { shift = 0 }) end)
end)

testing.case("windows and buckets are destroyed while they run", function()
  local source = range(1000):map(function(n) return n end, { num_parallel_calls = 2 })
  for value in source:window(5, { shift = 2 }):prefetch(4):iter() do
    testing.equal(#value, 5)
    break
  end
  local ragged = range(1, 1000):map(gb.data.lua_function(function(n)
    return ("x"):rep(n % 9 + 1)
  end, { output = { "uint8[?]" } }), { num_parallel_calls = 2 })
  for batch in ragged:bucket_by_sequence_length({ bucket_boundaries = { 5 },
    bucket_batch_sizes = { 2, 3 } }):prefetch(2)
    :iter() do
    testing.is_true(#batch >= 2)
    break
  end
end)

testing.case("buckets hold elements of similar length", function()
  local words = range(1, 7):map(gb.data.lua_function(function(n) return ("x"):rep(n) end, { output = { "uint8[?]" } }))
  local function shapes(options)
    local found = {}
    for batch in words:bucket_by_sequence_length(options):iter() do
      found[#found + 1] = table.concat(batch.shape, "x")
    end
    return table.concat(found, " ")
  end
  local options = { bucket_boundaries = { 3, 5 }, bucket_batch_sizes = { 2, 2, 1 } }
  testing.equal(shapes(options), "2x2 2x4 1x5 1x6")
  options.bucket_boundaries[3], options.bucket_batch_sizes[4] = 8, 1
  options.pad_to_bucket_boundary = true
  testing.equal(shapes(options), "2x2 2x4 1x7 1x7")
  testing.raises("option 'bucket_batch_sizes' is required", function()
    words:bucket_by_sequence_length { bucket_boundaries = { 3 } }
  end)
end)

testing.case("datasets of one element, flat maps, and batches of another size", function()
  testing.equal(data.Dataset.from_tensors(gb.zeros { 4, 2 }).element_types, { "float32[4, 2]" })
  testing.equal(values(range(1, 4):flat_map(function(n) return range(n:item()) end)), "0 0 1 0 1 2")
  testing.raises("flat_map: argument #1", function() range(3):flat_map(3) end)
  testing.raises("the function returned a number", function()
    for _ in range(3):flat_map(function() return 3 end):iter() do end
  end)
  testing.equal(values(range(7):batch(3):rebatch(2, { drop_remainder = true })), "0,1 2,3 4,5")
  testing.raises("unbatch: int64[] is a scalar", function() range(7):rebatch(2) end)
end)
