// Decoding of UTF-8 that may be invalid.
#pragma once
#include <cstddef>
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

}  // namespace gpubench
