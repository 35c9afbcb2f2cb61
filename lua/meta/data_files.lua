---@meta
-- Datasets that read files, and what makes tensors of their bytes. A byte string is a tensor uint8[?].

---@class gpubench
local gb = {}

---@class gpubench.data
---@class gpubench.data
gb.data = {}

---@class gpubench.data.Dataset
gb.data.Dataset = {}

---@alias Files string|string[]|Tensor a path, a pattern (*, ?, [a-z]), a list of such, or a path's bytes as list_files gives them; "**" is refused: a pattern
--- for each depth ("fold/*.jpg", "fold/*/*.jpg") says the same

---@class ListFilesOptions
---@field shuffle boolean? another order in every epoch (false: sorted)
---@field seed integer? what decides the order; a new one derived from gb.config.set_seed when absent

--- Paths as elements, uint8[?], sorted. A pattern that matches nothing is an error.
---
--- ```lua
--- local gb = require "gpubench"
--- local folder = gb._native.options.out .. "/results" -- where scripts may write
--- gb.data.tfrecord_writer(folder .. "/listed.tfrecord"):close()
--- local files = gb.data.Dataset.list_files(folder .. "/listed*", { shuffle = true, seed = 1 })
--- assert(files.size == 1 and files.element_types[1] == "uint8[?]")
--- ```
---@param patterns Files
---@param options ListFilesOptions?
---@return Dataset
function gb.data.Dataset.list_files(patterns, options) end

--- Puts a file's bytes in the place of its path: dataset:map(gb.data.read_file()).
---@return ElementFunction
function gb.data.read_file() end

---@class TfrecordOptions
---@field compression "none"|"gzip"|nil of whole files ("none")
---@field ignore_errors boolean? leave out damaged records and count them (false)

--- The records of TFRecord files as byte strings, uint8[?]. Lengths and checksums are checked; an error names the file, the
--- record and its first byte. Behind a damaged record reading goes on with the next one, behind a damaged length with the
--- next file.
---
--- ```lua
--- local gb = require "gpubench"
--- local folder = gb._native.options.out .. "/results"
--- do
---   local writer <close> = gb.data.tfrecord_writer(folder .. "/digits.tfrecord")
---   for i = 1, 4 do writer:write(gb.data.example { image = { 0.5 * i, 1 }, label = i, name = "digit " .. i }) end
--- end
--- local parse = gb.data.parse_example {
---   { name = "image", shape = { 2 } }, { name = "label", dtype = "int64" }, { name = "weight", default = 1 } }
--- for images, labels, weights in gb.data.Dataset.tfrecord(folder .. "/digits*"):map(parse):batch(4):iter() do
---   assert(images[2][1]:item() == 1 and labels[4]:item() == 4 and weights[1]:item() == 1)
--- end
--- ```
---@param files Files
---@param options TfrecordOptions?
---@return Dataset
function gb.data.Dataset.tfrecord(files, options) end

---@class TfrecordWriterOptions
---@field compression "none"|"gzip"|nil of the whole file ("none")

--- A TFRecord file to write. It appears under its name when it is closed: by close(), or by leaving the scope of
--- `local writer <close> = ...` without an error.
---@param path string
---@param options TfrecordWriterOptions?
---@return TfrecordWriter
function gb.data.tfrecord_writer(path, options) end

---@class TfrecordWriter
local TfrecordWriter = {}

--- Adds a record: its bytes as a string or a uint8 tensor.
---@param record string|Tensor
function TfrecordWriter:write(record) end

--- Completes the file. A second call does nothing.
function TfrecordWriter:close() end

--- A tf.train.Example as bytes, its features sorted by name. Strings and uint8 tensors become byte strings, integers and
--- tensors of integers int64, other numbers and tensors float32.
---@param features table<string, number|string|Tensor|number[]|string[]>
---@return string
function gb.data.example(features) end

---@class ExampleFeature
---@field name string
---@field shape integer[]? extents, {} for one value (the default), { -1 } for as many as there are
---@field dtype "float32"|"int64"|"bytes"|nil float32 unless given; bytes are one string and become uint8[?]
---@field default number|string|table|nil in place of a feature that is missing; without it, that is an error

--- Takes the features of a tf.train.Example, in the order of the list, out of an element's first tensor.
---@param features ExampleFeature[]
---@return ElementFunction
function gb.data.parse_example(features) end

return gb
