// Makes text from outside safe for messages: one line, without control characters for the terminal.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace gpubench {

/// Escapes control characters and invalid UTF-8, as in "a
/// \x00". Longer text is cut to `most` bytes and its length added: "aaa... (100000 bytes)".
std::string shown_text(std::string_view text, std::size_t most = 80);

}  // namespace gpubench
