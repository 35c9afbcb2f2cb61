---@meta
-- Layers that make numbers of texts, of tokens and of categories. Names, options and defaults are those of Keras.

---@class gpubench
local gb = {}

---@class gpubench.layers
gb.layers = {}

--- A layer of the input pipeline: dataset:map(lookup) applies it to the first tensor of each element, a text uint8[?]
--- or whole numbers, and passes the others on; it runs natively. Called on a string, a nested table of strings or whole
--- numbers, or such a tensor, it gives a tensor. Models hold no strings: a lookup stands in front of the dataset's
--- batches, and no part of a model.
---
--- ```lua
--- local gb = require "gpubench"
--- local vectorize = gb.layers.TextVectorization { output_sequence_length = 4 }
--- vectorize:adapt { "foo bar", "bar baz", "baz bada boom" }
--- local row = vectorize("Foo, qux bar!"):to_table()
--- assert(row[2] == 1 and row[4] == 0) -- [UNK] is 1, and 0 fills up
--- assert(vectorize:get_vocabulary()[1] == "" and vectorize:vocabulary_size() == 7)
--- ```
---@class Lookup
---@field kind string "TextVectorization"
---@overload fun(x: string|integer|Tensor|table): Tensor
local Lookup = {}

--- Learns the vocabulary: the most frequent tokens first. Of a table, each entry is a text, or a row of tokens; of a
--- dataset, the first tensor of each element.
---@param data table|Tensor|Dataset
function Lookup:adapt(data) end

--- Sets the vocabulary, in place of learning it: tokens, or the path of a file with one in each line.
---@param vocabulary string|(string|integer)[]
---@param idf_weights number[]? of each token, for output_mode "tf_idf"; none unless given
function Lookup:set_vocabulary(vocabulary, idf_weights) end

--- The tokens by index, from 0: the first of the list has index 0.
---@param include_special_tokens boolean? whether mask and out-of-vocabulary tokens stand in front; true unless given
---@return string[]
function Lookup:get_vocabulary(include_special_tokens) end

--- The number of indices.
---@return integer
function Lookup:vocabulary_size() end

---@class TextVectorizationOptions
---@field max_tokens integer? limit of the vocabulary, with the special tokens; none unless given
---@field standardize string|boolean|nil "lower_and_strip_punctuation" unless given, "lower", "strip_punctuation" or
--- false. Letters that are not ASCII stay as they are, as in TensorFlow
---@field split string|boolean|nil "whitespace" unless given, "character", or false: the text is one token
---@field ngrams integer|integer[]|nil runs of neighbouring tokens: of 1 to n, or of these lengths; single tokens unless
--- given
---@field output_mode string? "int" unless given: an index for each token; "multi_hot", "count" or "tf_idf": a number
--- for each token of the vocabulary
---@field output_sequence_length integer? indices of a text, which is cut off or filled up with 0; as many as there are
--- tokens unless given
---@field pad_to_max_tokens boolean? whether counts have max_tokens numbers, also of a smaller vocabulary; false unless
--- given
---@field vocabulary string|(string|integer)[]|nil tokens, or the path of a file with one in each line; adapt learns it
--- unless given
---@field idf_weights number[]? of each token of the vocabulary, for "tf_idf"; none unless given

--- Texts to indices of their words. Index 0 fills up, 1 stands for unknown words.
---@param options TextVectorizationOptions?
---@return Lookup
function gb.layers.TextVectorization(options) end

---@class StringLookupOptions
---@field max_tokens integer? limit of the vocabulary, with the special tokens; none unless given
---@field num_oov_indices integer? indices of unknown tokens, to which their hash assigns them; with 0 they are errors;
--- 1 unless given
---@field mask_token string? has index 0, and is not counted; none unless given
---@field oov_token string? of unknown indices, for invert; "[UNK]" unless given
---@field vocabulary string|(string|integer)[]|nil tokens, or the path of a file with one in each line; adapt learns it
--- unless given
---@field idf_weights number[]? of each token of the vocabulary, for "tf_idf"; none unless given
---@field invert boolean? indices to tokens, as nested tables; false unless given
---@field output_mode string? "int" unless given, "one_hot" of each token, or of each sample (the last dimension)
--- "multi_hot", "count" or "tf_idf"
---@field pad_to_max_tokens boolean? whether these have max_tokens numbers, also of a smaller vocabulary; false unless
--- given

--- Strings to indices.
---
--- ```lua
--- local gb = require "gpubench"
--- local lookup = gb.layers.StringLookup { vocabulary = { "cat", "dog" } }
--- assert(lookup({ "dog", "cow" }):to_table()[1] == 2)
--- local back = gb.layers.StringLookup { vocabulary = lookup:get_vocabulary(), invert = true }
--- assert(back({ 2, 0 })[2] == "[UNK]")
--- ```
---@param options StringLookupOptions?
---@return Lookup
function gb.layers.StringLookup(options) end

---@class IntegerLookupOptions
---@field max_tokens integer? limit of the vocabulary, with the special tokens; none unless given
---@field num_oov_indices integer? indices of unknown numbers, to which their remainder assigns them; with 0 they are
--- errors; 1 unless given
---@field mask_token integer? has index 0, and is not counted; none unless given
---@field oov_token integer? of unknown indices, for invert; -1 unless given
---@field vocabulary string|(string|integer)[]|nil numbers, or the path of a file with one in each line; adapt learns it
--- unless given
---@field idf_weights number[]? of each number of the vocabulary, for "tf_idf"; none unless given
---@field invert boolean? indices to numbers, as nested tables; false unless given
---@field output_mode string? as of StringLookup; "int" unless given
---@field pad_to_max_tokens boolean? as of StringLookup; false unless given

--- Whole numbers to indices.
---@param options IntegerLookupOptions?
---@return Lookup
function gb.layers.IntegerLookup(options) end

---@class HashingOptions
---@field mask_value integer|string|nil has bin 0, and nothing else; none unless given
---@field output_mode string? "int" unless given, "one_hot", "multi_hot" or "count", of which the results are float32

--- Strings and whole numbers to bins by their hash, without a vocabulary: the bins of TensorFlow (FarmHash64).
---
--- ```lua
--- local gb = require "gpubench"
--- assert(gb.layers.Hashing(3)({ "A", "B", "A" }):to_table()[3] == gb.layers.Hashing(3)("A"):item())
--- ```
---@param num_bins integer
---@param options HashingOptions?
---@return Lookup
function gb.layers.Hashing(num_bins, options) end

---@class CategoryEncodingOptions: LayerOptions
---@field output_mode string? "multi_hot" unless given, or "count": which of the [n] indices of an example are there, or
--- how often; "one_hot": of each index

--- Indices of categories as numbers for each category. In the mode "count" a second input weighs each index.
---
--- ```lua
--- local gb = require "gpubench"
--- local ids = gb.tensor({ { 0, 2, 2 } }, { dtype = "int64" })
--- assert(gb.layers.CategoryEncoding(4, { output_mode = "count" })(ids):to_table()[1][3] == 2)
--- ```
---@param num_tokens integer
---@param output_mode string|CategoryEncodingOptions|nil
---@param options CategoryEncodingOptions?
---@return Layer
function gb.layers.CategoryEncoding(num_tokens, output_mode, options) end

---@class DiscretizationOptions: LayerOptions
---@field bin_boundaries number[]? rising; required here or as the first argument
---@field output_mode string? "int" unless given: int32; or "one_hot", "multi_hot" or "count", as of CategoryEncoding

--- The number of boundaries at or below each number.
---
--- ```lua
--- local gb = require "gpubench"
--- local ranges = gb.layers.Discretization({ 0, 1.5, 3 })
--- assert(ranges(gb.tensor { { -1, 1.5, 7 } }):to_table()[1][2] == 2)
--- ```
---@param bin_boundaries number[]|DiscretizationOptions
---@param options DiscretizationOptions?
---@return Layer
function gb.layers.Discretization(bin_boundaries, options) end

return gb
