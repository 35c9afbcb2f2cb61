#include "core/tensor/device_id.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fmt/format.h>
#include <vector>

#include "core/base/error.h"

namespace gpubench {
namespace {

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

std::string to_string(const DeviceId& id) {
  switch (id.kind) {
    case DeviceId::Kind::cpu:
      return fmt::format("cpu:{}", id.index);
    case DeviceId::Kind::gpu:
      return fmt::format("gpu:{}", id.index);
    case DeviceId::Kind::emulated:
      return fmt::format("emulated:{}:{}", id.model, id.index);
  }
  return {};
}

DeviceId parse_device_id(std::string_view name) {
  std::string text(name);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  if (text.starts_with('/')) text.erase(0, 1);
  if (text.starts_with("device:")) text.erase(0, 7);

  const std::vector<std::string> parts = split(text, ':');
  DeviceId id;
  const bool plain = parts[0] == "cpu" || parts[0] == "gpu";
  if (plain && parts.size() <= 2) {
    id.kind = parts[0] == "cpu" ? DeviceId::Kind::cpu : DeviceId::Kind::gpu;
    if (parts.size() == 1 || parse_index(parts[1], id.index)) return id;
  }
  if (parts[0] == "emulated" && (parts.size() == 2 || parts.size() == 3) && !parts[1].empty()) {
    id.kind = DeviceId::Kind::emulated;
    id.model = parts[1];
    if (parts.size() == 2 || parse_index(parts[2], id.index)) return id;
  }
  throw Error(fmt::format("'{}' names no device; write cpu:0, gpu:1, /GPU:0 or emulated:h200:0", name));
}

}  // namespace gpubench
