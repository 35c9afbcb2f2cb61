local gb = require "gpubench"
local testing = require "testing"

local Dataset = gb.data.Dataset
local out = gb._native.options.out .. "/results/"

--- A file of these records.
local function write_records(path, records, options)
  local writer <close> = gb.data.tfrecord_writer(path, options)
  for _, record in ipairs(records) do writer:write(record) end
  return path
end

--- A byte string of an element.
local function text(tensor)
  local bytes = tensor:to_table()
  return string.char(table.unpack(bytes))
end

local function texts(dataset)
  local found = {}
  for bytes in dataset:iter() do found[#found + 1] = text(bytes) end
  return table.concat(found, " ")
end

testing.case("files are listed and read", function()
  write_records(out .. "list_b", { "x" })
  write_records(out .. "list_a", { "y" })
  testing.equal(texts(Dataset.list_files (out .. "list_*")), out .. "list_a " .. out .. "list_b")
  local function shuffled()
    return texts(Dataset.list_files({ out .. "list_a", out .. "list_b" }, { shuffle = true, seed = 1 }))
  end
  testing.equal(shuffled(), shuffled())
  for bytes in Dataset.list_files(out .. "list_a"):map(gb.data.read_file()):iter() do
    testing.equal(#bytes, 12 + 1 + 4)
  end
end)

testing.case("files that are not there are named", function()
  testing.raises("list_files: no file matches 'none*'", function() Dataset.list_files "none*" end)
  testing.raises("tfrecord: there is no file none", function() Dataset.tfrecord { "none" } end)
  testing.raises("unknown option 'shufle' (did you mean 'shuffle'?) (known: shuffle, seed)",
    function() Dataset.list_files("none", { shufle = true }) end)
end)

testing.case("records are read as they were written", function()
  for _, compression in ipairs { "none", "gzip" } do
    local path = write_records(out .. "records", { "one", gb.tensor({ 116, 119, 111 }, { dtype = "uint8" }) },
      { compression = compression })
    testing.equal(texts(Dataset.tfrecord(path, { compression = compression })), "one two")
  end
  testing.raises("there is no compression 'zip' (did you mean 'gzip'?) (known: none, gzip)",
    function() Dataset.tfrecord(out .. "records", { compression = "zip" }) end)
end)

testing.case("a writer closes once, and leaves nothing when an error ends its scope", function()
  local writer = gb.data.tfrecord_writer(out .. "closed")
  testing.raises("a record is bytes, a string or a uint8 tensor; this is float32[2]",
    function() writer:write(gb.zeros { 2 }) end)
  writer:close()
  writer:close()
  testing.raises("tfrecord_writer: the file is closed already", function() writer:write "x" end)
  testing.raises("stop", function()
    local file <close> = gb.data.tfrecord_writer(out .. "stopped")
    file:write "x"
    error "stop"
  end)
  testing.raises("there is no file " .. out .. "stopped", function() Dataset.tfrecord(out .. "stopped") end)
end)

testing.case("damaged records are named, or counted and left out", function()
  local path = write_records(out .. "mixed", { gb.data.example { n = 1 }, "no example", gb.data.example { n = 3 } })
  local numbers = Dataset.tfrecord(path):map(gb.data.parse_example { { name = "n", dtype = "int64" } })
  testing.raises("no valid tf.train.Example", function() for _ in numbers:iter() do end end)
  local sum = 0
  for n in numbers:ignore_errors():iter() do sum = sum + n:item() end
  testing.equal(sum, 4)
end)

testing.case("examples hold numbers, strings and tensors", function()
  local bytes = gb.data.example { whole = { 1, -2 }, part = { 1, 0.5 }, name = "x",
    pixels = gb.zeros({ 3 }, { dtype = "uint8" }),
    grid = gb.tensor { { 1, 2 }, { 3, 4 } } }
  local parse = gb.data.parse_example {
    { name = "whole", shape = { -1 }, dtype = "int64" }, { name = "part", shape = { 2 } },
    { name = "pixels", dtype = "bytes" }, { name = "grid", shape = { 2, 2 } }, { name = "name", dtype = "bytes" },
    { name = "none", shape = { 2 }, default = 7 }, { name = "text", dtype = "bytes", default = "?" } }
  local dataset = Dataset.tfrecord(write_records(out .. "example", { bytes })):map(parse)
  testing.equal(table.concat(dataset.element_types, " "),
    "int64[?] float32[2] uint8[?] float32[2, 2] uint8[?] float32[2] uint8[?]")
  for whole, part, pixels, grid, name, none, mark in dataset:iter() do
    testing.equal(whole[2]:item(), -2)
    testing.equal(part[2]:item(), 0.5)
    testing.equal(#pixels, 3)
    testing.equal(grid[2][1]:item(), 3.0)
    testing.equal(text(name) .. text(mark), "x?")
    testing.equal(none[2]:item(), 7.0)
  end
end)

testing.case("workers that the program chooses take examples whose size varies, with and without a "
    .. "cache behind them", function()
  local path = write_records(out .. "varying",
    { gb.data.example { n = { 1, 2 } }, gb.data.example { n = { 3, 4, 5 } } })
  local parse = gb.data.parse_example { { name = "n", shape = { -1 }, dtype = "int64" } }
  local parsed = Dataset.tfrecord(path):map(parse, { num_parallel_calls = gb.AUTOTUNE })
  for _, dataset in ipairs { parsed, parsed:cache() } do
    local sum = 0
    for _ = 1, 2 do
      for n in dataset:iter() do sum = sum + n:sum():item() end
    end
    testing.equal(sum, 30)
  end
end)

testing.case("features are checked", function()
  testing.raises("option 'name' is required", function() gb.data.parse_example { { shape = {} } } end)
  testing.raises("an example holds no int32", function() gb.data.parse_example { { name = "x", dtype = "int32" } } end)
  testing.raises("number, string, Tensor or list of numbers or strings expected, got boolean",
    function() gb.data.example { x = true } end)
end)

--- A file of this text.
local function write_text(path, content)
  local file <close> = assert(io.open(path, "wb"))
  file:write(content)
  return path
end

testing.case("rows of CSV files become tensors", function()
  local path = write_text(out .. "points.csv", "x,y,label,name\n1,2,0,one\n3,,1,\"t,wo\"\n5,6\n")
  local columns = { { name = "x" }, { name = "y", default = 0.5 }, { name = "label", dtype = "int64" }, "bytes" }
  local dataset = Dataset.csv(path, { columns = columns, select = { "label", "y", 4 }, ignore_errors = true })
  testing.equal(table.concat(dataset.element_types, " "), "int64[] float32[] uint8[?]")
  local rows = {}
  for label, y, name in dataset:iter() do rows[#rows + 1] = label:item() .. " " .. y:item() .. " " .. text(name) end
  testing.equal(table.concat(rows, "; "), "0 2.0 one; 1 0.5 t,wo")
  testing.raises("points.csv: line 4: 2 fields where 4 columns were given",
    function() for _ in Dataset.csv(path, { columns = columns }):iter() do end end)
  testing.raises("csv: no column is called 'z'; names are those that `columns` gives (x, y, label), not the header's",
    function() Dataset.csv(path, { columns = columns, select = { "z" } }) end)
  testing.raises("csv: no column is called 'y'; names are those that `columns` gives "
      .. "(none), not the header's", function()
    Dataset.csv(path, { columns = { "float32", "float32", "int64", "bytes" }, select = { "y" } })
  end)
  testing.raises("there is no column 0; columns count from 1",
    function() Dataset.csv(path, { columns = columns, select = { 0 } }) end)
  testing.raises("the delimiter is one character, ', ' is 2",
    function() Dataset.csv(path, { columns = columns, delimiter = ", " }) end)
end)

testing.case("what is wrong with a file says where", function()
  local path = write_text(out .. "spaces.csv", "+6,  sp  \n1e-400,\"x\n")
  local dataset = Dataset.csv(path, { columns = { "float32", "bytes" }, header = false })
  testing.raises("spaces.csv: line 2: column 2: a quote is opened and never closed", function()
    for x, name in dataset:iter() do
      testing.equal(x:item(), 6.0)
      testing.equal(text(name), "  sp  ")
    end
  end)
  testing.raises("'**' does not stand for folders of any depth", function() Dataset.list_files(out .. "**/*.csv") end)
  local nul = Dataset.from_generator(function() coroutine.yield "x\0.csv" end, { types = { "uint8[?]" } })
  testing.raises("read_file: 'x\\x00.csv' is no path: it has a byte 0",
    function() for _ in nul:map(gb.data.read_file()):iter() do end end)
end)

testing.case("an element that cannot be made is named, and its file", function()
  local path = write_text(out .. "place.jpg", "text")
  local images = Dataset.list_files(path):map(gb.data.read_file()):map(gb.image.decode { size = { 4, 4 } })
  local place = " (element 1 of the epoch, '" .. path .. "')"
  testing.raises("decode: 4 bytes that are neither a JPEG nor a PNG image" .. place,
    function() for _ in images:iter() do end end)
  local ignoring = images:ignore_errors()
  for _ in ignoring:iter() do end
  local stages = ignoring:stats()
  testing.equal(stages[#stages].why, "the last error: decode: 4 bytes that are neither a JPEG nor a PNG image" .. place)
  local bad = gb.data.lua_function(function(n) if n == 2 then error "bad" end return n end, { output = { "int64" } })
  testing.raises("bad (element 3 of the epoch)", function() for _ in Dataset.range(5):map(bad):iter() do end end)
end)

testing.case("packed rows are batched", function()
  local path = write_text(out .. "packed.csv", "1;2\n3;4\n")
  local dataset = Dataset.csv(path,
    { columns = { "float32", "float32" }, header = false, delimiter = ";", pack = true })
  for rows in dataset:batch(2):iter() do testing.equal(rows:to_table(), { { 1.0, 2.0 }, { 3.0, 4.0 } }) end
end)

testing.case("idx and safetensors files are datasets", function()
  local digits = Dataset.idx("data/mnist/t10k-images-idx3-ubyte.gz", "data/mnist/t10k-labels-idx1-ubyte.gz")
  testing.equal(digits.size, 10000)
  testing.equal(table.concat(digits.element_types, " "), "uint8[28, 28] uint8[]")
  local model = gb.Sequential { gb.layers.Dense(2) }
  model(gb.zeros { 1, 3 })
  model:save(out .. "dense")
  testing.raises("there is no tensor 'none' (known: ",
    function() Dataset.safetensors(out .. "dense/weights.safetensors", { names = { "none" } }) end)
end)

testing.case("images are decoded, classes are folders", function()
  testing.raises("decode: an image of 1000000000 x 1000000000 needs 2",
    function() gb.image.decode { size = { 1000000000, 1000000000 } } end)
  testing.raises("decode: channels = 2 cannot be", function() gb.image.decode { channels = 2 } end)
  testing.raises("one of 'bilinear' 'nearest' expected, got 'cubic'",
    function() gb.image.decode { method = "cubic" } end)
  testing.raises("takes elements that start with a byte string, uint8[?]; these are (int64[])",
    function() Dataset.from_tensor_slices(gb.arange(3)):map(gb.image.decode()) end)
  testing.raises("image_folder: there is no folder none", function() Dataset.image_folder "none" end)
  local path = write_text(out .. "no_image.jpg", "text")
  local images = Dataset.list_files(path):map(gb.data.read_file())
    :map(gb.image.decode { channels = 3, size = { 4, 4 } })
  testing.equal(images.element_types[1], "uint8[4, 4, 3]")
  testing.raises("decode: 4 bytes that are neither a JPEG nor a PNG image",
    function() for _ in images:iter() do end end)
end)

testing.case("files are interleaved as tf.data does it: what list_files gives names a file", function()
  for i = 1, 3 do write_records(out .. "part" .. i .. ".tfrecord", { "a" .. i, "b" .. i }) end
  local files = Dataset.list_files(out .. "part*.tfrecord")
  local all = files:interleave(function(path) return Dataset.tfrecord(path) end, { cycle_length = 3 })
  local seen = {}
  for record in all:iter() do seen[#seen + 1] = text(record) end
  testing.equal(table.concat(seen, " "), "a1 a2 a3 b1 b2 b3")
  testing.raises("a path is a string or its bytes, uint8[n] as list_files gives them; this is float32[2]",
    Dataset.tfrecord,
    gb.ones { 2 })
end)

testing.case("text is read by lines or by bytes", function()
  io.open(out .. "text.txt", "w"):write("one\ntwo\r\nthree"):close()
  testing.equal(texts(Dataset.text_lines(out .. "text.txt")), "one two three")
  local tokens = Dataset.bytes { out .. "text.txt", out .. "text.txt" }
  testing.equal(tokens.size, 28)
  testing.equal(tokens.element_types[1], "uint8[]")
  testing.raises("text_lines: there is no file none", Dataset.text_lines, "none")
  testing.raises("bytes: there is no file none", Dataset.bytes, "none")
end)

testing.case("sets of images come from the folder that the script names", function()
  testing.raises("cifar10: none is no folder", gb.datasets.cifar10, "train", { directory = "none" })
  testing.raises("fashion_mnist: no images found; looked in " .. out, gb.datasets.fashion_mnist, "test",
    { directory = out })
  io.open(out .. "test_batch.bin", "wb"):write(("\4" .. ("\0"):rep(1024) .. ("\255"):rep(2048)):rep(3)):close()
  local images, labels = gb.datasets.cifar10_arrays("test", { directory = out, one_hot = false })
  testing.equal(images.shape, { 3, 32, 32, 3 })
  testing.equal(images[1][1][1]:to_table(), { 0.0, 1.0, 1.0 })
  testing.equal(labels:to_table(), { 4, 4, 4 })
  testing.equal(gb.datasets.cifar10("test", { directory = out, flatten = true }).element_types[1], "float32[3072]")
  io.open(out .. "train.bin", "wb"):write(("\4\55" .. ("\0"):rep(3072)):rep(2)):close()
  local fine = gb.datasets.cifar100("train", { directory = out })
  testing.equal(fine.element_types, { "float32[32, 32, 3]", "float32[100]" })
  local _, coarse = gb.datasets.cifar100_arrays("train", { directory = out, label_mode = "coarse", one_hot = false })
  testing.equal(coarse:to_table(), { 4, 4 })
  testing.raises("option 'label_mode': 'fine' or 'coarse' is expected, got 'both'", gb.datasets.cifar100, "train",
    { label_mode = "both" })
end)
