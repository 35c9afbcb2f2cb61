#include "core/comm/local/local_algorithm.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr std::array<std::string_view, 5> algorithm_names{"direct", "tree", "parts", "ring", "reduction_to_one"};

}  // namespace

std::string_view to_string(LocalAlgorithm algorithm) {
  return algorithm_names[static_cast<std::size_t>(algorithm)];
}

LocalAlgorithm parse_local_algorithm(std::string_view name) {
  const auto known = std::span(algorithm_names).first(algorithm_names.size() - 1);
  const auto found = std::ranges::find(known, name);
  if (found == known.end()) {
    throw Error(fmt::format("unknown algorithm '{}' (known: {})", name, fmt::join(known, ", ")));
  }
  return static_cast<LocalAlgorithm>(found - known.begin());
}

}  // namespace gpubench
