// Vectors as wide as the processor's registers, through the compiler's vector extension: one source for all processors.
// For the few loops that compilers do not vectorize.
#pragma once
#include <cstdint>
#include <utility>

namespace gpubench::cpu {

// A vector type wider than the registers would be computed through memory.
#if defined(__AVX512F__)
inline constexpr std::int64_t vector_bytes = 64;
inline constexpr std::int64_t vector_registers = 32;
#elif defined(__AVX__)
inline constexpr std::int64_t vector_bytes = 32;
inline constexpr std::int64_t vector_registers = 16;
#elif defined(__aarch64__)
inline constexpr std::int64_t vector_bytes = 16;
inline constexpr std::int64_t vector_registers = 32;
#else
inline constexpr std::int64_t vector_bytes = 16;
inline constexpr std::int64_t vector_registers = 16;
#endif

inline constexpr std::int64_t lane_count = vector_bytes / static_cast<std::int64_t>(sizeof(float));

/// Floats that may lie unaligned in memory. Do not use this as a deduced template argument: deduction drops the
/// alignment attribute, and the generated code then assumes full alignment.
using Lanes [[gnu::vector_size(vector_bytes), gnu::aligned(4), gnu::may_alias]] = float;
/// The same vector as an aligned value: in registers and as a template argument.
using LaneValues [[gnu::vector_size(vector_bytes)]] = float;
using IntegerLanes [[gnu::vector_size(vector_bytes)]] = std::int32_t;

/// Splits `count` items into groups of nearly equal size N <= Most and calls body.template operator()<N>(first) for
/// each.
template <std::int64_t Most, class Body>
void in_groups(std::int64_t count, const Body& body) {
  const std::int64_t groups = (count + Most - 1) / Most;
  const auto call = [&]<std::int64_t... N>(std::int64_t size, std::int64_t first,
                                           std::integer_sequence<std::int64_t, N...>) {
    ((size == N + 1 ? body.template operator()<N + 1>(first) : void()), ...);
  };
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::int64_t first = count * group / groups, last = count * (group + 1) / groups;
    call(last - first, first, std::make_integer_sequence<std::int64_t, Most>{});
  }
}

}  // namespace gpubench::cpu
