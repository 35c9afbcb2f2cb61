---@meta
-- Datasets from files that hold tables and arrays.

---@class gpubench
local gb = {}

---@class gpubench.data
---@class gpubench.data
gb.data = {}

---@class gpubench.data.Dataset
gb.data.Dataset = {}

---@class CsvColumn
---@field name string? checked against the header; only columns that have one here can be selected by name
---@field dtype "float32"|"int64"|"bytes"|nil float32 unless given; bytes become uint8[?]
---@field default number|string|nil in place of an empty field; without it that is an error, but for bytes

---@class CsvOptions
---@field columns (string|CsvColumn)[] types or descriptions of all columns of the files, in their order
---@field header boolean? whether the first row of each file has names (true)
---@field delimiter string? one character (",")
---@field select (integer|string)[]? positions (from 1) or names (given in `columns`, the header's alone do not count) of
--- the columns that elements have, in this order (all)
---@field pack boolean? one float32[n] of all columns in place of a scalar for each (false)
---@field ignore_errors boolean? leave out rows that are wrong and count them (false)

--- The rows of CSV files (RFC 4180; plain or gzip), a tensor for each column. Blanks around numbers mean nothing, in texts
--- they are kept; numbers too small for float32 are 0. Errors name the file and the line; reading goes on with the next
--- one.
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
---@param labels string?
---@return Dataset
function gb.data.Dataset.idx(images, labels) end

---@class SafetensorsOptions
---@field names string[]? tensors that elements are rows of, in this order (all, in the order of the file)

--- The rows of the tensors in a safetensors file, which have equally many.
---@param file string
---@param options SafetensorsOptions?
---@return Dataset
function gb.data.Dataset.safetensors(file, options) end

return gb
