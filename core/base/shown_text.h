// Makes text from outside, which may be invalid UTF-8, safe for messages and terminals. Nothing that a terminal would
// execute, and nothing that reorders a line, is shown as it is.
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

/// Control characters, line separators, and marks of the direction of writing, which would let a text rearrange the
/// line around it.
constexpr bool is_unsafe(char32_t code) {
  return is_control(code) || code == 0x61C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

/// For a text in a message: escapes unsafe characters and invalid UTF-8, as in "a\n\x00". Longer text is cut to `most`
/// bytes and its length added: "aaa... (100000 bytes)".
std::string shown_text(std::string_view text, std::size_t most = 80);

/// For a whole message, which may have text of others in it: escaped in the same way but for line breaks and tabs.
/// Lines behind the first begin with a blank, so that none looks like a message of its own. A long message loses its
/// middle.
std::string shown_message(std::string_view message);

/// For text that keeps its lines, such as a table of CSV on a terminal: escapes all but line ends and tabs.
std::string shown_lines(std::string_view text);

/// The same JSON, with unsafe characters beyond ASCII as "\u009b". They can stand in strings only.
std::string shown_json(std::string json);

}  // namespace gpubench
