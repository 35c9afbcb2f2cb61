#include "core/base/shown_text.h"

#include <algorithm>
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
  return is_unsafe(character.code) ? 0 : character.bytes;
}

std::string escaped(char c) {
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  return fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
}

/// Moves the first character of `text` to `shown`: escaped, unless it can be shown or is one of `kept`.
void show_character(std::string_view& text, std::string& shown, std::string_view kept) {
  const std::size_t bytes = kept.find(text.front()) == std::string_view::npos ? shown_character(text) : 1;
  if (bytes == 0) {
    shown += escaped(text.front());
  } else {
    shown += text.substr(0, bytes);
  }
  text.remove_prefix(bytes == 0 ? 1 : bytes);
}

}  // namespace

std::string shown_text(std::string_view text, std::size_t most) {
  const std::size_t size = text.size();
  std::string shown;
  while (!text.empty() && size - text.size() < most) show_character(text, shown, "");
  return text.empty() ? shown : fmt::format("{}... ({} bytes)", shown, size);
}

std::string shown_message(std::string_view message) {
  // What a message says at its end, such as what is possible, is kept too.
  constexpr std::size_t longest = 8192, end = 2048;
  std::string shown;
  const auto show = [&](std::string_view text) {
    while (!text.empty()) {
      const bool breaks = text.front() == '\n';
      show_character(text, shown, "\n\t");
      if (breaks && !text.empty() && text.front() != ' ' && text.front() != '\t') shown += "  ";
    }
  };
  if (message.size() <= longest) {
    show(message);
    return shown;
  }
  show(message.substr(0, longest - end));
  shown += fmt::format("... ({} bytes left out) ...", message.size() - longest);
  show(message.substr(message.size() - end));
  return shown;
}

std::string shown_lines(std::string_view text) {
  std::string shown;
  while (!text.empty()) show_character(text, shown, "\r\n\t");
  return shown;
}

std::string shown_json(std::string json) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x7F; };
  if (std::ranges::all_of(json, is_ascii)) return json;
  std::string shown;
  for (std::string_view rest = json; !rest.empty();) {
    const Utf8Character character = first_character(rest);
    const bool unsafe = !is_ascii(rest.front()) && character.bytes > 0 && is_unsafe(character.code);
    const std::size_t bytes = std::max<std::size_t>(character.bytes, 1);
    if (unsafe) {
      shown += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(character.code));
    } else {
      shown += rest.substr(0, bytes);
    }
    rest.remove_prefix(bytes);
  }
  return shown;
}

}  // namespace gpubench
