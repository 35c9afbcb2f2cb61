-- Lookups of texts, tokens and categories: what they learn, give and refuse, alone and in pipelines.
local gb = require "gpubench"
local testing = require "testing"
local case, equal, raises = testing.case, testing.equal, testing.raises
local layers = gb.layers

local function values(tensor) return #tensor.shape == 0 and tensor:item() or tensor:to_table() end
local path = gb._native.options.out .. "/results/texts.txt"

case("a vocabulary is learned from tables and datasets, the frequent words first", function()
  local texts = { "b a, b!", "c B", "a" }
  local learned = layers.TextVectorization()
  learned:adapt(texts)
  equal(learned:get_vocabulary(), { "", "[UNK]", "b", "a", "c" })
  equal(learned:get_vocabulary(false), { "b", "a", "c" })
  equal(values(learned(texts)), { { 2, 3, 2 }, { 4, 2, 0 }, { 3, 0, 0 } })
  equal(values(learned "nothing known"), { 1, 1 })
  local file <close> = assert(io.open(path, "w"))
  file:write(table.concat(texts, "\n"), "\n")
  file:close()
  local of_lines = layers.TextVectorization()
  of_lines:adapt(gb.data.Dataset.text_lines(path))
  equal(of_lines:get_vocabulary(), learned:get_vocabulary())
  local small = layers.TextVectorization { max_tokens = 4 }
  small:adapt(texts)
  equal(small:vocabulary_size(), 4)
end)

case("a lookup maps datasets, and passes other tensors on", function()
  local lookup = layers.TextVectorization { vocabulary = { "red", "green" }, output_sequence_length = 3 }
  local file <close> = assert(io.open(path, "w"))
  file:write("red green\n", "blue\n", "green red red red\n")
  file:close()
  local lines = gb.data.Dataset.text_lines(path)
  local data = gb.data.Dataset.zip { lines, gb.data.Dataset.range(3) }:map(lookup):batch(3)
  equal(data.element_types[1], "int64[?, 3]")
  for ids, labels in data:iter() do
    equal(values(ids), { { 2, 3, 0 }, { 1, 0, 0 }, { 3, 2, 2 } })
    equal(values(labels), { 0, 1, 2 })
  end
  local open = layers.TextVectorization { vocabulary = { "red", "green" } }
  for ids in lines:map(open):padded_batch(3):iter() do equal(ids.shape, { 3, 4 }) end
  for counts in lines:map(layers.TextVectorization { vocabulary = { "red" }, output_mode = "count" }):batch(3):iter() do
    equal(values(counts), { { 1, 1 }, { 1, 0 }, { 1, 3 } })
  end
  local hashed = lines:map(layers.Hashing(7)):batch(3)
  for bins in hashed:iter() do equal(values(bins)[2], layers.Hashing(7) "blue":item()) end
  local numbers = gb.data.Dataset.range(4):map(layers.IntegerLookup { vocabulary = { 3, 1 } }):batch(4)
  for ids in numbers:iter() do equal(values(ids), { 0, 2, 0, 1 }) end
end)

case("standardize, split and ngrams", function()
  local function words(options, text)
    options.vocabulary = nil
    local lookup = layers.TextVectorization(options)
    lookup:adapt { text }
    local found = lookup:get_vocabulary(false)
    table.sort(found)
    return found
  end
  equal(words({}, "Don't  STOP.\tNow"), { "dont", "now", "stop" })
  equal(words({ standardize = "lower" }, "Don't STOP."), { "don't", "stop." })
  equal(words({ standardize = false }, "Don't STOP."), { "Don't", "STOP." })
  equal(words({ split = "character" }, "aäb"), { "a", "b", "ä" })
  equal(words({ split = false }, "a b"), { "a b" })
  equal(words({ ngrams = 2 }, "a b c"), { "a", "a b", "b", "b c", "c" })
  equal(words({ ngrams = { 3 } }, "a b c d"), { "a b c", "b c d" })
end)

case("strings, masks and the way back", function()
  local lookup = layers.StringLookup { vocabulary = { "a", "b" }, mask_token = "" }
  equal(values(lookup { { "a", "" }, { "x", "b" } }), { { 2, 0 }, { 1, 3 } })
  equal(values(lookup "b"), 3)
  local back = layers.StringLookup { vocabulary = lookup:get_vocabulary(), mask_token = "", invert = true }
  equal(back { { 2, 0 }, { 1, 3 } }, { { "a", "" }, { "[UNK]", "b" } })
  local hot = layers.StringLookup { vocabulary = { "a" }, output_mode = "one_hot" }
  equal(values(hot { "a", "z" }), { { 0, 1 }, { 1, 0 } })
  local numbers = layers.IntegerLookup { vocabulary = { 12, 36 }, num_oov_indices = 2 }
  equal(values(numbers { 36, 12, 7, -7 }), { 3, 2, 1, 1 })
  equal(layers.IntegerLookup { vocabulary = { 12, 36 }, invert = true } { 1, 0 }, { 12, -1 })
  equal(values(numbers(gb.tensor({ 36, 4 }, { dtype = "int32" }))), { 3, 0 })
end)

case("what lookups refuse", function()
  raises("StringLookup: it has no vocabulary yet", layers.StringLookup(), "a")
  raises("StringLookup: the vocabulary is empty", layers.StringLookup, { vocabulary = {} })
  raises("StringLookup: the vocabulary has 'a' twice", layers.StringLookup, { vocabulary = { "a", "a" } })
  raises("StringLookup: adapt: the data have no tokens", function() layers.StringLookup():adapt {} end)
  raises("TextVectorization: adapt: the data have no tokens", function()
    layers.TextVectorization():adapt { "", "!" }
  end)
  raises("its vocabulary was given", function() layers.StringLookup({ vocabulary = { "a" } }):adapt { "b" } end)
  raises("the vocabulary has 3 tokens with the special ones, and max_tokens is 2", layers.StringLookup,
    { vocabulary = { "a", "b" }, max_tokens = 2 })
  raises("'x' is not in the vocabulary, and num_oov_indices is 0",
    layers.StringLookup { vocabulary = { "a" }, num_oov_indices = 0 }, "x")
  raises("unknown output_mode 'tfidf' (did you mean 'tf_idf'?)", layers.StringLookup, { output_mode = "tfidf" })
  raises("unknown standardize 'upper'", layers.TextVectorization, { standardize = "upper" })
  raises("needs idf_weights for output_mode = 'tf_idf'", layers.StringLookup,
    { vocabulary = { "a" }, output_mode = "tf_idf" })
  raises("the tables in a table must have equal lengths", layers.StringLookup { vocabulary = { "a" } },
    { { "a", "b" }, { "a" } })
  raises("IntegerLookup: a whole number or a table of them is expected, got string",
    layers.IntegerLookup { vocabulary = { 1 } }, "1")
  raises("models hold no strings", layers.StringLookup { vocabulary = { "a" } }, gb.Input { 1 })
  raises("takes elements that start with a byte string", function()
    gb.data.Dataset.range(3):map(layers.StringLookup { vocabulary = { "a" } })
  end)
  raises("with invert = true it gives strings", function()
    gb.data.Dataset.range(3):map(layers.IntegerLookup { vocabulary = { 1 }, invert = true })
  end)
  raises("num_bins must be at least 1, got 0", layers.Hashing, 0)
  raises("Hashing: it has no vocabulary", function() layers.Hashing(3):get_vocabulary() end)
  raises("max_tokens must be above the 1 of its special tokens, got 1", layers.StringLookup, { max_tokens = 1 })
end)

case("categories and ranges are layers of models", function()
  local ids = gb.Input { shape = { 3 }, dtype = "int64" }
  local x = gb.Input { 2 }
  local model = gb.Model { inputs = { ids, x }, outputs = gb.layers.Concatenate() {
    layers.CategoryEncoding(4)(ids), layers.Discretization({ -0.5, 0.5 }, { output_mode = "count" })(x) } }
  local output = model { gb.tensor({ { 0, 2, 2 } }, { dtype = "int64" }), gb.tensor { { 0.5, -2 } } }
  equal(values(output), { { 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0 } })
  for _, policy in ipairs { "float32", "mixed_bfloat16" } do
    local encoding = layers.CategoryEncoding(600, "multi_hot", { dtype = policy })
    for _, shift in ipairs { 0, 0.5 } do
      equal(encoding(gb.tensor { { 257, 599 } } + shift):argmax(-1):item(), 257, "the whole part of numbers")
    end
    equal(values(encoding(gb.tensor { { true, true } }):sum()), 1.0)
    local weights = gb.tensor { { 2, 3 } }
    local counts = layers.CategoryEncoding(3, { output_mode = "count", dtype = policy }) { weights - 1, weights }
    equal({ values(counts), counts.dtype }, { { { 0.0, 2.0, 3.0 } }, policy == "float32" and policy or "bfloat16" })
  end
  local folder = gb._native.options.out .. "/results/categories"
  model:save(folder)
  equal(#gb.load_model(folder).layers, #model.layers)
  raises("bin_boundaries must be rising numbers, at least one, got [1, 0.5]", layers.Discretization, { 1, 0.5 })
  raises("CategoryEncoding: unknown output_mode 'int'", layers.CategoryEncoding, 4, "int")
  raises("counts the indices [n] of an example, got [2, 3]", layers.CategoryEncoding(4),
    gb.Input { shape = { 2, 3 }, dtype = "int64" })
end)
