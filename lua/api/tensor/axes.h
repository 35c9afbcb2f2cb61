// Axes in scripts: one, a list, or nil for all.
#pragma once
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace gpubench::lua {

using Axes = std::optional<std::variant<std::int64_t, std::vector<std::int64_t>>>;

inline std::vector<std::int64_t> axes_of(const Axes& axes) {
  if (!axes) return {};
  if (const auto* one = std::get_if<std::int64_t>(&*axes)) return {*one};
  return std::get<std::vector<std::int64_t>>(*axes);
}

}  // namespace gpubench::lua
