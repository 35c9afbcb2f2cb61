---@meta
-- Datasets that read files, and what makes tensors of their bytes. A byte string is a tensor uint8[?].

---@class gpubench
local gb = {}

---@class gpubench.data
gb.data = {}

---@class gpubench.data.Dataset
gb.data.Dataset = {}

---@alias Files string|string[]|Tensor a path, a pattern (*, ?, [a-z]), a list of such, or a path's bytes as list_files
--- gives them; "**" is refused: a pattern for each depth ("fold/*.jpg", "fold/*/*.jpg") says the same

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

--- The records of TFRecord files as byte strings, uint8[?]. Lengths and checksums are checked; an error names the file,
--- the record and its first byte. Behind a damaged record reading goes on with the next one, behind a damaged length
--- with the next file.
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

--- A TFRecord file that is being written.
---@class TfrecordWriter
local TfrecordWriter = {}

--- Adds a record: its bytes as a string or a uint8 tensor.
---@param record string|Tensor
function TfrecordWriter:write(record) end

--- Completes the file. A second call does nothing.
function TfrecordWriter:close() end

--- A tf.train.Example as bytes, its features sorted by name. Strings and uint8 tensors become byte strings, integers
--- and tensors of integers int64, other numbers and tensors float32.
---@param features table<string, number|string|Tensor|number[]|string[]>
---@return string
function gb.data.example(features) end

---@class ExampleFeature
---@field name string of the feature in the Example
---@field shape integer[]? extents, {} for one value (the default), { -1 } for as many as there are
---@field dtype "float32"|"int64"|"bytes"|nil float32 unless given; bytes are one string and become uint8[?]
---@field default number|string|table|nil in place of a feature that is missing; without it, that is an error

--- Takes the features of a tf.train.Example, in the order of the list, out of an element's first tensor.
---@param features ExampleFeature[]
---@return ElementFunction
function gb.data.parse_example(features) end

-- Datasets from files that hold tables and arrays.

--- A column of a CSV file.
---@class CsvColumn
---@field name string? checked against the header; only columns that have one here can be selected by name
---@field dtype "float32"|"int64"|"bytes"|nil float32 unless given; bytes become uint8[?]
---@field default number|string|nil in place of an empty field; without it that is an error, but for bytes

---@class CsvOptions
---@field columns (string|CsvColumn)[] types or descriptions of all columns of the files, in their order
---@field header boolean? whether the first row of each file has names (true)
---@field delimiter string? one character (",")
---@field select (integer|string)[]? positions (from 1) or names (given in `columns`, the header's alone do not count)
--- of the columns that elements have, in this order (all)
---@field pack boolean? one float32[n] of all columns in place of a scalar for each (false)
---@field ignore_errors boolean? leave out rows that are wrong and count them (false)

--- The rows of CSV files (RFC 4180; plain or gzip), a tensor for each column. Blanks around numbers mean nothing, in
--- texts they are kept; numbers too small for float32 are 0. Errors name the file and the line; reading goes on with
--- the next one.
---
--- ```lua
--- local gb = require "gpubench"
--- local path = gb._native.options.out .. "/results/points.csv"
--- io.open(path, "w"):write("x,y,label\n1,2,0\n3,,1\n"):close()
--- local dataset = gb.data.Dataset.csv(path, {
---   columns = { "float32", { name = "y", default = -1 }, { name = "label", dtype = "int64" } } })
--- for x, y, label in dataset:batch(2):iter() do assert(y[2]:item() == -1 and label[2]:item() == 1) end
--- ```
---@param files Files
---@param options CsvOptions
---@return Dataset
function gb.data.Dataset.csv(files, options) end

--- The rows of an IDX file, or of two of equally many: images and labels, plain or gzip.
---@param images string
---@param labels string? file of the labels; without it elements are images alone
---@return Dataset
function gb.data.Dataset.idx(images, labels) end

---@class SafetensorsOptions
---@field names string[]? tensors that elements are rows of, in this order (all, in the order of the file)

--- The rows of the tensors in a safetensors file, which have equally many.
---@param file string
---@param options SafetensorsOptions?
---@return Dataset
function gb.data.Dataset.safetensors(file, options) end

-- Numbers from byte strings.

---@class DecodeRawOptions
---@field dtype string "float32", "uint8", ...
---@field shape integer[]? one extent may be -1: as much as there is ({ -1 })

--- Makes a tensor of each element's first tensor, a byte string of little-endian numbers, for Dataset:map.
---
--- ```lua
--- local gb = require "gpubench"
--- local pixels = gb.data.Dataset.from_generator(function()
---   for i = 1, 3 do coroutine.yield(string.rep(string.char(i), 4)) end
--- end, { types = { "uint8[?]" } }):map(gb.data.decode_raw { dtype = "uint8", shape = { 2, 2 } })
--- assert(pixels.element_types[1] == "uint8[2, 2]")
--- for image in pixels:batch(3):iter() do assert(image[2]:to_table()[1][1] == 2) end
--- ```
---@param options DecodeRawOptions
---@return ElementFunction
function gb.data.decode_raw(options) end

return gb
