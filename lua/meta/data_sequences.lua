---@meta
-- Datasets of sequences: text, windows, buckets of similar lengths.

---@class Dataset
local Dataset = {}

---@class WindowOptions
---@field size integer? elements of a window; the same as the first argument
---@field shift integer? elements from the start of one window to the start of the next (size)
---@field stride integer? elements from one of a window to the next (1)
---@field drop_remainder boolean? leave out the last windows, which have fewer elements (false)

--- Windows of `size` elements, each stacked along a new first dimension. With a `shift` below `size` they overlap; with
--- a larger one elements between them are left out. In contrast to tf.data, whose windows are datasets, a window is one
--- element: what tf.data's `window(...)` and `flat_map(batch)` give together. In contrast to a batch, it counts as one
--- example.
---
--- ```lua
--- local gb = require "gpubench"
--- local path = gb._native.options.out .. "/results/book.txt"
--- io.open(path, "w"):write("the quick brown fox"):close()
--- local sequences = gb.data.Dataset.bytes(path):window { size = 9, shift = 8, drop_remainder = true }
--- local pairs_of = sequences:map(function(tokens)
---   return tokens[{ 1, -2 }]:cast "int32", tokens[{ 2, -1 }]:cast "int64"
--- end)
--- assert(pairs_of.size == 2 and pairs_of.element_types[1] == "int32[8]")
--- ```
---@param size integer|WindowOptions
---@param options WindowOptions?
---@return Dataset
function Dataset:window(size, options) end

---@class BucketOptions
---@field bucket_boundaries integer[] ascending: bucket i has lengths from boundary i - 1 up to below boundary i
---@field bucket_batch_sizes integer[] one for each bucket, and one for what is as long as the last boundary or longer
---@field padding_values number[]? for each tensor (zeros)
---@field pad_to_bucket_boundary boolean? pad to the largest length of the bucket, boundary - 1, so that there are as
--- many shapes as buckets; a longer element is an error (false: pad to the longest of the batch)
---@field drop_remainder boolean? leave out buckets that are incomplete at the end (false)

--- Padded batches of elements of similar length, so that little of a batch is padding. The length of an element is the
--- first extent of its first tensor. A bucket that has its batch size becomes an element; what is left at the end
--- follows, the shortest first. A model makes a plan for each shape that it meets: `pad_to_bucket_boundary` keeps them
--- few.
---
--- ```lua
--- local gb = require "gpubench"
--- local path = gb._native.options.out .. "/results/lines.txt"
--- io.open(path, "w"):write("a\nthree\nab\nseven\nb\n"):close()
--- local lines = gb.data.Dataset.text_lines(path)
--- local batches = lines:bucket_by_sequence_length { bucket_boundaries = { 4 }, bucket_batch_sizes = { 3, 2 } }
--- local shapes = {}
--- for batch in batches:iter() do shapes[#shapes + 1] = table.concat(batch.shape, "x") end
--- assert(table.concat(shapes, " ") == "2x5 3x2")
--- ```
---@param options BucketOptions
---@return Dataset
function Dataset:bucket_by_sequence_length(options) end

--- Batches of another size: unbatch, then batch.
---
--- ```lua
--- local gb = require "gpubench"
--- assert(gb.data.Dataset.range(12):batch(3):rebatch(4).size == 3)
--- ```
---@param size integer|BatchOptions
---@param options BatchOptions?
---@return Dataset
function Dataset:rebatch(size, options) end

--- The elements of the datasets that `fn` makes of this dataset's elements, one dataset after the other: interleave
--- with a cycle of one. `fn` is the script's own, called for all elements when an epoch starts, and so this dataset
--- must end.
---
--- ```lua
--- local gb = require "gpubench"
--- local range = gb.data.Dataset.range
--- local order = {}
--- for number in range(1, 4):flat_map(function(count) return range(count:item()) end):iter() do
---   order[#order + 1] = number:item()
--- end
--- assert(table.concat(order, " ") == "0 0 1 0 1 2")
--- ```
---@param fn fun(...: Tensor): Dataset
---@return Dataset
function Dataset:flat_map(fn) end

--- What a function makes of this dataset: data:apply(prepare) is prepare(data), within a chain.
---
--- ```lua
--- local gb = require "gpubench"
--- local function prepare(data) return data:shuffle(8, { seed = 1 }):batch(2) end
--- assert(gb.data.Dataset.range(8):apply(prepare).size == 4)
--- ```
---@param fn fun(dataset: Dataset): Dataset
---@return Dataset
function Dataset:apply(fn) end

--- The elements before the first for which `fn` gives false. It is traced like a map's function and gives one bool.
---
--- ```lua
--- local gb = require "gpubench"
--- local small = gb.data.Dataset.range(math.huge):take_while(function(n) return n:lt(3) end)
--- assert(small:reduce(0, function(sum, n) return sum + n end):item() == 3)
--- ```
---@param fn ElementFunction|fun(...: Tensor): Tensor
---@return Dataset
function Dataset:take_while(fn) end

--- The elements that no earlier one of the epoch equals. They are one tensor of integers, or a byte string; all
--- different ones are kept in memory.
---
--- ```lua
--- local gb = require "gpubench"
--- local rests = gb.data.Dataset.range(10):map(function(n) return n % 3 end):unique()
--- assert(rests:reduce(0, function(count) return count + 1 end):item() == 3)
--- ```
---@return Dataset
function Dataset:unique() end

--- Passes a state through the elements. `fn` gets the state's tensors and then the element's, and returns the new state
--- and behind it the new element. It is traced once, like a map's function; the state keeps its types. Whole numbers
--- of the initial state are int64, others float32.
---
--- ```lua
--- local gb = require "gpubench"
--- local sums = {}
--- for sum in gb.data.Dataset.range(1, 5):scan(0, function(sum, n) return sum + n, sum + n end):iter() do
---   sums[#sums + 1] = sum:item()
--- end
--- assert(table.concat(sums, " ") == "1 3 6 10")
--- ```
---@param initial_state Tensor|Tensor[]|number|table one tensor, or a list of Tensors
---@param fn ElementFunction|fun(...: Tensor): Tensor ...
---@return Dataset
function Dataset:scan(initial_state, fn) end

--- The state behind the last element of an epoch: as scan, but `fn` returns the new state alone.
---
--- ```lua
--- local gb = require "gpubench"
--- local sum, count = gb.data.Dataset.range(1, 5):reduce({ gb.tensor(0, { dtype = "int64" }), gb.tensor(0) },
---   function(sum, count, n) return sum + n, count + 1 end)
--- assert(sum:item() == 10 and count:item() == 4)
--- ```
---@param initial_state Tensor|Tensor[]|number|table one tensor, or a list of Tensors
---@param fn ElementFunction|fun(...: Tensor): Tensor ...
---@return Tensor ...
function Dataset:reduce(initial_state, fn) end

---@class GroupByWindowOptions
---@field key_func ElementFunction|fun(...: Tensor): Tensor gives the int64 key of an element
---@field reduce_func fun(key: Tensor, window: Dataset): Dataset what becomes of a window
---@field window_size integer? elements of a window; when absent window_size_func is needed
---@field window_size_func (ElementFunction|fun(key: Tensor): Tensor)? gives the int64 size of a key's windows; when
--- absent window_size is needed

--- Gathers elements of equal keys into windows. What `reduce_func` makes of each full window follows, mostly one batch;
--- windows that are not full come at the end, in the order of their keys. `reduce_func` is called once, for the windows
--- of all keys: the key is a symbol without a value, and the dataset's size is not known.
--- Each window shuffles in an order of its own, also with a seed, which in tf.data gives all windows one order.
---
--- ```lua
--- local gb = require "gpubench"
--- local grouped = gb.data.Dataset.range(7):group_by_window {
---   key_func = function(n) return n % 2 end,
---   reduce_func = function(_, window) return window:batch(2) end,
---   window_size = 2,
--- }
--- local batches = {}
--- for batch in grouped:iter() do batches[#batches + 1] = table.concat(batch:to_table(), "+") end
--- assert(table.concat(batches, " ") == "0+2 1+3 4+6 5")
--- ```
---@param options GroupByWindowOptions
---@return Dataset
function Dataset:group_by_window(options) end

---@class gpubench
local gb = {}

---@class gpubench.data
gb.data = {}

---@class gpubench.data.Dataset
gb.data.Dataset = {}

--- The lines of text files (plain or gzip) as byte strings, uint8[?], without their ends ("\n" or "\r\n").
---
--- ```lua
--- local gb = require "gpubench"
--- local path = gb._native.options.out .. "/results/two.txt"
--- io.open(path, "w"):write("one\n\nthree"):close()
--- local lengths = {}
--- for line in gb.data.Dataset.text_lines(path):iter() do lengths[#lengths + 1] = #line end
--- assert(table.concat(lengths, " ") == "3 0 5")
--- ```
---@param files Files
---@return Dataset
function gb.data.Dataset.text_lines(files) end

--- Every byte of the files (plain or gzip) as a token, uint8. The files are read when the dataset is made, and kept.
---@param files Files
---@return Dataset
function gb.data.Dataset.bytes(files) end

--- One element: the tensors themselves.
---
--- ```lua
--- local gb = require "gpubench"
--- local dataset = gb.data.Dataset.from_tensors { gb.zeros { 4, 2 }, gb.arange(3) }
--- assert(dataset.size == 1 and dataset.element_types[1] == "float32[4, 2]")
--- ```
---@param tensors Tensor|Tensor[]|number[]
---@return Dataset
function gb.data.Dataset.from_tensors(tensors) end

return gb
