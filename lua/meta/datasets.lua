---@meta
-- Published sets of small labelled images and of reviews, from files that are already on the machine.

---@class gpubench
local gb = {}

--- Published sets of small labelled images.
---@class gpubench.datasets
gb.datasets = {}

---@class ImageSetOptions
---@field flatten boolean? images as rows of values, else [height, width, channels] (true; of CIFAR false)
---@field one_hot boolean? labels as float32 [classes] (true), else int64
---@field scaled boolean? float32 images in [0, 1] (true), else uint8
---@field directory string? the folder with the files; when absent $GPUBENCH_DATA (and its folder of the set's name) if
--- that
---is set, else ~/.cache/gpubench/ and the set's name

--- The handwritten digits. Without the full set the sample that comes with gpubench is used: the 10 000 test digits, 8
--- 000 as "train" and 2 000 as "test". run.json says which it was.
---
--- ```lua
--- local gb = require "gpubench"
--- local train = gb.datasets.mnist("train")
--- assert(train.element_types[1] == "float32[784]" and train.element_types[2] == "float32[10]")
--- ```
---@param split "train"|"test"
---@param options ImageSetOptions?
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
---@param options ImageSetOptions?
---@return Tensor images
---@return Tensor labels
function gb.datasets.mnist_arrays(split, options) end

--- Fashion-MNIST: 28 x 28 pictures of ten kinds of clothes, in four IDX files with the names of MNIST's
--- (train-images-idx3-ubyte, ..., plain or gzip). Download them once, and name their folder.
---
--- ```lua
--- local gb = require "gpubench"
--- local ok, message = pcall(gb.datasets.fashion_mnist, "train", { directory = "data" })
--- assert(not ok and message:find "no images found; looked in data")
--- ```
---@param split "train"|"test"
---@param options ImageSetOptions?
---@return Dataset
function gb.datasets.fashion_mnist(split, options) end

--- The same as two tensors: all images, all labels.
---@param split "train"|"test"
---@param options ImageSetOptions?
---@return Tensor images
---@return Tensor labels
function gb.datasets.fashion_mnist_arrays(split, options) end

--- CIFAR-10: 32 x 32 colour pictures of ten kinds, from its binary version: data_batch_1.bin to data_batch_5.bin and
--- test_batch.bin, plain or gzip. Download them once, and name their folder.
---
--- ```lua
--- local gb = require "gpubench"
--- local folder = gb._native.options.out .. "/results"
--- io.open(folder .. "/test_batch.bin", "wb"):write(("\7" .. ("x"):rep(3072)):rep(4)):close()
--- local test = gb.datasets.cifar10("test", { directory = folder, one_hot = false })
--- assert(test.size == 4 and test.element_types[1] == "float32[32, 32, 3]")
--- ```
---@param split "train"|"test"
---@param options ImageSetOptions?
---@return Dataset
function gb.datasets.cifar10(split, options) end

--- The same as two tensors: all images, all labels.
---@param split "train"|"test"
---@param options ImageSetOptions?
---@return Tensor images
---@return Tensor labels
function gb.datasets.cifar10_arrays(split, options) end

---@class Cifar100Options : ImageSetOptions
---@field label_mode "fine"|"coarse"|nil labels of the 100 classes, or of the 20 superclasses ("fine")

--- CIFAR-100: 32 x 32 colour pictures of 100 kinds, from its binary version: train.bin and test.bin, plain or gzip.
--- Download them once, and name their folder.
---
--- ```lua
--- local gb = require "gpubench"
--- local folder = gb._native.options.out .. "/results"
--- io.open(folder .. "/test.bin", "wb"):write(("\3\77" .. ("x"):rep(3072)):rep(4)):close()
--- local images, labels = gb.datasets.cifar100_arrays("test", { directory = folder, one_hot = false })
--- assert(#images == 4 and labels[1]:item() == 77)
--- ```
---@param split "train"|"test"
---@param options Cifar100Options?
---@return Dataset
function gb.datasets.cifar100(split, options) end

--- The same as two tensors: all images, all labels.
---@param split "train"|"test"
---@param options Cifar100Options?
---@return Tensor images
---@return Tensor labels
function gb.datasets.cifar100_arrays(split, options) end

---@class ImdbOptions
---@field num_words integer? words from this number on are unknown, which are the rare ones (the largest number that
--- there is)
---@field skip_top integer? words below this number are unknown, which are the frequent ones (0)
---@field maxlen integer? only reviews of fewer words, with the start (all)
---@field seed integer? decides the order (113)
---@field start_char integer|false|nil begins each review; false: nothing does (1)
---@field oov_char integer|false|nil in place of unknown words; false: these are left out (2)
---@field index_from integer? added to the number of every word (3)
---@field directory string? the folder with imdb.npz; when absent $GPUBENCH_DATA (and its folder imdb) if that is set,
---else ~/.cache/gpubench/imdb

--- 50 000 film reviews, as lists of the numbers of their words, and whether they praise (1) or not (0): from imdb.npz,
--- the file that Keras' imdb.load_data downloads, with its options and in its order. Elements are (int64[?], int64[]).
--- Download it once, and name its folder. Batches are padded at the end of reviews, by padded_batch.
---
--- ```lua
--- local gb = require "gpubench"
--- local ok, message = pcall(gb.datasets.imdb, "train", { directory = "data", num_words = 10000 })
--- assert(not ok and message:find "no imdb.npz found; looked in data")
--- ```
---@param split "train"|"test"
---@param options ImdbOptions?
---@return Dataset
function gb.datasets.imdb(split, options) end

return gb
