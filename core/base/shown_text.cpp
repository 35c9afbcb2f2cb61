#include "core/base/shown_text.h"

#include <fmt/format.h>

#include "core/base/utf8.h"

namespace gpubench {
namespace {

/// Bytes of the character at the start of `text`; 0 where there is none that can be shown.
std::size_t shown_character(std::string_view text) {
  const Utf8Character character = first_character(text);
  return is_control(character.code) ? 0 : character.bytes;
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
