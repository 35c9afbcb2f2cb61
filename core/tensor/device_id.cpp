#include "core/tensor/device_id.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fmt/format.h>
#include <vector>

#include "core/base/error.h"

namespace gpubench {
namespace {

struct KindRow {
  std::string_view name, noun;
  bool has_model;  ///< whether its ids name the simulated accelerator
};

/// In the order of DeviceId::Kind.
constexpr std::array kind_rows = {
    KindRow{"cpu", "CPU device", false},
    KindRow{"gpu", "GPU", false},
    KindRow{"emulated", "emulated device", true},
};

const KindRow& row_of(DeviceId::Kind kind) {
  return kind_rows[static_cast<std::size_t>(kind)];
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool parse_index(const std::string& text, std::int16_t& index) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  return error == std::errc{} && end == text.data() + text.size() && index >= 0;
}

}  // namespace

std::string_view to_string(DeviceId::Kind kind) {
  return row_of(kind).name;
}

std::string_view noun(DeviceId::Kind kind) {
  return row_of(kind).noun;
}

std::string to_string(const DeviceId& id) {
  const KindRow& row = row_of(id.kind);
  return row.has_model ? fmt::format("{}:{}:{}", row.name, id.model, id.index)
                       : fmt::format("{}:{}", row.name, id.index);
}

DeviceId parse_device_id(std::string_view name) {
  std::string text(name);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  if (text.starts_with('/')) text.erase(0, 1);
  if (text.starts_with("device:")) text.erase(0, 7);

  const std::vector<std::string> parts = split(text, ':');
  const auto row = std::ranges::find(kind_rows, parts[0], &KindRow::name);
  if (row != kind_rows.end()) {
    DeviceId id{static_cast<DeviceId::Kind>(row - kind_rows.begin()), 0, {}};
    const std::size_t index_at = row->has_model ? 2 : 1;
    if (row->has_model && parts.size() > 1) id.model = parts[1];
    const bool has_its_model = id.model.empty() != row->has_model;
    if (has_its_model && parts.size() == index_at) return id;
    if (has_its_model && parts.size() == index_at + 1 && parse_index(parts[index_at], id.index)) return id;
  }
  throw Error(fmt::format("'{}' names no device; write cpu:0, gpu:1, /GPU:0 or emulated:h200:0", name));
}

}  // namespace gpubench
