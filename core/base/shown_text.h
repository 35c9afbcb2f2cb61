// Text that came from outside, which may be invalid UTF-8, and how a message shows it: on one line, without what a
// terminal would act on.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace gpubench {

struct Utf8Character {
  char32_t code = 0;
  std::size_t bytes = 0;  ///< 0 where the text begins with no valid character: overlong forms and surrogates are none
};

/// The character at the start of `text`, which is not empty.
Utf8Character first_character(std::string_view text);
/// C0 and C1 control characters, which a terminal would act on.
constexpr bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

/// Control characters and bytes that are no UTF-8 are escaped, as in "a\n\x00". Of longer text the first `most` bytes
/// and how many there are: "aaa... (100000 bytes)".
std::string shown_text(std::string_view text, std::size_t most = 80);

}  // namespace gpubench
