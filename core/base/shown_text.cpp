#include "core/base/shown_text.h"

#include <array>
#include <cstdint>
#include <fmt/format.h>

namespace gpubench {

Utf8Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xC2 && first < 0xE0   ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  if (length == 0 || length > text.size()) return {};
  constexpr std::array<std::uint8_t, 5> first_bits = {0, 0, 0x1F, 0x0F, 0x07};
  constexpr std::array<char32_t, 5> least_value = {0, 0, 0x80, 0x800, 0x10000};
  char32_t code = first & first_bits[length];
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  const bool valid = code >= least_value[length] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  return valid ? Utf8Character{code, length} : Utf8Character{};
}

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
