// Texts to tokens, as Keras' TextVectorization divides them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpubench::lua {

struct TokenizerOptions {
  bool lower = true, strip_punctuation = true;
  enum class Split : std::uint8_t { none, whitespace, character } split = Split::whitespace;
  std::vector<std::int64_t> ngrams{};  ///< lengths of runs of tokens, joined by spaces; empty: single tokens
};

/// Only ASCII letters have a lower case here, as in TensorFlow. Bytes that are no UTF-8 become U+FFFD characters.
std::vector<std::string> tokens_of_text(std::string_view text, const TokenizerOptions& options);

}  // namespace gpubench::lua
