// Colours of a terminal: the parameter of an escape sequence each.
#pragma once
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace gpubench {

inline constexpr std::string_view bold = "1", red = "31", green = "32", yellow = "33";

inline std::string in_color(std::string_view text, std::string_view color, bool has_color) {
  return has_color && !text.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", color, text) : std::string(text);
}

}  // namespace gpubench
