local gb = require "gpubench"
local testing = require "testing"

local rows = gb.data.Dataset.from_tensor_slices(gb.tensor { { 1, 2 }, { 3, 4 } })
local ways = "write the choice with tensor ops such as gb.where(condition, a, b), or have Lua called for every "
  .. "element: map(gb.data.lua_function(fn))"

--- That a map of `fn` is refused, for a reason that tells both ways out.
local function refused(reason, fn)
  testing.raises(reason, rows.map, rows, fn)
  testing.raises(ways, rows.map, rows, fn)
end

testing.case("a branch on data says so and names both ways out", function()
  local reason = "Tensor:gt: no result of the function depends on this comparison"
  refused(reason, function(x) if x[1]:gt(0) then return x end return -x end)
  refused(reason, function(x) if not x[1]:gt(0) then return x end return -x end)
  refused(reason, function(x) return x:gt(0) and x or -x end)
  refused("Tensor:eq: no result", function(x) if x:eq(1):any() then return x end return -x end)
  refused("traced_map_test.lua:21: Tensor:le", function(x)
    if x[1]:le(0) then return x end return -x
  end)
  refused("Tensor: Lua's < gives one boolean; a:lt(b) compares tensors element by element",
    function(x) if x[1] > 0 then return x end return -x end)
  refused("Tensor: Lua's <= gives one boolean; a:le(b)", function(x) if x[1] >= 0 then return x end return -x end)
  refused("Tensor: Lua's == gives one boolean; a:eq(b)", function(x) if x[1] == x[2] then return x end return -x end)
  testing.raises("gb.data.lua_function", rows.map, rows, function(x) if x[1]:item() > 0 then return x end return -x end)
  testing.raises("gb.data.lua_function", rows.map, rows, function(x) return x:to_table()[1] end)
end)

testing.case("a value where Lua needs one says so and names both ways out", function()
  refused("number expected, got Tensor", function(x) for _ = 1, x[1] do x = x + 1 end return x end)
  refused("number expected, got Tensor", function(x) return math.floor(x[1]) end)
  refused("integer expected, got Tensor", function(x) return x:reshape { x[1], 2 } end)
  refused("integer expected, got Tensor", function(x) return x[x[1]] end)
  refused("number expected, got Tensor", function(x) return gb.image.random_brightness(x:reshape { 1, 1, 2 }, x[1]) end)
  refused("option 'seed': integer expected, got Tensor", function(x)
    return gb.image.random_flip_left_right(x:reshape { 1, 1, 2 }, { seed = x[1] })
  end)
  refused("attempt to concatenate a Tensor value", function(x) return "a" .. x end)
  testing.raises("Tensor: pairs is for tables", rows.map, rows, function(x) for _ in pairs(x) do return x end end)
end)

testing.case("filters name their own way out", function()
  testing.raises("filter(gb.data.lua_function(fn))", rows.filter, rows, function(x) return x[1] > 0 end)
end)

testing.case("compiled functions have another way out", function()
  local branch = gb.compile(function(x) if x:gt(0) then return x end return -x end)
  testing.raises("or decide outside of the traced function", branch, gb.tensor(1))
end)

testing.case("comparisons that results depend on are fine", function()
  local map = rows:map(function(x)
    local large = x:gt(2)
    return gb.where(large:logical_not(), 0, x), large
  end)
  local sum = 0
  for x in map:iter() do sum = sum + x:sum():item() end
  testing.equal(sum, 7.0)
  local count = gb.Variable(0)
  gb.compile(function(x) count:assign_add(x:gt(0):cast "float32") end)(gb.tensor(1))
  testing.equal(count:item(), 1.0)
end)

testing.case("what a function may return", function()
  testing.raises("map: the function returned nothing", rows.map, rows, function() end)
  testing.raises("map: the traced function returned nil as result 1", rows.map, rows, function() return nil end)
  local reason = "a table of tensors as result 1; return them one after the other: return image, label"
  testing.raises(reason, rows.map, rows, function(x) return { x, x } end)
  testing.raises(reason, rows.map, rows, function(x) return { image = x } end)
  testing.raises("returned a string as result 2; it can return tensors and numbers; gb.data.lua_function(fn) returns "
    .. "strings too", rows.map, rows, function(x) return x, tostring(x) end)
  testing.equal(rows:map(function(x) return x, 3, { 1, 2 } end).element_types[3], "float32[2]")
end)

testing.case("errors of the function itself stay as they are", function()
  local ok, reason = pcall(rows.map, rows, function() error "boom" end)
  testing.is_true(not ok and tostring(reason):find "traced_map_test.lua:%d+: boom$")
end)

testing.case("extents that vary stand for any", function()
  local words = gb.data.Dataset.from_generator(function()
    for _, word in ipairs { "aaaa", "bb" } do coroutine.yield(word) end
  end, { types = { "uint8[?]" } })
  testing.equal(words:map(function(x) return x:reshape { -1, 2 } end).element_types[1], "uint8[?, 2]")
  testing.equal(words:map(function(x) return gb.pad(x, { { 0, 3 } }) end).element_types[1], "uint8[?]")
  testing.raises("Elements are (uint8[?]); map traces the function with 5040 for every extent that varies",
    words.map, words, function(x) return x:reshape { 7, 3 } end)
  testing.raises("map: the function depends on an extent that varies", words.map, words,
    function(x) return x:cast("int64") * #x end)
end)

local Dataset = gb.data.Dataset

--- The values of a dataset's first tensors, as text, and its error, without the element's number, in the place of an
--- element that cannot be made.
local function texts(dataset)
  local found = {}
  local iterator = dataset:iter()
  while true do
    local ok, element = pcall(iterator)
    if ok and element == nil then return table.concat(found, " ") end
    local reason = tostring(element):gsub("^%S+:%d+: ", ""):gsub(" %(element %d+ of the epoch%)$", "")
    found[#found + 1] = ok and "{" .. table.concat(element:to_table(), ",") .. "}" or reason
  end
end

testing.case("slices of what varies find their elements or fail", function()
  local batches = Dataset.range(10):batch(4)
  local outside = "slice: index 3 is out of range: dimension 1 has 2 elements, numbered from 1"
  local function sliced(fn) return texts(batches:map(fn)) end
  local function shorter(gave, declares)
    return string.format("map: the function gave int64[%d] for an element, where it declares int64[%d]", gave, declares)
  end
  testing.equal(sliced(function(x) return x[{ 1, 3 }] end), "{0,1,2} {4,5,6} " .. shorter(2, 3))
  testing.equal(sliced(function(x) return x:rows(2, 3) end), "{1,2} {5,6} " .. shorter(1, 2))
  testing.equal(sliced(function(x) return x[{ 3, 3 }] end), "{2} {6} " .. outside)
  testing.equal(sliced(function(x) return x[{ 1, 2 }] end), "{0,1} {4,5} {8,9}")
  testing.equal(sliced(function(x) return x[{ -2, -1 }] end), "{2,3} {6,7} {8,9}")
  testing.equal(sliced(function(x) return x[{ 2, -1 }] end), "{1,2,3} {5,6,7} {9}")
  testing.equal(sliced(function(x) return x[{ {} }] end), "{0,1,2,3} {4,5,6,7} {8,9}")
  testing.equal(sliced(function(x) return x[3]:expand_dims(0) end), "{2} {6} " .. outside)
  testing.equal(sliced(function(x) return x[{ 2, -2 }] end), "{1,2} {5,6} slice: the range {2, -2} holds nothing")
  testing.equal(sliced(function(x) return x[{ 1, 4000 }] end):sub(1, #shorter(4, 4000)), shorter(4, 4000))
  testing.equal(sliced(function(x) return x[{ 1, 100000 }] end), "{0,1,2,3} {4,5,6,7} {8,9}")
  testing.equal(texts(batches:map(function(x) return x[{ 1, 3 }] end):ignore_errors()), "{0,1,2} {4,5,6}")
  testing.raises(outside, function() return gb.arange(2)[{ 3, 4 }] end)
  testing.raises("index 0 is out of range: elements are numbered from 1", function() return gb.arange(2)[0] end)
  testing.raises("the range {2, 1} holds nothing", function() return gb.arange(2)[{ 2, 1 }] end)
  testing.equal(#gb.zeros { 0, 3 }[{ {}, { 1 } }], 0)
end)

testing.case("slices of examples of varying length", function()
  local path = gb._native.options.out .. "/results/varying"
  do
    local writer <close> = gb.data.tfrecord_writer(path)
    for _, v in ipairs { { 1.0, 2.0, 3.0, 4.0 }, { 5.0 }, { 6.0, 7.0, 8.0 } } do
      writer:write(gb.data.example { v = v })
    end
  end
  local parsed = Dataset.tfrecord(path):map(gb.data.parse_example { { name = "v", shape = { -1 } } })
  local first = parsed:map(function(v) return v[{ 1, 3 }] end)
  local short = "the function gave float32[1] for an element, where it declares float32[3]"
  testing.equal(texts(first), "{1.0,2.0,3.0} map: " .. short .. " {6.0,7.0,8.0}")
  -- Memory of a batch is made for the declared type; none may be left unwritten.
  for _, options in ipairs { {}, { num_parallel_calls = 2 } } do
    local mapped = parsed:map(function(v) return v[{ 1, 3 }] end, options)
    testing.refuses(mapped:batch(3):iter())
    testing.refuses(mapped:skip(1):batch(2):iter())
  end
end)

testing.case("integers of maps are exact", function()
  local function only(dataset) return dataset:iter()():item() end
  testing.equal(only(Dataset.range(1):map(function(x) return x + 9007199254740993 end)), 9007199254740993)
  testing.equal(only(Dataset.range(1):enumerate(math.maxinteger)), math.maxinteger)
  local made = Dataset.from_generator(function() coroutine.yield(math.maxinteger) coroutine.yield(2.0 ^ 63) end,
    { types = { "int64" } })
  local iterator = made:iter()
  testing.equal(iterator():item(), math.maxinteger)
  testing.raises("from_generator: value 1: int64[] is expected: 9.223372036854776e+18 is no int64", iterator)
  local lua = gb.data.lua_function(function(x) return x + math.maxinteger end)
  testing.equal(only(Dataset.range(1):map(lua)), math.maxinteger)
end)

testing.case("a decision by an extent that varies is no decision", function()
  local batches = Dataset.from_tensor_slices(gb.zeros { 6, 5 }):batch(4)
  local function is_refused(fn)
    testing.raises("map: the function depends on an extent that varies from element to element",
      batches.map, batches, fn)
    testing.raises("drop_remainder, or map before the batch", batches.map, batches, fn)
    testing.raises("gb.data.lua_function(fn)", batches.map, batches, fn)
  end
  is_refused(function(x) if x.shape[1] > 2 then return x * 1 else return x * 100 end end)
  is_refused(function(x) if #x > 2 then return x * 1 else return x * 100 end end)
  is_refused(function(x) if #(x + 1) > 2 then return x * 1 else return x * 100 end end)
  is_refused(function(x) local extent = table.unpack(x.shape) return extent > 2 and x * 1 or x * 100 end)
  is_refused(function(x) for _, n in ipairs(x.shape) do if n == 2 then x = x * 100 end end return x end)
  is_refused(function(x) for _, n in pairs(x.shape) do if n == 2 then x = x * 100 end end return x end)
  is_refused(function(x) local y = gb.tensor(x.shape) return x * 1, #y end)
  is_refused(function(x) gb.zeros(x.shape) return x * 1 end)
  local whole = Dataset.from_tensor_slices(gb.zeros { 8, 5 }):batch(4, { drop_remainder = true })
  testing.equal(whole:map(function(x) if #x > 2 then return x[1] else return x end end).element_types[1], "float32[5]")
end)

testing.case("extents that do not vary may be read", function()
  local batches = Dataset.from_tensor_slices(gb.ones { 6, 5 }):batch(4)
  local function types(fn) return batches:map(fn).element_types[1] end
  testing.equal(types(function(x) if x.shape[2] == 5 then return x else return x * 2 end end), "float32[?, 5]")
  testing.equal(types(function(x) return x[1]:expand_dims(0):tile { #x.shape, x.shape[2] } end), "float32[2, 25]")
  testing.equal(types(function(x) return x:reshape { -1, x[1].shape[1], 1 } end), "float32[?, 5, 1]")
  testing.equal(types(function(x) return gb.zeros(x[1].shape) + x end), "float32[?, 5]")
  testing.equal(types(function(x)
    local shape = x.shape
    shape[1] = -1
    shape[#shape + 1] = 1
    return x:reshape(shape)
  end), "float32[?, 5, 1]")
  testing.equal(types(function(x) return x + (x.shape[3] or x.shape.none or 0) end), "float32[?, 5]")
end)

testing.case("ops that keep an extent that varies", function()
  local images = Dataset.from_generator(function()
    coroutine.yield { { { 1, 2, 3 } }, { { 4, 5, 6 } } }
    coroutine.yield { { { 7, 8, 9 }, { 10, 11, 12 } } }
  end, { types = { "float32[?, ?, 3]" } })
  local red = images:map(function(x) return x[{ {}, {}, { 1, 1 } }] end)
  testing.equal(red.element_types[1], "float32[?, ?, 1]")
  local sums = {}
  for x in red:iter() do sums[#sums + 1] = x:sum():item() end
  testing.equal(table.concat(sums, " "), "5.0 17.0")
  testing.equal(images:map(function(x) return x[1] end).element_types[1], "float32[?, 3]")
  local batches = Dataset.range(6):batch(4)
  testing.equal(batches:map(function(x) return x:expand_dims(1) end).element_types[1], "int64[?, 1]")
  testing.equal(batches:map(function(x) return x:expand_dims(0):squeeze(0) end).element_types[1], "int64[?]")
  testing.raises("map: the function depends on an extent that varies", images.map, images,
    function(x) return x:expand_dims(0) end)
end)
