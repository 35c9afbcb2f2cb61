---@meta
-- Datasets: sources that need no files, further stages, and functions that really run in Lua.

---@class Dataset
local Dataset = {}

--- The elements for which `fn` gives true. It is traced like a map's function and gives one bool.
---
--- ```lua
--- local gb = require "gpubench"
--- local large = gb.data.Dataset.range(10):filter(function(number) return number:gt(6) end)
--- local sum = 0
--- for number in large:iter() do sum = sum + number:item() end
--- assert(sum == 7 + 8 + 9)
--- ```
---@param fn ElementFunction|fun(...: Tensor): Tensor
---@return Dataset
function Dataset:filter(fn) end

---@class PaddedBatchOptions
---@field batch_size integer? the same as `size`
---@field padded_shapes integer[][]? extents for each tensor, -1 where the largest of the batch decides (wherever they
--- vary)
---@field padding_values number[]? for each tensor (zeros)
---@field drop_remainder boolean? leave out an incomplete last batch (false)

--- Stacks `size` elements whose extents differ; each is padded at its end.
---
--- ```lua
--- local gb = require "gpubench"
--- local words = gb.data.Dataset.from_generator(function()
---   for _, word in ipairs { "a", "dataset", "of", "words" } do coroutine.yield(word) end
--- end, { types = { "uint8[?]" } })
--- for bytes in words:padded_batch(4):iter() do assert(bytes.shape[2] == #"dataset") end
--- ```
---@param size integer|PaddedBatchOptions
---@param options PaddedBatchOptions?
---@return Dataset
function Dataset:padded_batch(size, options) end

--- The rows of every element as elements: undoes batch.
---
--- ```lua
--- local gb = require "gpubench"
--- assert(gb.data.Dataset.range(10):batch(5):unbatch().size == 10)
--- ```
---@return Dataset
function Dataset:unbatch() end

---@class CacheOptions
---@field limit integer? bytes of memory (half of what is free)

--- Keeps what the first complete epoch gave: in memory, or in a file when a path is given, which later runs read again.
--- Elements of fixed shapes are rows of tensors from then on. Elements that do not fit into the limit, or into what the
--- machine has, are an error. A file of another dataset is refused, as told by stages, settings, types and names of
--- files, and so is one that is cut short; neither functions of maps nor values of tensors are compared.
---
--- ```lua
--- local gb = require "gpubench"
--- local calls = gb.data.Dataset.range(3):cache()
--- for _ = 1, 2 do for number in calls:iter() do assert(number:item() < 3) end end
--- ```
---@param to string|CacheOptions|nil a file's path; memory unless given
---@return Dataset
function Dataset:cache(to) end

--- Elements index, index + count, and so on, counted from 0: what one of `count` workers reads; an error where it is
--- known that there are none.
--- Random functions in maps behind it draw for an element what they would draw in the whole dataset.
---
--- ```lua
--- local gb = require "gpubench"
--- assert(gb.data.Dataset.range(10):shard(3, 0).size == 4)
--- ```
---@param count integer|ShardOptions
---@param index integer? from 0; required here or in the options
---@return Dataset
function Dataset:shard(count, index) end

---@class ShardOptions
---@field num_shards integer the same as `count`
---@field index integer the same as the second argument, from 0

--- This dataset, then the other.
---
--- ```lua
--- local gb = require "gpubench"
--- local range = gb.data.Dataset.range
--- assert(range(3):concatenate(range(4)).size == 7)
--- ```
---@param other Dataset
---@return Dataset
function Dataset:concatenate(other) end

--- Puts a number before each element's tensors, counted from `start` (0).
---
--- ```lua
--- local gb = require "gpubench"
--- for number, value in gb.data.Dataset.range(5, 8):enumerate():iter() do
---   assert(value:item() == number:item() + 5)
--- end
--- ```
---@param start integer? 0 unless given
---@return Dataset
function Dataset:enumerate(start) end

---@class ThrottleOptions
---@field latency number? seconds for each element (0)
---@field bandwidth number? bytes per second (unlimited)

--- Stands for a slow disk or network: an element comes no sooner than the latency and its bytes allow, counted from
--- when it is asked for, so that what the stages before take is part of that time. Waiting costs no CPU time.
---
--- ```lua
--- local gb = require "gpubench"
--- local slow = gb.data.Dataset.range(3):throttle { latency = 0.001, bandwidth = 1e6 }
--- for number in slow:iter() do assert(number:item() < 3) end
--- ```
---@param options ThrottleOptions
---@return Dataset
function Dataset:throttle(options) end

---@class InterleaveOptions
---@field cycle_length integer? datasets that are read in turn (all, where that is known)
---@field block_length integer? elements from one before the next has its turn (1)
---@field num_parallel_calls integer? threads, up to 128, that open and read them (0: the consumer reads them)
---@field deterministic boolean? false: elements come as threads have them ready (true)

--- Reads several datasets in turn; one that ends is replaced by the next. `fn` makes them from this dataset's elements;
--- it is the script's own, called for all elements when an epoch starts, and so this dataset must end: at most 1048576
--- elements are possible. At least one is needed, which tells what the elements are; the datasets may be empty.
---
--- Threads read the datasets of the cycle first and then as many of those that come next as there are threads, so that
--- more threads than the cycle has datasets help too; gb.AUTOTUNE is one for each core, and more, up to one for each
--- dataset in the cycle, while they wait for slow files; all within the `threads` of `options`. They change the order
--- only with `deterministic = false`. Each dataset is read ahead by at most 256 elements (1024 of 512 bytes
--- or less), by fewer in a long cycle and where these are more than 2 MiB.
---
--- ```lua
--- local gb = require "gpubench"
--- local range = gb.data.Dataset.range
--- local both = range(0, 20, 10):interleave(function(first)
---   return range(first:item(), first:item() + 2)
--- end, { cycle_length = 2 })
--- local order = {}
--- for number in both:iter() do order[#order + 1] = number:item() end
--- assert(table.concat(order, " ") == "0 10 1 11")
--- ```
---@param fn fun(...: Tensor): Dataset
---@param options InterleaveOptions?
---@return Dataset
function Dataset:interleave(fn, options) end

---@class gpubench
local gb = {}

---@class gpubench.data
gb.data = {}

---@class gpubench.data.Dataset
gb.data.Dataset = {}

--- int64 numbers: range(stop), range(start, stop) or range(start, stop, step). math.huge as stop never ends.
---
--- ```lua
--- local gb = require "gpubench"
--- assert(gb.data.Dataset.range(2, 10, 3).size == 3)
--- ```
---@param start integer of one argument alone the end, and the range begins at 0
---@param stop integer|number|nil not included; math.huge never ends
---@param step integer? 1 unless given
---@return Dataset
function gb.data.Dataset.range(start, stop, step) end

---@class SyntheticOptions
---@field types string[] of the tensors: "float32[28, 28]", "int64[]"
---@field count integer? elements of an epoch (it never ends)
---@field resident boolean? one set of at most 64 MiB, handed out again and again (true), else every element drawn anew
---@field seed integer? a new one derived from gb.config.set_seed when absent
---@field classes integer? integers are below it (10); uint8 are any bytes, floating numbers in [0, 1)

--- Random elements that need no disk: the best that a pipeline can do.
---
--- ```lua
--- local gb = require "gpubench"
--- local digits = gb.data.Dataset.synthetic { types = { "float32[784]", "int64[]" }, count = 1000 }
--- assert(digits:batch(10).size == 100)
--- ```
---@param options SyntheticOptions
---@return Dataset
function gb.data.Dataset.synthetic(options) end

---@class GeneratorOptions
---@field types string[] of an element's values: "float32[2]", "uint8[?]" for strings

--- Elements that a function of the script makes. It is called once an epoch and yields them (coroutine.yield), or
--- returns a function that gives the next one at each call and nil at the end. Values are numbers, tables, Tensors, and
--- strings for "uint8[?]". The script's thread calls it: no prefetch or other stage with threads may come after it.
---
--- ```lua
--- local gb = require "gpubench"
--- local squares = gb.data.Dataset.from_generator(function()
---   for i = 1, 3 do coroutine.yield(i, { i * i, 0.5 }) end
--- end, { types = { "int64", "float32[2]" } })
--- for number, pair in squares:iter() do assert(pair:to_table()[1] == number:item() ^ 2) end
--- ```
---@param fn function
---@param options GeneratorOptions
---@return Dataset
function gb.data.Dataset.from_generator(fn, options) end

--- Elements of several datasets in turn.
---
--- ```lua
--- local gb = require "gpubench"
--- local range = gb.data.Dataset.range
--- assert(gb.data.Dataset.interleave({ range(3), range(4) }, { block_length = 2 }).size == 7)
--- ```
---@param datasets Dataset[]
---@param options InterleaveOptions?
---@return Dataset
function gb.data.Dataset.interleave(datasets, options) end

---@class ChooseOptions
---@field stop_on_empty_dataset boolean? the epoch ends when an element of a dataset is wanted that has none left, else
--- such a dataset is passed over (true)

--- Each element is the next one of the dataset that the next element of `choice` names: an int64 number from 0.
---
--- ```lua
--- local gb = require "gpubench"
--- local range = gb.data.Dataset.range
--- local order = {}
--- local choice = range(6):map(function(n) return n // 2 % 2 end)
--- for number in gb.data.Dataset.choose_from_datasets({ range(10), range(50, 60) }, choice):iter() do
---   order[#order + 1] = number:item()
--- end
--- assert(table.concat(order, " ") == "0 1 50 51 2 3")
--- ```
---@param datasets Dataset[]
---@param choice Dataset
---@param options ChooseOptions?
---@return Dataset
function gb.data.Dataset.choose_from_datasets(datasets, choice, options) end

---@class SampleOptions
---@field weights number[]? how often elements of each dataset come, relative to others, where 0 leaves one out (all as
--- often)
---@field seed integer? what decides the choices; a new one derived from gb.config.set_seed when absent
---@field stop_on_empty_dataset boolean? the epoch ends with the first dataset that has no element left, else it is
--- passed over (false)
---@field rerandomize_each_iteration boolean? other choices in every epoch (false)

--- Elements of several datasets, each of one drawn at random: rare classes more often, or sources mixed.
---
--- ```lua
--- local gb = require "gpubench"
--- local range = gb.data.Dataset.range
--- local mixed = gb.data.Dataset.sample_from_datasets({ range(30), range(100, 110) }, { weights = { 3, 1 }, seed = 1 })
--- assert(mixed:reduce(0, function(count) return count + 1 end):item() == 40)
--- ```
---@param datasets Dataset[]
---@param options SampleOptions?
---@return Dataset
function gb.data.Dataset.sample_from_datasets(datasets, options) end

---@class RandomOptions
---@field seed integer? a new one derived from gb.config.set_seed when absent
---@field rerandomize_each_iteration boolean? other numbers in every epoch (false)

--- int64 numbers from 0 to 2^32 - 1, drawn at random, without end.
---
--- ```lua
--- local gb = require "gpubench"
--- local numbers = gb.data.Dataset.random { seed = 1 }
--- for number in numbers:take(3):iter() do assert(number:item() >= 0 and number:item() < 2^32) end
--- ```
---@param options RandomOptions?
---@return Dataset
function gb.data.Dataset.random(options) end

--- A native function of elements, for map and filter.
---@class ElementFunction
local ElementFunction = {}

---@class LuaFunctionOptions
---@field output string[]? types of the results (those that it gives for the dataset's first element)

--- A function for map and filter that really runs in Lua for every element: it may branch on values, and costs a call.
--- Scalars come as numbers or booleans, byte strings (uint8 of rank 1) as strings, other tensors as nested tables; it
--- returns the same. Each worker has a Lua state of its own with a copy of the function and of the variables that it
--- uses, which are numbers, strings, booleans, tables of them and Lua functions; it sees math, string, table and utf8,
--- but neither gb nor the script's globals. math.random draws by
--- gb.config.set_seed, by the stage and by the element's number: the same for any number of workers.
---
--- ```lua
--- local gb = require "gpubench"
--- local collatz = gb.data.lua_function(function(n)
---   local steps = 0
---   while n > 1 do n = n % 2 == 0 and n // 2 or 3 * n + 1; steps = steps + 1 end
---   return steps
--- end, { output = { "int64" } })
--- for steps in gb.data.Dataset.range(27, 28):map(collatz):iter() do assert(steps:item() == 111) end
--- ```
---@param fn function
---@param options LuaFunctionOptions?
---@return ElementFunction
function gb.data.lua_function(fn, options) end

return gb
