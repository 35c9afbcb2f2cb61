-- Datasets in the forms of Keras: loops over them, and sizes by name.
local gb = require "gpubench"
local testing = require "testing"
local case, equal, raises = testing.case, testing.equal, testing.raises

local range = gb.data.Dataset.range

local function values(dataset)
  local found = {}
  for x in dataset do
    local plain = x:to_table()
    found[#found + 1] = type(plain) == "table" and table.concat(plain, ",") or tostring(plain)
  end
  return table.concat(found, " ")
end

case("a loop takes a dataset by itself, once per epoch", function()
  local numbers = range(5)
  equal(values(numbers), "0 1 2 3 4")
  equal(values(numbers), "0 1 2 3 4")
  local shuffled = range(100):shuffle(100, { seed = 1 })
  local first = values(shuffled)
  testing.is_true(first ~= values(shuffled), "another order in the second epoch")
  local sums = {}
  for x, y in gb.data.Dataset.from_tensor_slices { gb.arange(3), gb.ones { 3 } }:batch(2) do
    sums[#sums + 1] = (x:cast "float32" + y):sum():item()
  end
  equal(sums, { 3.0, 3.0 })
end)

case("loops over one dataset may be nested, left and begun anew", function()
  local numbers, seen = range(3), {}
  for x in numbers do
    for y in numbers do
      seen[#seen + 1] = x:item() .. y:item()
      if y:item() == 1 then break end
    end
  end
  equal(table.concat(seen, " "), "00 01 10 11 20 21")
  equal(values(numbers), "0 1 2")
end)

case("the loop goes on whatever its body does with the element", function()
  local kept, sum = {}, 0
  for x in range(4) do
    kept[#kept + 1] = x
    x = gb.tensor(7, { dtype = "int64" })
    sum = sum + x:item()
    collectgarbage()
  end
  equal({ sum, kept[1]:item(), kept[4]:item() }, { 28, 0, 3 })
  local count = 0
  for x in range(4) do
    local _ <close> = x
    count = count + 1
  end
  equal(count, 4)
  local together = coroutine.wrap(function()
    for x in range(3) do coroutine.yield(x:item()) end
  end)
  equal({ together(), together(), together(), together() }, { 0, 1, 2 })
end)

case("an empty dataset has no elements", function()
  equal(values(range(0)), "")
  equal(values(range(5):filter(function(x) return x:gt(9) end)), "")
end)

case("elements of any kind go through a loop", function()
  local texts = {}
  for x, label in gb.data.Dataset.from_generator(function()
    coroutine.yield("word", true)
    coroutine.yield("", false)
  end, { types = { "uint8[?]", "bool" } }) do
    texts[#texts + 1] = #x .. tostring(label:item())
  end
  equal(texts, { "4true", "0false" })
end)

case("an error of an element ends the loop, and says which it was", function()
  local failing = range(3):map(gb.data.lua_function(function(x)
    if x == 1 then error "no such luck" end
    return x
  end))
  local count = 0
  raises("no such luck", function()
    for _ in failing do count = count + 1 end
  end)
  equal(count, 1)
end)

case("only a loop calls a dataset", function()
  local numbers = range(3)
  local message = "only a loop calls a dataset: for x, y in dataset do"
  raises(message, function() return numbers() end)
  raises(message, function() return numbers(1) end)
  raises(message, function() return numbers(nil, gb.tensor(1)) end)
  raises(message, function() return numbers(nil, 7) end)
  raises(message, function() return numbers(nil, nil, nil) end)
  raises(message, function()
    for x in numbers do
      numbers(nil, x)
      numbers(nil, x)
    end
  end)
  equal(values(numbers), "0 1 2")
end)

case("loops that break leaves do not add up", function()
  local function threads()
    local file <close> = io.open "/proc/self/status"
    return tonumber(file:read("a"):match "Threads:%s+(%d+)")
  end
  local all = range(50):map(function(v) return v * 2 end, { num_parallel_calls = 2 }):batch(4):prefetch(2)
  collectgarbage()
  local before, most = threads(), 0
  for _ = 1, 300 do
    for _ in all do break end
    most = math.max(most, threads())
  end
  testing.is_true(most - before < 150, string.format("%d threads beside the first %d", most - before, before))
end)

case("sizes by name are those in front", function()
  local numbers = range(10)
  equal(values(numbers:shuffle { buffer_size = 10, seed = 3 }), values(numbers:shuffle(10, { seed = 3 })))
  equal(values(numbers:batch { batch_size = 4, drop_remainder = true }), "0,1,2,3 4,5,6,7")
  equal(values(numbers:batch { batch_size = 6 }:prefetch { buffer_size = gb.data.AUTOTUNE }), "0,1,2,3,4,5 6,7,8,9")
  equal(values(numbers:take { count = 2 }:repeated { count = 2 }), "0 1 0 1")
  equal(values(numbers:skip { count = 8 }), "8 9")
  equal(values(numbers:shard { num_shards = 4, index = 3 }), "3 7")
  local padded = numbers:batch(4):padded_batch { batch_size = 2, drop_remainder = true }
  equal(padded.element_types, numbers:batch(4):padded_batch(2, { drop_remainder = true }).element_types)
  equal(padded.size, 1)
  equal(numbers:repeated().size, math.huge)
  equal(numbers:repeated({}).size, math.huge)
  equal(gb.data.AUTOTUNE, gb.AUTOTUNE)
end)

case("sizes that are missing, given twice or none are named", function()
  local numbers = range(10)
  raises("argument #1: integer or table of options expected, got no value", numbers.shuffle, numbers)
  raises("buffer_size is missing", numbers.shuffle, numbers, { seed = 1 })
  raises("batch_size is missing", numbers.batch, numbers, {})
  raises("batch_size is missing", numbers.padded_batch, numbers, { drop_remainder = true })
  raises("count is missing", numbers.take, numbers, {})
  raises("batch_size is given twice: 4 and 5", numbers.batch, numbers, 4, { batch_size = 5 })
  raises("the options are given twice", numbers.shuffle, numbers, { buffer_size = 4 }, { seed = 5 })
  raises("unknown option 'size'", numbers.batch, numbers, { size = 4 })
  raises("unknown option 'bufer_size' (did you mean 'buffer_size'?)", numbers.shuffle, numbers, { bufer_size = 4 })
  raises("the shard's index is missing", numbers.shard, numbers, 4)
  raises("index", numbers.shard, numbers, { num_shards = 4 })
  for _, wrong in ipairs { "four", 1.5, true, print, -3 } do
    testing.refuses(numbers.batch, numbers, wrong)
    testing.refuses(numbers.shuffle, numbers, wrong)
    testing.refuses(numbers.batch, numbers, { batch_size = wrong })
    testing.refuses(numbers.take, numbers, wrong ~= -3 and wrong or "x")
  end
end)
