// gb.layers.TextVectorization, StringLookup, IntegerLookup and Hashing: their options.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "lua/api/data/lookup.h"
#include "lua/api/data/lookup_values.h"
#include "lua/api/openers.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

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
    set_vocabulary(made, table.vocabulary, table.idf_weights);
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
  LookupWords vocabulary;
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
std::string chosen_name(const std::variant<std::string, bool>& given, const char* option,
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
  const std::string standard = chosen_name(table.standardize, "standardize", standards);
  const std::string split = chosen_name(table.split, "split", splits);
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
  LookupWords vocabulary;
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
  LookupWords vocabulary;
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

void open_lookup_layers(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("layers")
      .function<&text_vectorization>("TextVectorization")
      .function<&string_lookup>("StringLookup")
      .function<&integer_lookup>("IntegerLookup")
      .function<&hashing>("Hashing");
}

}  // namespace gpubench::lua
