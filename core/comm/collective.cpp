#include "core/comm/collective.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/enum_names.h"
#include "core/base/error.h"
#include "core/base/split_mix.h"

namespace gpubench {
namespace {

constexpr EnumNames<CollectiveKind, 4> collective_kinds{"unknown collective",
                                                        {"all_reduce", "all_gather", "reduce_scatter", "broadcast"}};

constexpr std::array reducible{Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i64, Dtype::i32};

std::string_view to_string(Reduction reduction) {
  return reduction == Reduction::sum ? "sum" : "max";
}

bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter;
}

void check_types(const Collective& collective) {
  for (const TensorView& tensor : collective.tensors) {
    const Dtype dtype = tensor.type->dtype;
    size_of(dtype);  // throws for what has no fixed size
    if (!reduces(collective.kind) || std::ranges::find(reducible, dtype) != reducible.end()) continue;
    throw Error(fmt::format("{}: {} tensors cannot be reduced (possible: float32, float16, bfloat16, int64, int32)",
                            to_string(collective.kind), to_string(dtype)));
  }
}

/// all_gather and reduce_scatter: one tensor of a part and one of the whole.
void check_whole(const Collective& collective, int ranks) {
  const bool gather = collective.kind == CollectiveKind::all_gather;
  const auto& tensors = collective.tensors;
  if (tensors.size() != 2) {
    throw Error(fmt::format("{}: needs 2 tensors, {}, got {}", to_string(collective.kind),
                            gather ? "a part and the whole" : "the whole and a part", tensors.size()));
  }
  const TensorType &part = *tensors[gather ? 0 : 1].type, &whole = *tensors[gather ? 1 : 0].type;
  if (part.dtype == whole.dtype && whole.elements() == ranks * part.elements()) return;
  throw Error(fmt::format("{}: with {} ranks the whole is {} parts; got the part {} and the whole {}",
                          to_string(collective.kind), ranks, ranks, to_string(part), to_string(whole)));
}

class Hash {
 public:
  void add(std::uint64_t value) { state_ = split_mix(state_ ^ split_mix(value + split_mix_step)); }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

std::string request(const Collective& collective) {
  std::string text(to_string(collective.kind));
  if (reduces(collective.kind)) text += fmt::format(" ({})", to_string(collective.reduction));
  if (collective.kind == CollectiveKind::broadcast) text += fmt::format(" from rank {}", collective.root);
  return text;
}

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

void check_collective(const Collective& collective, int ranks) {
  check_types(collective);
  if (collective.kind == CollectiveKind::broadcast && (collective.root < 0 || collective.root >= ranks)) {
    throw Error(fmt::format("broadcast: there is no rank {} to send (ranks: 0 to {})", collective.root, ranks - 1));
  }
  if (collective.kind == CollectiveKind::all_gather || collective.kind == CollectiveKind::reduce_scatter) {
    check_whole(collective, ranks);
  }
}

std::uint64_t signature(const Collective& collective) {
  Hash hash;
  hash.add(static_cast<std::uint64_t>(collective.kind));
  hash.add(static_cast<std::uint64_t>(collective.reduction));
  hash.add(static_cast<std::uint64_t>(collective.root));
  for (const TensorView& tensor : collective.tensors) {
    hash.add(static_cast<std::uint64_t>(tensor.type->dtype));
    hash.add(tensor.type->shape.size());
    for (const std::int64_t extent : tensor.type->shape) hash.add(static_cast<std::uint64_t>(extent));
  }
  return hash.value();
}

std::string difference(int rank, const Collective& mine, int other_rank, const Collective& others) {
  const std::string first = request(mine), second = request(others);
  if (first != second) return fmt::format("rank {} asks for {}, rank {} for {}", rank, first, other_rank, second);
  const std::size_t count = mine.tensors.size(), other_count = others.tensors.size();
  for (std::size_t i = 0; i < std::min(count, other_count); ++i) {
    const TensorType &type = *mine.tensors[i].type, &other = *others.tensors[i].type;
    if (type == other) continue;
    return fmt::format("rank {} has {}, rank {} {} (tensor {} of {})", rank, to_string(type), other_rank,
                       to_string(other), i + 1, count);
  }
  return fmt::format("rank {} has {} tensors, rank {} {}", rank, count, other_rank, other_count);
}

}  // namespace gpubench
