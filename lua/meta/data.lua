---@meta
-- Datasets: where training data comes from, and what happens to it on its way into a model.

--- An immutable chain of stages over elements, which are tuples of tensors. Stages do their work when elements are asked
--- for, natively: no Lua runs per element.
---
--- ```lua
--- local gb = require "gpubench"
--- local x = gb.tensor { { 1, 2 }, { 3, 4 }, { 5, 6 } }
--- local y = gb.tensor { 0, 1, 0 }
--- local dataset = gb.data.Dataset.from_tensor_slices { x, y }
--- local input = dataset:shuffle(3, { seed = 1 }):batch(2):prefetch(gb.AUTOTUNE)
--- for images, labels in input:iter() do
---   assert(#images == #labels)
--- end
--- ```
---@class Dataset
---@field size integer|number|nil elements of an epoch; math.huge when it never ends, nil when that is not known
---@field element_types string[] "float32[784]" for each tensor of an element; "?" for an extent that varies
local Dataset = {}

---@class ShuffleOptions
---@field seed integer? what decides the order; a new one derived from gb.config.set_seed when absent
---@field reshuffle_each_iteration boolean? another order in every epoch (true)

--- Draws each next element at random from a window of `buffer` elements. A window as large as the dataset shuffles it
--- completely; over tensors in memory it holds row numbers, so that costs 8 bytes an element.
---
--- ```lua
--- local gb = require "gpubench"
--- local dataset = gb.data.Dataset.from_tensor_slices(gb.arange(100)):shuffle(100, { seed = 3 })
--- local sum = 0
--- for number in dataset:iter() do sum = sum + number:item() end
--- assert(sum == 4950)
--- ```
---@param buffer integer
---@param options ShuffleOptions?
---@return Dataset
function Dataset:shuffle(buffer, options) end

--- Applies `fn` to every element. It is called once, with symbolic tensors, and what it does to them is run natively; it
--- cannot look at values, and what it computes without them stays as it was then. Random ops draw anew for every
--- element.
---
--- ```lua
--- local gb = require "gpubench"
--- local dataset = gb.data.Dataset.from_tensor_slices { gb.tensor { 1, 4, 9 }, gb.arange(3) }
--- for root in dataset:map(function(x, label) return x:sqrt(), label end):batch(3):iter() do
---   assert(root[3]:item() == 3)
--- end
--- ```
---@param fn fun(...: Tensor): Tensor ...
---@return Dataset
function Dataset:map(fn) end

---@class BatchOptions
---@field drop_remainder boolean? leave out an incomplete last batch (false)

--- Stacks `size` elements along a new first dimension.
---
--- ```lua
--- local gb = require "gpubench"
--- local dataset = gb.data.Dataset.from_tensor_slices(gb.zeros { 10, 3 })
--- assert(dataset:batch(4).size == 3)
--- assert(dataset:batch(4, { drop_remainder = true }).element_types[1] == "float32[4, 3]")
--- ```
---@param size integer
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
---@param count integer?
---@return Dataset
function Dataset:repeated(count) end

--- The first `count` elements.
---@param count integer
---@return Dataset
function Dataset:take(count) end

--- All but the first `count` elements.
---@param count integer
---@return Dataset
function Dataset:skip(count) end

--- Runs the stages before it in a thread of their own, at most `buffer` elements ahead. gb.AUTOTUNE (the default) buffers
--- as many elements as fit 8 MiB, at least 2 and at most 64.
---@param buffer integer?
---@return Dataset
function Dataset:prefetch(buffer) end

--- One epoch, for a loop: `for x, y in dataset:iter() do`. Leaving the loop early stops the pipeline. Every call is a new
--- epoch.
---@return DatasetIterator
function Dataset:iter() end

--- A running epoch: each call gives the next element's tensors, nil at the end.
---@class DatasetIterator
---@overload fun(): Tensor ...
local DatasetIterator = {}

---@class gpubench
local gb = {}

--- Lets a stage choose its setting.
gb.AUTOTUNE = -1

---@class gpubench.data
gb.data = {}

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

---@class gpubench.datasets
gb.datasets = {}

---@class MnistOptions
---@field flatten boolean? images of 784 values (true), else [28, 28, 1]
---@field one_hot boolean? labels as float32 [10] (true), else int64
---@field scaled boolean? float32 images in [0, 1] (true), else uint8

--- The handwritten digits. They are looked for in $GPUBENCH_DATA (and its folder mnist) if that is set, else in
--- ~/.cache/gpubench/mnist; else the sample that comes with gpubench is used: the 10 000 test digits, 8 000 as "train"
--- and 2 000 as "test". run.json says which it was.
---
--- ```lua
--- local gb = require "gpubench"
--- local train = gb.datasets.mnist("train")
--- assert(train.element_types[1] == "float32[784]" and train.element_types[2] == "float32[10]")
--- ```
---@param split "train"|"test"
---@param options MnistOptions?
---@return Dataset
function gb.datasets.mnist(split, options) end

--- The same as two tensors: all images, all labels.
---
--- ```lua
--- local gb = require "gpubench"
--- local x, y = gb.datasets.mnist_arrays("test", { flatten = false, one_hot = false })
--- assert(x.shape[2] == 28 and #x == #y)
--- ```
---@param split "train"|"test"
---@param options MnistOptions?
---@return Tensor images
---@return Tensor labels
function gb.datasets.mnist_arrays(split, options) end

--- An array saved by numpy.save, as a tensor on the current device.
---@param path string
---@return Tensor
function gb.load_npy(path) end

--- The arrays saved by numpy.savez or numpy.savez_compressed, by name.
---@param path string
---@return table<string, Tensor>
function gb.load_npz(path) end

--- Writes a tensor so that numpy.load reads it.
---@param path string
---@param tensor Tensor
function gb.save_npy(path, tensor) end

return gb
