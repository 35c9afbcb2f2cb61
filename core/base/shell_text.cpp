#include "core/base/shell_text.h"

#include <cstdint>
#include <fmt/format.h>
#include <string_view>

#include "core/base/shown_text.h"

namespace gpubench {
namespace {

/// No shell gives these a meaning inside a word, and none at its start but '=' (zsh).
bool is_plain(std::string_view word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+%@";
  return !word.empty() && word.front() != '=' && word.find_first_not_of(plain) == std::string_view::npos;
}

/// What would not be seen in a command that somebody copies.
bool has_no_width(char32_t code) {
  return code == 0xAD || (code >= 0x200B && code <= 0x200D) || (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF;
}

std::string shell_word(std::string_view word) {
  if (is_plain(word)) return std::string(word);
  std::string text;
  bool open = false;
  // Inside quotes stands only what means itself there in every shell: fish has escapes in single quotes.
  const auto set_open = [&](bool wanted) {
    if (open != wanted) text += '\'';
    open = wanted;
  };
  while (!word.empty()) {
    const Utf8Character character = first_character(word);
    const std::size_t bytes = character.bytes == 0 ? 1 : character.bytes;
    const bool is_shown = character.bytes != 0 && !is_unsafe(character.code) && !has_no_width(character.code);
    const bool stands_alone = word.front() == '\'' || word.front() == '\\';
    set_open(is_shown && !stands_alone);
    if (!is_shown) {
      text += "$'";
      for (const char c : word.substr(0, bytes)) text += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(c));
      text += '\'';
    } else {
      if (stands_alone) text += '\\';
      text += word.substr(0, bytes);
    }
    word.remove_prefix(bytes);
  }
  set_open(false);
  return text.empty() ? "''" : text;
}

}  // namespace

std::string shell_text(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

}  // namespace gpubench
