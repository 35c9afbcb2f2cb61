// Makes text from outside, which may be invalid UTF-8, safe for messages: one line, without control characters for the
// terminal.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace gpubench {

struct Utf8Character {
  char32_t code = 0;
  std::size_t bytes = 0;  ///< 0 if the text begins with no valid character; overlong forms and surrogates are invalid
};

/// The character at the start of `text`, which is not empty.
Utf8Character first_character(std::string_view text);
/// C0 and C1 control characters, which a terminal would execute.
constexpr bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

/// Escapes control characters and invalid UTF-8, as in "a\n\x00". Longer text is cut to `most` bytes and its length
/// added: "aaa... (100000 bytes)".
std::string shown_text(std::string_view text, std::size_t most = 80);

}  // namespace gpubench
