#include "core/comm/collective.h"

#include "core/base/enum_names.h"

namespace gpubench {
namespace {

constexpr EnumNames<CollectiveKind, 4> collective_kinds{"unknown collective",
                                                        {"all_reduce", "all_gather", "reduce_scatter", "broadcast"}};

}  // namespace

std::string_view to_string(CollectiveKind kind) {
  return collective_kinds[kind];
}

CollectiveKind parse_collective_kind(std::string_view name) {
  return collective_kinds.parse(name);
}

std::size_t Collective::bytes() const {
  if (kind == CollectiveKind::all_gather) return tensors[1].type->bytes();
  if (kind == CollectiveKind::reduce_scatter) return tensors[0].type->bytes();
  std::size_t sum = 0;
  for (const TensorView& tensor : tensors) sum += tensor.type->bytes();
  return sum;
}

}  // namespace gpubench
