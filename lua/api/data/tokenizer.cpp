#include "lua/api/data/tokenizer.h"

#include <algorithm>

namespace gpubench::lua {
namespace {

constexpr std::string_view punctuation = "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~'", whitespace = " \t\n\v\f\r";

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = text.find_first_not_of(whitespace); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(whitespace, at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = text.find_first_not_of(whitespace, end);
  }
  return words;
}

/// Bytes of the character that begins with this one; 0: none begins so.
std::size_t size_of_character(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> characters;
  while (!text.empty()) {
    const std::size_t size = size_of_character(static_cast<unsigned char>(text[0]));
    bool whole = size > 0 && size <= text.size();
    for (std::size_t i = 1; whole && i < size; ++i) whole = (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
    characters.emplace_back(whole ? text.substr(0, size) : std::string_view("\xef\xbf\xbd"));
    text.remove_prefix(whole ? size : 1);
  }
  return characters;
}

std::vector<std::string> ngrams_of(const std::vector<std::string>& tokens, const std::vector<std::int64_t>& lengths) {
  std::vector<std::string> runs;
  for (const std::int64_t length : lengths) {
    for (std::int64_t first = 0; first + length <= std::ssize(tokens); ++first) {
      std::string run = tokens[static_cast<std::size_t>(first)];
      for (std::int64_t i = 1; i < length; ++i) run += " " + tokens[static_cast<std::size_t>(first + i)];
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

}  // namespace

std::vector<std::string> tokens_of_text(std::string_view text, const TokenizerOptions& options) {
  std::string plain;
  plain.reserve(text.size());
  for (const char letter : text) {
    if (options.strip_punctuation && punctuation.find(letter) != std::string_view::npos) continue;
    plain += options.lower && letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  std::vector<std::string> tokens{plain};
  if (options.split == TokenizerOptions::Split::whitespace) tokens = words_of(plain);
  if (options.split == TokenizerOptions::Split::character) tokens = characters_of(plain);
  return options.ngrams.empty() ? tokens : ngrams_of(tokens, options.ngrams);
}

}  // namespace gpubench::lua
