#include "core/data/types.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace gpubench {
namespace {

bool varies(const TensorType& type) {
  return std::any_of(type.shape.begin(), type.shape.end(), [](std::int64_t extent) { return extent == varying; });
}

std::string extents(const Shape& shape) {
  std::string text;
  for (const std::int64_t extent : shape) {
    text += text.empty() ? "" : ", ";
    text += extent == varying ? "?" : std::to_string(extent);
  }
  return text;
}

[[noreturn]] void refuse_type(std::string_view text, std::string_view what) {
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
  if (error != std::errc() || end != text.data() + text.size() || extent < 0) refuse_type(all, what);
  return extent;
}

}  // namespace

bool is_fixed(TensorTypes types) {
  return std::none_of(types.begin(), types.end(), varies);
}

std::size_t element_bytes(TensorTypes types) {
  std::size_t bytes = 0;
  for (const TensorType& type : types) bytes += type.bytes();
  return bytes;
}

std::optional<std::vector<TensorType>> common_types(TensorTypes a, TensorTypes b) {
  if (a.size() != b.size()) return std::nullopt;
  std::vector<TensorType> common(a.begin(), a.end());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].dtype != b[i].dtype || a[i].rank() != b[i].rank()) return std::nullopt;
    for (std::size_t axis = 0; axis < a[i].shape.size(); ++axis) {
      if (a[i].shape[axis] != b[i].shape[axis]) common[i].shape[axis] = varying;
    }
  }
  return common;
}

std::vector<TensorType> stacked(TensorTypes types, std::int64_t count) {
  std::vector<TensorType> batch(types.begin(), types.end());
  for (TensorType& type : batch) type.shape.insert(type.shape.begin(), count);
  return batch;
}

Error unequal_shapes(const TensorType& type, const TensorType& expected) {
  return Error(
      fmt::format("batch: an element has {} where the ones before have {}; elements that are stacked need equal shapes",
                  to_string(type), to_string(expected)));
}

std::string to_text(const TensorType& type) {
  return fmt::format("{}[{}]", to_string(type.dtype), extents(type.shape));
}

std::string to_string(TensorTypes types) {
  std::string text;
  for (const TensorType& type : types) {
    text += text.empty() ? "" : ", ";
    text += to_text(type);
  }
  return "(" + text + ")";
}

TensorType parse_type(std::string_view text, std::string_view what) {
  const std::size_t bracket = text.find('[');
  TensorType type{{}, parse_dtype(trimmed(text.substr(0, bracket)))};
  if (bracket == std::string_view::npos) return type;
  if (!text.ends_with(']')) refuse_type(text, what);
  std::string_view extents = trimmed(text.substr(bracket + 1, text.size() - bracket - 2));
  while (!extents.empty()) {
    const std::size_t comma = extents.find(',');
    type.shape.push_back(parse_extent(trimmed(extents.substr(0, comma)), text, what));
    if (comma == std::string_view::npos) break;
    extents = trimmed(extents.substr(comma + 1));
    if (extents.empty()) refuse_type(text, what);
  }
  TensorType least = type;
  std::ranges::replace(least.shape, varying, 1);
  check_size(least, what);
  return type;
}

}  // namespace gpubench
