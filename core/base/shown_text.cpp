#include "core/base/shown_text.h"

#include <fmt/format.h>

namespace gpubench {
namespace {

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

/// Bytes of the character at the start of `text`; 0 where there is none that can be shown.
std::size_t shown_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
  const std::size_t size = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  if (first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0) return 0;  // more control characters
  for (const char c : text.substr(1, size - 1)) {
    if (!is_continuation(c)) return 0;
  }
  return size;
}

std::string escaped(char c) {
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  return fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
}

}  // namespace

std::string shown_text(std::string_view text, std::size_t most) {
  const std::size_t size = text.size();
  std::string shown;
  while (!text.empty() && size - text.size() < most) {
    const std::size_t character = shown_character(text);
    if (character == 0) {
      shown += escaped(text.front());
    } else {
      shown += text.substr(0, character);
    }
    text.remove_prefix(character == 0 ? 1 : character);
  }
  return text.empty() ? shown : fmt::format("{}... ({} bytes)", shown, size);
}

}  // namespace gpubench
