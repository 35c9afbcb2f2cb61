-- gb.datasets.imdb with a small archive. What Keras makes of such a file is in tests/peers/conformance.
local gb = require "gpubench"
local npz = require "npz"
local testing = require "testing"

local out = gb._native.options.out .. "/results/"
local words = { { 1, 2, 3 }, { 4, 5 }, { 6 }, { 2, 2, 9, 1 } }

local function write(arrays)
  local file <close> = assert(io.open(out .. "imdb.npz", "wb"))
  file:write(npz.archive(arrays))
end

write { { "x_train", npz.lists(words) }, { "y_train", npz.numbers { 0, 1, 1, 0 } },
  { "x_test", npz.lists { { 30 }, { 7, 8 } } }, { "y_test", npz.numbers { 1, 0 } } }

-- Reviews by the numbers of words that they begin with, as text.
local function reviews(split, options)
  options.directory = out
  local dataset, found = gb.datasets.imdb(split, options), {}
  for review, label in dataset:iter() do
    found[#found + 1] = table.concat(review:to_table(), ",") .. ":" .. label:item()
  end
  testing.equal(dataset.size, #found)
  table.sort(found)
  return table.concat(found, " ")
end

testing.case("reviews begin with the start, and the rarest word is unknown", function()
  testing.equal(reviews("train", {}), "1,4,5,6:0 1,5,5,12,4:0 1,7,8:1 1,9:1")
  testing.equal(reviews("test", {}), "1,10,11:0 1,2:1")
  testing.equal(gb.datasets.imdb("test", { directory = out }).element_types, { "int64[?]", "int64[]" })
end)

testing.case("options of Keras", function()
  testing.equal(reviews("train", { num_words = 8 }), "1,2:1 1,4,5,6:0 1,5,5,2,4:0 1,7,2:1")
  testing.equal(reviews("train", { num_words = 8, oov_char = 0, skip_top = 5 }), "0,0,5,6:0 0,0:1 0,5,5,0,0:0 0,7,0:1")
  testing.equal(reviews("train", { num_words = 8, oov_char = false }), "1,4,5,6:0 1,5,5,4:0 1,7:1 1:1")
  testing.equal(reviews("train", { start_char = false, index_from = 0 }), "1,2,3:0 2,2,9,1:0 4,5:1 6:1")
  testing.equal(reviews("train", { maxlen = 4 }), "1,7,8:1 1,9:1")
end)

testing.case("the seed decides the order", function()
  local function first(seed)
    return table.concat(gb.datasets.imdb("train", { directory = out, seed = seed }):iter()():to_table(), ",")
  end
  local different = {}
  for seed = 1, 8 do
    testing.equal(first(seed), first(seed))
    different[first(seed)] = true
  end
  testing.is_true(next(different, next(different)) ~= nil)
end)

testing.case("reviews are padded within batches, and a loop goes on where another stood", function()
  local dataset = gb.datasets.imdb("train", { directory = out })
  for batch, labels in dataset:padded_batch(4):iter() do
    testing.equal(batch.shape, { 4, 5 })
    testing.equal(labels.shape, { 4 })
  end
  local loop = dataset:iter()
  loop()
  local position = loop:state()
  testing.equal(dataset:iter({ from = position })():to_table(), loop():to_table())
end)

testing.case("what was read is kept for run.json", function()
  local origin = gb._native.data_origins()["imdb train"]
  testing.equal(origin.examples, 4)
  testing.contains(origin.checksum, "crc32:")
end)

testing.case("mistakes are named", function()
  local imdb = gb.datasets.imdb
  testing.raises("imdb: unknown split 'valid' (known: train, test)", imdb, "valid")
  testing.raises("imdb: none is no folder", imdb, "train", { directory = "none" })
  testing.raises("imdb: no imdb.npz found; looked in data", imdb, "train", { directory = "data" })
  testing.raises("option 'num_words': at least 1 is expected, got 0", imdb, "train", { num_words = 0 })
  testing.raises("option 'seed': at most 4294967295 is expected", imdb, "train", { seed = 1 << 40 })
  testing.raises("option 'oov_char': a number or false is expected, got true", imdb, "train",
    { directory = out, oov_char = true })
  testing.raises("imdb: no review has fewer than maxlen = 1 words; raise maxlen", imdb, "train",
    { directory = out, maxlen = 1 })
end)

testing.case("archives of other arrays are named", function()
  local folder = out .. "other"
  gb.Sequential({ gb.Input { 1 }, gb.layers.Dense(1) }):save(folder)  -- scripts make no folders; a saved model is one
  local function read(arrays)
    io.open(folder .. "/imdb.npz", "wb"):write(npz.archive(arrays)):close()
    return gb.datasets.imdb("train", { directory = folder })
  end
  local labels = { "y_train", npz.numbers { 1 } }
  testing.raises("has no array 'x_train' (known: y_train)", read, { labels })
  testing.raises("an array of lists is expected (npy type '|O'), got '<i8' of 1 dimensions", read,
    { { "x_train", npz.numbers { 1 } }, labels })
  testing.raises("has 2 reviews, but labels int64[1]", read, { { "x_train", npz.lists { { 1 }, { 2 } } }, labels })
end)
