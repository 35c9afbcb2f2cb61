// gb.layers.TextVectorization, StringLookup, IntegerLookup and Hashing: layers of the input pipeline. Datasets hold a
// text as uint8[?], and no tensor holds several, so these are functions for map and for values of a script.
#include "lua/api/data/lookup.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/data/source/text.h"
#include "core/data/tune/pipeline.h"
#include "lua/api/data/dataset.h"
#include "lua/api/data/lookup_values.h"
#include "lua/api/openers.h"
#include "lua/api/session.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/train/layers.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// Strings or whole numbers, as nested tables have them.
struct Tokens {
  Shape shape{};
  std::vector<std::string> tokens{};
};

void append_tokens(lua_State* L, int index, const LookupOptions& options, std::size_t depth, Tokens& read) {
  index = lua_absindex(L, index);
  luaL_checkstack(L, 4, "nested tokens");
  if (!lua_istable(L, index)) {
    const bool fits = depth == read.shape.size() &&
                      (lua_isinteger(L, index) != 0 ? options.numbers || options.bins > 0
                                                    : lua_type(L, index) == LUA_TSTRING && !options.numbers);
    if (!fits) {
      throw ArgumentError(fmt::format(
          "{}: {} is expected, got {}", options.owner,
          options.numbers ? "a whole number or a table of them" : "a string or a table of strings of equal lengths",
          type_name_at(L, index)));
    }
    const bool number = lua_isinteger(L, index) != 0;
    read.tokens.push_back(number ? token_of_number(lua_tointeger(L, index)) : Value<std::string>::read(L, index));
    return;
  }
  constexpr std::size_t deepest = 8;
  const auto count = static_cast<std::int64_t>(sequence_length(L, index));
  if (depth == read.shape.size() && read.tokens.empty()) read.shape.push_back(count);
  if (depth >= std::min(read.shape.size(), deepest) || read.shape[depth] != count) {
    throw ArgumentError(fmt::format("{}: the tables in a table must have equal lengths", options.owner));
  }
  for (std::int64_t i = 1; i <= count; ++i) {
    lua_rawgeti(L, index, i);
    append_tokens(L, -1, options, depth + 1, read);
    lua_pop(L, 1);
  }
}

Tokens read_tokens(lua_State* L, int index, const LookupOptions& options) {
  Tokens read;
  if (Value<ScriptSymbol>::matches(L, index)) {
    throw ArgumentError(
        fmt::format("{}: models hold no strings, and look no tokens up; apply it to the dataset in front of the model: "
                    "dataset:map(layer)",
                    options.owner));
  }
  if (!Value<Tensor>::matches(L, index)) {
    append_tokens(L, index, options, 0, read);
    return read;
  }
  const HostTensor tensor = download(L, Value<Tensor>::read(L, index));
  if (!options.numbers && tensor.dtype() == Dtype::u8 && tensor.type().rank() == 1) {
    read.tokens.emplace_back(reinterpret_cast<const char*>(tensor.data()), tensor.bytes());
    return read;
  }
  if (!options.numbers && options.bins == 0) {
    throw ArgumentError(fmt::format("{}: strings are expected, a tensor of one is uint8[?], got {}", options.owner,
                                    to_string(tensor.type())));
  }
  return {tensor.shape(), tokens_of_numbers(tensor.view(), options.owner)};
}

Tensor uploaded(lua_State* L, const HostTensor& value) {
  return world_of(L).dispatcher.constant(value);
}

/// Rows of texts, filled up with 0 to the longest.
HostTensor encoded_texts(const Lookup& lookup, const Tokens& texts) {
  if (texts.shape.size() > 1 && texts.shape != Shape{texts.shape[0], 1}) {
    throw Error(fmt::format("{}: takes a text, a list of texts, or one of lists of one text, got {}",
                            lookup.vocabulary->options().owner, to_string(texts.shape)));
  }
  std::vector<HostTensor> rows;
  std::int64_t longest = 0;
  for (const std::string& text : texts.tokens) {
    rows.push_back(encoded_text(lookup, text));
    longest = std::max(longest, rows.back().elements());
  }
  if (texts.shape.empty()) return rows.front();
  const Dtype dtype = encoded_type(lookup, {longest}).dtype;
  HostTensor all = HostTensor::zeros({{std::ssize(rows), longest}, dtype});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].bytes() == 0) continue;
    const std::size_t at = i * static_cast<std::size_t>(longest) * size_of(dtype);
    std::copy_n(rows[i].data(), rows[i].bytes(), all.data() + at);
  }
  return all;
}

void push_words(lua_State* L, const Lookup& lookup, const Shape& shape, std::span<const std::string> indices,
                std::size_t axis, std::size_t& at) {
  if (axis == shape.size()) {
    const std::string word = lookup.vocabulary->token_of(std::stoll(indices[at++]));
    if (lookup.vocabulary->options().numbers) return lua_pushinteger(L, std::stoll(word));
    return Value<std::string>::push(L, word);
  }
  luaL_checkstack(L, 4, "nested tokens");
  lua_createtable(L, static_cast<int>(shape[axis]), 0);
  for (std::int64_t i = 1; i <= shape[axis]; ++i) {
    push_words(L, lookup, shape, indices, axis + 1, at);
    lua_rawseti(L, -2, i);
  }
}

/// lookup(x): of a string, a table of them, or whole numbers.
int call_lookup(lua_State* L) {
  const auto self = Value<std::shared_ptr<Lookup>>::read(L, 1);
  self->vocabulary->require_tokens();
  if (self->invert) {
    LookupOptions indices = self->vocabulary->options();
    indices.numbers = true;
    const Tokens read = read_tokens(L, 2, indices);
    std::size_t at = 0;
    push_words(L, *self, read.shape, read.tokens, 0, at);
    return 1;
  }
  const Tokens read = read_tokens(L, 2, self->vocabulary->options());
  const HostTensor result = self->text ? encoded_texts(*self, read) : encoded(*self, read.shape, read.tokens);
  Value<Tensor>::push(L, uploaded(L, result));
  return 1;
}

/// Documents for the counts: each text, or each first row of tokens.
void count_tokens(const Lookup& self, const Tokens& read, TokenCounts& counts) {
  if (self.text) {
    for (const std::string& text : read.tokens) counts.add(tokens_of_text(text, *self.text));
    return;
  }
  const std::size_t documents = read.shape.empty() ? 1 : static_cast<std::size_t>(read.shape[0]);
  const std::size_t each = documents == 0 ? 0 : read.tokens.size() / documents;
  for (std::size_t i = 0; i < documents; ++i) counts.add(std::span(read.tokens).subspan(i * each, each));
}

Tokens tokens_of_element(const Lookup& self, const HostTensor& first) {
  const LookupOptions& options = self.vocabulary->options();
  const bool string = first.dtype() == Dtype::u8 && first.type().rank() == 1;
  if (!options.numbers && string) {
    return {{}, {std::string(reinterpret_cast<const char*>(first.data()), first.bytes())}};
  }
  if (options.numbers) return {{1, first.elements()}, tokens_of_numbers(first.view(), options.owner)};
  throw Error(fmt::format("{}: adapt takes elements that start with a byte string, uint8[?], got {}", options.owner,
                          to_string(first.type())));
}

/// lookup:adapt(data): a table of strings or whole numbers, a tensor, or a dataset, whose first tensors count.
int adapt_lookup(lua_State* L) {
  const auto self = Value<std::shared_ptr<Lookup>>::read(L, 1);
  const LookupOptions& options = self->vocabulary->options();
  if (options.bins > 0) throw Error("Hashing: it has no vocabulary to adapt");
  if (self->fixed) throw Error(fmt::format("{}: its vocabulary was given; adapt is for one without", options.owner));
  TokenCounts counts;
  if (Value<DatasetPtr>::matches(L, 2)) {
    const DatasetPtr dataset = Value<DatasetPtr>::read(L, 2);
    if (dataset->size() == endless)
      throw Error(fmt::format("{}: adapt: the dataset never ends; use take", options.owner));
    const std::unique_ptr<Cursor> cursor = open_pipeline(*dataset);
    Element element;
    while (cursor->next(element)) count_tokens(*self, tokens_of_element(*self, element[0]), counts);
  } else {
    count_tokens(*self, read_tokens(L, 2, options), counts);
  }
  self->vocabulary = std::make_shared<const Vocabulary>(counts.learned(options));
  return 0;
}

using Words = std::variant<std::monostate, std::string, std::vector<std::variant<std::int64_t, std::string>>>;

/// A file has a token in each line.
std::vector<std::string> listed_words(const Words& words, const std::string& owner) {
  std::vector<std::string> tokens;
  if (const auto* const path = std::get_if<std::string>(&words)) {
    const std::unique_ptr<Cursor> cursor = open_pipeline(*text_lines({path, 1}));
    Element element;
    while (cursor->next(element))
      tokens.emplace_back(reinterpret_cast<const char*>(element[0].data()), element[0].bytes());
    if (tokens.empty()) throw Error(fmt::format("{}: the vocabulary file {} is empty", owner, *path));
  }
  if (const auto* const list = std::get_if<2>(&words)) {
    for (const auto& word : *list) {
      const auto* const number = std::get_if<std::int64_t>(&word);
      tokens.push_back(number != nullptr ? token_of_number(*number) : std::get<std::string>(word));
    }
  }
  return tokens;
}

void set_vocabulary_of(const std::shared_ptr<Lookup>& self, const Words& words,
                       const std::optional<std::vector<float>>& idf_weights) {
  const LookupOptions& options = self->vocabulary->options();
  if (options.bins > 0) throw Error("Hashing: it has no vocabulary");
  self->vocabulary = std::make_shared<const Vocabulary>(options, listed_words(words, options.owner),
                                                        idf_weights.value_or(std::vector<float>()));
  self->fixed = true;
}

std::vector<std::string> vocabulary_of(const Lookup& self, std::optional<bool> include_special_tokens) {
  if (self.vocabulary->options().bins > 0) throw Error("Hashing: it has no vocabulary");
  return self.vocabulary->tokens(include_special_tokens.value_or(true));
}

std::int64_t vocabulary_size_of(const Lookup& self) {
  return self.vocabulary->size();
}

std::string lookup_kind(const Lookup& self) {
  return self.vocabulary->options().owner;
}

std::string lookup_text(const Lookup& self) {
  return fmt::format("Lookup {} ({} tokens)", self.vocabulary->options().owner, self.vocabulary->size());
}

LookupMode parse_mode(const std::string& owner, const std::string& name, bool counts_documents) {
  constexpr std::array<std::string_view, 5> names{"int", "one_hot", "multi_hot", "count", "tf_idf"};
  const std::span<const std::string_view> known = std::span(names).first(counts_documents ? 5 : 4);
  const auto found = std::ranges::find(known, name);
  if (found == known.end()) throw_unknown_name(fmt::format("{}: unknown output_mode", owner), name, known);
  return static_cast<LookupMode>(found - known.begin());
}

/// With the options that lookups of a vocabulary have in common.
template <class Table>
std::shared_ptr<Lookup> made_lookup(const Table& table, LookupOptions options) {
  options.max_tokens = table.max_tokens.value_or(0);
  options.mode = parse_mode(options.owner, table.output_mode, true);
  options.pad_to_max_tokens = table.pad_to_max_tokens;
  auto made = std::make_shared<Lookup>();
  made->vocabulary = std::make_shared<const Vocabulary>(std::move(options));
  if (!std::holds_alternative<std::monostate>(table.vocabulary)) {
    set_vocabulary_of(made, table.vocabulary, table.idf_weights);
  } else if (table.idf_weights) {
    throw ArgumentError("option 'idf_weights': they belong to the tokens of the option 'vocabulary'");
  }
  return made;
}

struct TextVectorizationTable {
  std::optional<std::int64_t> max_tokens;
  std::variant<std::string, bool> standardize = "lower_and_strip_punctuation", split = "whitespace";
  std::variant<std::monostate, std::int64_t, std::vector<std::int64_t>> ngrams;
  std::string output_mode = "int";
  std::optional<std::int64_t> output_sequence_length;
  bool pad_to_max_tokens = false;
  Words vocabulary;
  std::optional<std::vector<float>> idf_weights;
  static constexpr auto fields =
      std::tuple{field("max_tokens", &TextVectorizationTable::max_tokens),
                 field("standardize", &TextVectorizationTable::standardize),
                 field("split", &TextVectorizationTable::split),
                 field("ngrams", &TextVectorizationTable::ngrams),
                 field("output_mode", &TextVectorizationTable::output_mode),
                 field("output_sequence_length", &TextVectorizationTable::output_sequence_length),
                 field("pad_to_max_tokens", &TextVectorizationTable::pad_to_max_tokens),
                 field("vocabulary", &TextVectorizationTable::vocabulary),
                 field("idf_weights", &TextVectorizationTable::idf_weights)};
};

/// The name that an option has; empty for false.
std::string chosen(const std::variant<std::string, bool>& given, const char* option,
                   std::span<const std::string_view> names) {
  const auto* const flag = std::get_if<bool>(&given);
  if (flag != nullptr && !*flag) return {};
  const std::string name = flag != nullptr ? "true" : std::get<std::string>(given);
  if (std::ranges::find(names, name) != names.end()) return name;
  throw_unknown_name(fmt::format("TextVectorization: unknown {}", option), name, names, "; or false for none");
}

std::vector<std::int64_t> ngram_lengths(const TextVectorizationTable& table) {
  static constexpr std::int64_t longest = 1000;
  const auto check = [](std::int64_t length) {
    if (length >= 1 && length <= longest) return;
    throw ArgumentError(fmt::format("option 'ngrams': lengths from 1 to {} are expected, got {}", longest, length));
  };
  std::vector<std::int64_t> lengths;
  if (const auto* const most = std::get_if<std::int64_t>(&table.ngrams)) {
    check(*most);
    for (std::int64_t length = 1; length <= *most; ++length) lengths.push_back(length);
  }
  if (const auto* const list = std::get_if<2>(&table.ngrams)) lengths = *list;
  std::ranges::for_each(lengths, check);
  return lengths;
}

std::shared_ptr<Lookup> text_vectorization(const TextVectorizationTable& table) {
  constexpr std::array<std::string_view, 3> standards{"lower_and_strip_punctuation", "lower", "strip_punctuation"};
  constexpr std::array<std::string_view, 2> splits{"whitespace", "character"};
  const std::string standard = chosen(table.standardize, "standardize", standards);
  const std::string split = chosen(table.split, "split", splits);
  LookupOptions options{.owner = "TextVectorization", .mask_token = "", .oov_token = "[UNK]"};
  auto made = made_lookup(table, std::move(options));
  const LookupMode mode = made->vocabulary->options().mode;
  if (mode == LookupMode::one_hot) throw ArgumentError("option 'output_mode': 'one_hot' is for single tokens");
  if (table.output_sequence_length && (mode != LookupMode::index || *table.output_sequence_length < 1)) {
    throw ArgumentError(
        fmt::format("option 'output_sequence_length': at least 1, and with output_mode = 'int' alone, got {}",
                    *table.output_sequence_length));
  }
  made->sequence_length = table.output_sequence_length.value_or(0);
  made->text = TokenizerOptions{.lower = standard.starts_with("lower"),
                                .strip_punctuation = standard.ends_with("strip_punctuation"),
                                .split = split.empty()           ? TokenizerOptions::Split::none
                                         : split == "whitespace" ? TokenizerOptions::Split::whitespace
                                                                 : TokenizerOptions::Split::character,
                                .ngrams = ngram_lengths(table)};
  return made;
}

struct StringLookupTable {
  std::optional<std::int64_t> max_tokens;
  std::int64_t num_oov_indices = 1;
  std::optional<std::string> mask_token;
  std::string oov_token = "[UNK]";
  Words vocabulary;
  std::optional<std::vector<float>> idf_weights;
  bool invert = false;
  std::string output_mode = "int";
  bool pad_to_max_tokens = false;
  static constexpr auto fields = std::tuple{field("max_tokens", &StringLookupTable::max_tokens),
                                            field("num_oov_indices", &StringLookupTable::num_oov_indices),
                                            field("mask_token", &StringLookupTable::mask_token),
                                            field("oov_token", &StringLookupTable::oov_token),
                                            field("vocabulary", &StringLookupTable::vocabulary),
                                            field("idf_weights", &StringLookupTable::idf_weights),
                                            field("invert", &StringLookupTable::invert),
                                            field("output_mode", &StringLookupTable::output_mode),
                                            field("pad_to_max_tokens", &StringLookupTable::pad_to_max_tokens)};
};

std::shared_ptr<Lookup> inverted(std::shared_ptr<Lookup> made, bool invert) {
  if (invert && made->vocabulary->options().mode != LookupMode::index)
    throw ArgumentError("option 'invert': output_mode must be 'int'");
  made->invert = invert;
  return made;
}

std::shared_ptr<Lookup> string_lookup(const StringLookupTable& table) {
  LookupOptions options{.owner = "StringLookup",
                        .num_oov_indices = table.num_oov_indices,
                        .mask_token = table.mask_token,
                        .oov_token = table.oov_token};
  return inverted(made_lookup(table, std::move(options)), table.invert);
}

struct IntegerLookupTable {
  std::optional<std::int64_t> max_tokens;
  std::int64_t num_oov_indices = 1;
  std::optional<std::int64_t> mask_token;
  std::int64_t oov_token = -1;
  Words vocabulary;
  std::optional<std::vector<float>> idf_weights;
  bool invert = false;
  std::string output_mode = "int";
  bool pad_to_max_tokens = false;
  static constexpr auto fields = std::tuple{field("max_tokens", &IntegerLookupTable::max_tokens),
                                            field("num_oov_indices", &IntegerLookupTable::num_oov_indices),
                                            field("mask_token", &IntegerLookupTable::mask_token),
                                            field("oov_token", &IntegerLookupTable::oov_token),
                                            field("vocabulary", &IntegerLookupTable::vocabulary),
                                            field("idf_weights", &IntegerLookupTable::idf_weights),
                                            field("invert", &IntegerLookupTable::invert),
                                            field("output_mode", &IntegerLookupTable::output_mode),
                                            field("pad_to_max_tokens", &IntegerLookupTable::pad_to_max_tokens)};
};

std::shared_ptr<Lookup> integer_lookup(const IntegerLookupTable& table) {
  LookupOptions options{.owner = "IntegerLookup",
                        .numbers = true,
                        .num_oov_indices = table.num_oov_indices,
                        .oov_token = token_of_number(table.oov_token)};
  if (table.mask_token) options.mask_token = token_of_number(*table.mask_token);
  return inverted(made_lookup(table, std::move(options)), table.invert);
}

struct HashingTable {
  std::variant<std::monostate, std::int64_t, std::string> mask_value;
  std::string output_mode = "int";
  static constexpr auto fields =
      std::tuple{field("mask_value", &HashingTable::mask_value), field("output_mode", &HashingTable::output_mode)};
};

std::shared_ptr<Lookup> hashing(std::int64_t num_bins, const HashingTable& table) {
  if (num_bins < 1) throw ArgumentError(fmt::format("Hashing: num_bins must be at least 1, got {}", num_bins));
  LookupOptions options{.owner = "Hashing", .mode = parse_mode("Hashing", table.output_mode, false), .bins = num_bins};
  if (const auto* const number = std::get_if<std::int64_t>(&table.mask_value)) {
    options.mask_token = token_of_number(*number);
  } else if (const auto* const text = std::get_if<std::string>(&table.mask_value)) {
    options.mask_token = *text;
  }
  auto made = std::make_shared<Lookup>();
  made->vocabulary = std::make_shared<const Vocabulary>(std::move(options));
  return made;
}

}  // namespace

void open_lookups(lua_State* L) {
  Class<Lookup>(L)
      .property<&lookup_kind>("kind")
      .method<&adapt_lookup, 1>("adapt")
      .method<&set_vocabulary_of>("set_vocabulary")
      .method<&vocabulary_of>("get_vocabulary")
      .method<&vocabulary_size_of>("vocabulary_size")
      .call<&call_lookup, 1>()
      .meta<&lookup_text>("__tostring");
  const Module gb = Module::root(L);
  gb.submodule("layers")
      .function<&text_vectorization>("TextVectorization")
      .function<&string_lookup>("StringLookup")
      .function<&integer_lookup>("IntegerLookup")
      .function<&hashing>("Hashing");
}

}  // namespace gpubench::lua
