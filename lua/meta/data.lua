---@meta
-- Datasets: where training data comes from, and what happens to it on its way into a model.

--- An immutable chain of stages over elements, which are tuples of tensors. Stages do their work when elements are
--- asked for, natively: no Lua runs per element, but in gb.data.lua_function and from_generator.
---
--- A dataset stands in a loop by itself, once per epoch. The pipeline of a loop that `break` leaves runs on until the
--- collector frees it; `for x in dataset:iter() do` stops it at once.
---
--- Sizes stand first or have their Keras names: `dataset:shuffle(3, { seed = 1 })` is
--- `dataset:shuffle { buffer_size = 3, seed = 1 }`.
---
--- ```lua
--- local gb = require "gpubench"
--- local x = gb.tensor { { 1, 2 }, { 3, 4 }, { 5, 6 } }
--- local y = gb.tensor { 0, 1, 0 }
--- local dataset = gb.data.Dataset.from_tensor_slices { x, y }
--- local input = dataset:shuffle(3, { seed = 1 }):batch { batch_size = 2 }:prefetch(gb.data.AUTOTUNE)
--- for images, labels in input do
---   assert(#images == #labels)
--- end
--- ```
---@class Dataset
---@field size integer|number|nil elements of an epoch; math.huge when it never ends, nil when that is not known
---@field element_types string[] "float32[784]" for each tensor of an element; "?" for an extent that varies
---@overload fun(...): Tensor ...
local Dataset = {}

---@class ShuffleOptions
---@field buffer_size integer? the same as `buffer`
---@field seed integer? what decides the order; a new one derived from gb.config.set_seed when absent
---@field reshuffle_each_iteration boolean? another order in every epoch (true)

--- Draws each next element at random from a window of `buffer` elements. A window as large as the dataset shuffles it
--- completely; over tensors in memory it holds row numbers, so that costs 8 bytes an element. Epoch i has one order,
--- whatever follows: in it, take(n) and skip(n) of one shuffle share no element (in tf.data they may).
---
--- ```lua
--- local gb = require "gpubench"
--- local dataset = gb.data.Dataset.from_tensor_slices(gb.arange(100)):shuffle(100, { seed = 3 })
--- local sum = 0
--- for number in dataset:iter() do sum = sum + number:item() end
--- assert(sum == 4950)
--- ```
---@param buffer integer|ShuffleOptions
---@param options ShuffleOptions?
---@return Dataset
function Dataset:shuffle(buffer, options) end

--- Applies `fn` to every element. It is called once, with symbolic tensors, and what it does to them is run natively;
--- it cannot look at values, and what it computes without them stays as it was then. Where extents vary from element to
--- element, it is called twice, with other numbers in their place: a function that then does or reads (#x, x.shape[i])
--- something else is refused, since it could be right for none. Slices may count from both ends (x[{ 2, -1 }]); an
--- element that is too short for one is an error. Random ops that are given no step draw anew for every element and
--- epoch. A function that must look at values is given as gb.data.lua_function(fn).
---
--- ```lua
--- local gb = require "gpubench"
--- local dataset = gb.data.Dataset.from_tensor_slices { gb.tensor { 1, 4, 9 }, gb.arange(3) }
--- for root in dataset:map(function(x, label) return x:sqrt(), label end):batch(3):iter() do
---   assert(root[3]:item() == 3)
--- end
--- ```
---
--- With `num_parallel_calls`, workers apply it to many elements at once; random ops still draw the same for each
--- element. In front of a batch each of them makes whole batches.
---
--- ```lua
--- local gb = require "gpubench"
--- local numbers = gb.data.Dataset.from_tensor_slices(gb.arange(100))
--- local squares = numbers:map(function(x) return x * x end, { num_parallel_calls = gb.AUTOTUNE })
--- local last
--- for x in squares:batch(10):iter() do last = x end
--- assert(last[10]:item() == 99 * 99)
--- ```
---
--- An element that cannot be made is an error that ends with its place among the map's inputs, counted from 1, and
--- where these hold a file's path, with that: "(element 778 of the epoch, 'fold/a/x.jpg')". Maps that read and decode
--- know it when they are alike in their options, as they are one stage then.
---
--- With `device`, a traced function runs there and its results stay there: behind a batch, in front of the model, with
--- the copies ahead of it (prefetch_to_device) where the device has memory of its own. Stages that work in host memory
--- cannot follow on such a device. Random ops draw what they draw on the host.
---
--- ```lua
--- local gb = require "gpubench"
--- local device = gb.devices()[1]
--- local batches = gb.data.Dataset.from_tensor_slices(gb.arange(8)):batch(4)
--- local scaled = batches:prefetch_to_device(device):map(function(x) return x * 2 end, { device = device })
--- for x in scaled:iter() do assert(x.device == device) end
--- ```
---@param fn ElementFunction|fun(...: Tensor): Tensor ...
---@param options MapOptions?
---@return Dataset
function Dataset:map(fn, options) end

---@class MapOptions
---@field num_parallel_calls integer? workers; gb.AUTOTUNE: as many as keep the consumer busy; absent: its own thread
---@field deterministic boolean? keep the order of the elements (what dataset:options says, else true)
---@field device string? where the function runs, in the order of the device's kernels ("gpu:0"); absent: the host

---@class BatchOptions
---@field batch_size integer? the same as `size`
---@field drop_remainder boolean? leave out an incomplete last batch (false); where nothing would be left, an error

--- Stacks `size` elements along a new first dimension.
---
--- ```lua
--- local gb = require "gpubench"
--- local dataset = gb.data.Dataset.from_tensor_slices(gb.zeros { 10, 3 })
--- assert(dataset:batch(4).size == 3)
--- assert(dataset:batch(4, { drop_remainder = true }).element_types[1] == "float32[4, 3]")
--- ```
---@param size integer|BatchOptions
---@param options BatchOptions?
---@return Dataset
function Dataset:batch(size, options) end

--- The dataset `count` times (without a count for ever), each time in a new order when it is shuffled before. (Its
--- tf.data name is a reserved word in Lua.)
---
--- ```lua
--- local gb = require "gpubench"
--- assert(gb.data.Dataset.from_tensor_slices(gb.zeros { 5, 2 }):repeated(3).size == 15)
--- ```
---@param count integer|CountOptions? from 1 (tf.data's 0 and -1 are errors); for ever unless given
---@return Dataset
function Dataset:repeated(count) end

---@class CountOptions
---@field count integer? the same as the first argument; for ever when absent

--- The first `count` elements; -1: all.
---@param count integer|CountOptions
---@return Dataset
function Dataset:take(count) end

--- All but the first `count` elements. tf.data's -1, which leaves none, is an error: take(0) does that.
---@param count integer|CountOptions
---@return Dataset
function Dataset:skip(count) end

--- Runs the stages before it in a thread of their own, at most `buffer` elements ahead. gb.AUTOTUNE (the default)
--- starts with as many elements as fit 8 MiB, at least 2 and at most 64; it gives more where both sides wait, and less
--- where memory is short.
---@param buffer integer|PrefetchOptions? elements; gb.AUTOTUNE unless given
---@return Dataset
function Dataset:prefetch(buffer) end

---@class PrefetchOptions
---@field buffer_size integer? the same as `buffer`

--- The last stage before a model on a GPU: runs all before it in a thread of its own and copies the elements to the
--- device, `buffer` (2) of them ahead, from page-locked memory and beside the kernels. Models, loops and maps on that
--- device take them from there without another copy; only take, skip, shard and repeated may stand between, and class
--- indices that are out of range are not noticed there. On a device that works in host memory it is a prefetch.
---
--- ```lua
--- local gb = require "gpubench"
--- local input = gb.datasets.mnist("train"):batch(32):prefetch_to_device(gb.devices()[1])
--- for images in input:take(1):iter() do assert(images.device == gb.devices()[1]) end
--- ```
---@param device string
---@param buffer integer? elements; 2 unless given
---@return Dataset
function Dataset:prefetch_to_device(device, buffer) end

--- Leaves out elements that cannot be made (a damaged record, an image that is no image) and counts them; behind a
--- batch, whole batches. It may stand behind stages with threads too. The size is not known any more. dataset:stats()
--- tells how many there were, and the last one's text in `why`.
---@return Dataset
function Dataset:ignore_errors() end

---@class PipelineOptions
---@field threads integer? the most workers that AUTOTUNE gives all maps together, at least one each; of each
--- interleave; no limit unless given
---@field ram_budget integer? bytes that buffers and workers under AUTOTUNE may take (half of what is free)
---@field cpu_budget number? cores that AUTOTUNE counts on (those that the program may run on)
---@field deterministic boolean? whether parallel stages that were not told keep the order of elements (true)

--- What the whole pipeline may use. Where it stands does not matter; of several, the one nearest to the end counts.
---
--- ```lua
--- local gb = require "gpubench"
--- local dataset = gb.data.Dataset.from_tensor_slices(gb.zeros { 10, 3 })
--- assert(dataset:batch(2):options({ cpu_budget = 2, ram_budget = 64 * 2^20 // 1 }).size == 5)
--- ```
---@param options PipelineOptions
---@return Dataset
function Dataset:options(options) end

--- What a stage of a pipeline has done, in an epoch or while it was measured.
---@class StageStatistics
---@field stage string its name, such as "map"
---@field elements integer that it gave
---@field bytes integer of those elements
---@field errors integer elements left out because they could not be made
---@field busy_s number own work, of all workers together; of a throttle, its waiting
---@field starved_s number its consumer waited for it
---@field blocked_s number it waited for its consumer, all workers together; a wait counts when it is over
---@field workers integer threads of its own
---@field buffered integer elements in its buffer
---@field buffer integer elements that fit
---@field why string how workers and buffer came about; of ignore_errors, the last error

--- The stages of the running or last epoch of this dataset, sources first; empty before the first.
---
--- ```lua
--- local gb = require "gpubench"
--- local dataset = gb.data.Dataset.from_tensor_slices(gb.arange(6)):batch(2):prefetch(2)
--- for _ in dataset:iter() do end
--- local stages = dataset:stats()
--- assert(stages[3].stage == "prefetch" and stages[3].elements == 3 and stages[3].workers == 1)
--- ```
---@return StageStatistics[]
function Dataset:stats() end

--- Where a loop over a dataset stands.
---@class DatasetPosition
---@field epoch integer number of the epoch, from 0
---@field position integer elements of the epoch that have been taken

---@class IterOptions
---@field from DatasetPosition? go on where a loop's state() stood, with the elements that would have followed; a new
--- epoch unless given

--- One epoch, for a loop: `for x, y in dataset:iter() do`. Leaving the loop early stops the pipeline. Every call is a
--- new epoch.
---
--- ```lua
--- local gb = require "gpubench"
--- local dataset = gb.data.Dataset.range(10):shuffle(10, { seed = 1 })
--- local first = dataset:iter()
--- first()
--- local position = first:state()
--- local expected = first():item()
--- assert(dataset:iter({ from = position })():item() == expected)
--- ```
---@param options IterOptions?
---@return DatasetIterator
function Dataset:iter(options) end

--- A running epoch: each call gives the next element's tensors, nil at the end.
---@class DatasetIterator
---@overload fun(): Tensor ...
local DatasetIterator = {}

--- Where the loop stands; plain values, so that it can be saved with a model. A pipeline whose elements come in any
--- order (`deterministic = false`) has no position: an error.
---@return DatasetPosition
function DatasetIterator:state() end

---@class gpubench
local gb = {}

--- Lets a stage choose its setting.
gb.AUTOTUNE = -1

--- Input pipelines: where elements come from, and functions for Dataset:map.
---@class gpubench.data
gb.data = {}

--- gb.AUTOTUNE under its tf.data name.
gb.data.AUTOTUNE = -1

--- Sources of datasets; their stages are methods of Dataset.
---@class gpubench.data.Dataset
gb.data.Dataset = {}

--- Elements are the rows of a tensor, or tuples of the rows of several, whose first dimensions must agree.
---
--- ```lua
--- local gb = require "gpubench"
--- local dataset = gb.data.Dataset.from_tensor_slices { gb.zeros { 4, 2 }, gb.arange(4) }
--- assert(dataset.size == 4 and dataset.element_types[2] == "int64[]")
--- ```
---@param tensors Tensor|Tensor[]|number[]
---@return Dataset
function gb.data.Dataset.from_tensor_slices(tensors) end

--- Elements of several datasets side by side, as one tuple; as long as the shortest.
---
--- ```lua
--- local gb = require "gpubench"
--- local slices = gb.data.Dataset.from_tensor_slices
--- local pairs_of = gb.data.Dataset.zip { slices(gb.arange(3)), slices(gb.zeros { 5, 2 }) }
--- assert(pairs_of.size == 3 and #pairs_of.element_types == 2)
--- ```
---@param datasets Dataset[]
---@return Dataset
function gb.data.Dataset.zip(datasets) end

--- An array saved by numpy.save, as a tensor on the current device.
---@param path string
---@return Tensor
function gb.load_npy(path) end

--- Writes a tensor so that numpy.load reads it.
---@param path string
---@param tensor Tensor
function gb.save_npy(path, tensor) end

return gb
