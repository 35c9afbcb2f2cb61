#include "tests/support/cuda_on_cpu/nccl_reduce.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/math/half.h"
#include "tests/support/cuda_on_cpu/access.h"
#include "tests/support/cuda_on_cpu/block.h"
#include "tests/support/cuda_on_cpu/gpu_memory.h"
#include "tests/support/cuda_on_cpu/written.h"

namespace gpubench::cuda_on_cpu {
namespace {

std::size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt64:
      return 8;
    default:
      return 4;
  }
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

/// Elements as Wide, in which they are added up.
template <class T, class Wide>
struct Plain {
  using Sum = Wide;
  static Wide get(const std::byte* from) { return static_cast<Wide>(load<T>(from)); }
  static void put(std::byte* to, Wide value) { store(to, static_cast<T>(value)); }
};
struct Half {
  using Sum = double;
  static double get(const std::byte* from) { return math::to_float(load<math::Float16>(from)); }
  static void put(std::byte* to, double value) { store(to, math::to_float16(static_cast<float>(value))); }
};
struct Brain {
  using Sum = double;
  static double get(const std::byte* from) { return math::to_float(load<math::Bfloat16>(from)); }
  static void put(std::byte* to, double value) { store(to, math::to_bfloat16(static_cast<float>(value))); }
};

/// `bytes` of all ranks' elements, from `offset` on, as one.
template <class Element>
std::vector<std::byte> reduced(std::span<const NcclPart> parts, std::size_t offset, std::size_t bytes,
                               std::size_t size) {
  std::vector<std::byte> result(bytes);
  for (std::size_t at = 0; at < bytes; at += size) {
    typename Element::Sum sum = Element::get(parts[0].from + offset + at);
    for (const NcclPart& part : parts.subspan(1)) {
      const auto value = Element::get(part.from + offset + at);
      sum = part.reduction == ncclSum ? sum + value : std::max(sum, value);
    }
    Element::put(result.data() + at, sum);
  }
  return result;
}

std::vector<std::byte> reduce(std::span<const NcclPart> parts, std::size_t offset, std::size_t bytes) {
  switch (parts[0].type) {
    case ncclInt8:
      return reduced<Plain<std::int8_t, std::int64_t>>(parts, offset, bytes, 1);
    case ncclUint8:
      return reduced<Plain<std::uint8_t, std::int64_t>>(parts, offset, bytes, 1);
    case ncclInt32:
      return reduced<Plain<std::int32_t, std::int64_t>>(parts, offset, bytes, 4);
    case ncclInt64:
      return reduced<Plain<std::int64_t, std::int64_t>>(parts, offset, bytes, 8);
    case ncclFloat16:
      return reduced<Half>(parts, offset, bytes, 2);
    case ncclBfloat16:
      return reduced<Brain>(parts, offset, bytes, 2);
    default:
      return reduced<Plain<float, double>>(parts, offset, bytes, 4);
  }
}

void put(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (checks().initialized) note_written(to, bytes);
  std::memcpy(to, from, bytes);
}

void hand_out(std::span<const NcclPart> parts, const std::vector<std::byte>& bytes) {
  for (const NcclPart& part : parts) {
    if (part.to != nullptr) put(part.to, bytes.data(), bytes.size());
  }
}

}  // namespace

std::size_t bytes_in(const NcclPart& part, std::size_t ranks) {
  return part.count * size_of(part.type) * (part.kind == NcclKind::reduce_scatter ? ranks : 1);
}

bool is_one_collective(std::span<const NcclPart> parts) {
  return std::ranges::all_of(parts, [&](const NcclPart& part) {
    return part.kind == parts[0].kind && part.count == parts[0].count && part.type == parts[0].type &&
           part.reduction == parts[0].reduction && part.root == parts[0].root;
  });
}

void exchange(std::span<const NcclPart> parts) {
  const std::size_t bytes = parts[0].count * size_of(parts[0].type);
  for (std::size_t rank = 0; checks().initialized && rank < parts.size(); ++rank) {
    const bool is_read = parts[0].kind != NcclKind::broadcast || rank == static_cast<std::size_t>(parts[0].root);
    const std::byte* const first =
        is_read ? first_unwritten(parts[rank].from, bytes_in(parts[rank], parts.size())) : nullptr;
    if (first != nullptr) fail_work("NCCL reads " + unwritten_memory(first));
  }
  switch (parts[0].kind) {
    case NcclKind::all_reduce:
      return hand_out(parts, reduce(parts, 0, bytes));
    case NcclKind::broadcast: {
      const std::byte* const from = parts[static_cast<std::size_t>(parts[0].root)].from;
      return hand_out(parts, std::vector<std::byte>(from, from + bytes));
    }
    case NcclKind::all_gather: {
      std::vector<std::byte> whole;
      for (const NcclPart& part : parts) whole.insert(whole.end(), part.from, part.from + bytes);
      return hand_out(parts, whole);
    }
    case NcclKind::reduce_scatter: {
      const std::vector<std::byte> whole = reduce(parts, 0, bytes * parts.size());
      for (std::size_t rank = 0; rank < parts.size(); ++rank) {
        if (parts[rank].to != nullptr) put(parts[rank].to, whole.data() + rank * bytes, bytes);
      }
    }
  }
}

}  // namespace gpubench::cuda_on_cpu
