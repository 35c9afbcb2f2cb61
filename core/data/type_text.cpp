#include "core/data/type_text.h"

#include <charconv>
#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

[[noreturn]] void refuse(std::string_view text, std::string_view what) {
  throw Error(fmt::format("{}: '{}' is no type; types are written as \"float32[28, 28]\", \"uint8[?]\" or \"int64\"",
                          what, text));
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::int64_t parse_extent(std::string_view text, std::string_view all, std::string_view what) {
  if (text == "?") return varying;
  std::int64_t extent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
  if (error != std::errc() || end != text.data() + text.size() || extent < 0) refuse(all, what);
  return extent;
}

}  // namespace

TensorType parse_type(std::string_view text, std::string_view what) {
  const std::size_t bracket = text.find('[');
  TensorType type{{}, parse_dtype(trimmed(text.substr(0, bracket)))};
  if (bracket == std::string_view::npos) return type;
  if (!text.ends_with(']')) refuse(text, what);
  std::string_view extents = trimmed(text.substr(bracket + 1, text.size() - bracket - 2));
  while (!extents.empty()) {
    const std::size_t comma = extents.find(',');
    type.shape.push_back(parse_extent(trimmed(extents.substr(0, comma)), text, what));
    if (comma == std::string_view::npos) break;
    extents = trimmed(extents.substr(comma + 1));
    if (extents.empty()) refuse(text, what);
  }
  return type;
}

}  // namespace gpubench
