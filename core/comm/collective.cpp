#include "core/comm/collective.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr std::array<std::string_view, 4> names{"all_reduce", "all_gather", "reduce_scatter", "broadcast"};

}  // namespace

std::string_view to_string(CollectiveKind kind) {
  return names[static_cast<std::size_t>(kind)];
}

CollectiveKind parse_collective_kind(std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    throw Error(fmt::format("unknown collective '{}' (known: {})", name, fmt::join(names, ", ")));
  }
  return static_cast<CollectiveKind>(found - names.begin());
}

std::size_t Collective::bytes() const {
  if (kind == CollectiveKind::all_gather) return tensors[1].type->bytes();
  if (kind == CollectiveKind::reduce_scatter) return tensors[0].type->bytes();
  std::size_t sum = 0;
  for (const TensorView& tensor : tensors) sum += tensor.type->bytes();
  return sum;
}

}  // namespace gpubench
