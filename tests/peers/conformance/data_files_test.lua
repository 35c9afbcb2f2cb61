-- Datasets of files against tf.data (data_values.lua, written by data.py).
local gb = require "gpubench"
local testing = require "testing"
local compare = dofile "tests/peers/conformance/compare.lua"
local checks = dofile "tests/peers/conformance/data_checks.lua"
local reference = dofile "tests/peers/conformance/data_values.lua"
local close = compare.close

local Dataset = gb.data.Dataset
local columns = { "float32", { name = "label", dtype = "int64", default = -1 }, { name = "note", dtype = "bytes" } }
local x, label = { name = "x", shape = { 2 } }, { name = "label", dtype = "int64" }
local results = gb._native.options.out .. "/results/"

local function csv(path) return Dataset.csv(path, { columns = columns }) end

local function text_lines(path) return Dataset.text_lines(path) end

local function list_files(_, case)
  local start = results .. "listed_"
  return Dataset.list_files(start .. case.pattern):map(function(path) return path[{ #start + 1, -1 }] end)
end

local function records_of(options)
  return function(path)
    return Dataset.tfrecord(path, options):map(gb.data.parse_example { x, label, { name = "weight", default = 1.5 } })
  end
end

local function decoded_raw(options, last)
  return function(path)
    local content = Dataset.list_files(path):map(gb.data.read_file())
    return content:map(function(bytes) return bytes[{ 1, last }] end):map(gb.data.decode_raw(options))
  end
end

local files = {
  csv = csv, ["csv gzipped"] = csv,
  ["csv with another delimiter and no header"] = function(path)
    return Dataset.csv(path, { columns = { "float32", "int64", "bytes" }, header = false, delimiter = ";" })
  end,
  ["csv of some columns"] = function(path) return Dataset.csv(path, { columns = columns, select = { 1, "label" } }) end,
  text_lines = text_lines, ["text_lines gzipped"] = text_lines, ["text_lines with carriage returns"] = text_lines,
  ["text_lines of nothing"] = text_lines,
  list_files = list_files, ["list_files ?"] = list_files, ["list_files []"] = list_files,
  tfrecord = records_of(), ["tfrecord gzipped"] = records_of { compression = "gzip" },
  parse_example = function(path)
    return Dataset.tfrecord(path):map(gb.data.parse_example {
      { name = "tokens", dtype = "int64", shape = { -1 } }, { name = "name", dtype = "bytes" },
      { name = "at", default = -2 } })
  end,
  example = function(_, case) return checks.bytes_of(gb.data.example(case.features)) end,
  tfrecord_writer = function(path, case)
    local writer = gb.data.tfrecord_writer(path)
    for _, record in ipairs(case.records) do writer:write(record) end
    writer:close()
    return Dataset.list_files(path):map(gb.data.read_file())
  end,
  read_file = function(path) return Dataset.list_files(path):map(gb.data.read_file()) end,
  ["decode_raw uint8"] = decoded_raw({ dtype = "uint8" }, -1),
  ["decode_raw float32"] = decoded_raw({ dtype = "float32", shape = { -1, 2 } }, 24),
  bytes = function(path) return Dataset.bytes(path) end,
  image_folder = function(_, case)
    local data, classes = Dataset.image_folder(results .. "classes", { size = { 2, 3 }, dtype = "float32" })
    close(classes, case.classes, 0, "names of classes")
    return data:map(function(image, class) return image * 255, class end)
  end,
}

local function write_file(name, content)
  local file = assert(io.open(results .. name, "wb"))
  file:write(content):close()
  return results .. name
end

compare.covers(gb.data, {
  AUTOTUNE = "a number", Dataset = "data_test.lua has it", lua_function = "pipelines have it",
}, reference.files)

-- Scripts make no folders; a saved model is one.
local function make_folder(name)
  gb.Sequential({ gb.Input { 1 }, gb.layers.Dense(1) }):save(results .. name)
end

compare.run(reference.files, function(case)
  for _, name in ipairs(case.names or {}) do write_file("listed_" .. name, "") end
  for _, class in ipairs(case.classes or {}) do make_folder("classes/" .. class) end
  for _, file in ipairs(case.files or {}) do write_file("classes/" .. file.name, file.content) end
  local path = write_file(case.name:gsub("%W", "_"), case.file or "")
  local rows = checks.listed(files[case.name](path, case), 200)
  testing.equal(#rows, #case.elements)
  for index, row in ipairs(rows) do close(row, case.elements[index], 1e-6, "element " .. index) end
end)
