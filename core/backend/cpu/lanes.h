// Vectors as wide as the processor's registers by the compiler's own extension: one source for all processors. For the
// few loops that compilers do not turn into vector code by themselves.
#pragma once
#include <cstdint>

namespace gpubench::cpu {

// A vector wider than a register cannot be passed in one, and is computed through memory.
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

/// Floats that need not be aligned in memory. Not for what a template deduces: it forgets the alignment, and code that
/// relies on the type's own then reads values that lie anywhere on the stack.
using Lanes [[gnu::vector_size(vector_bytes), gnu::aligned(4), gnu::may_alias]] = float;
/// The same as values: in registers and as arguments of templates.
using LaneValues [[gnu::vector_size(vector_bytes)]] = float;
using IntegerLanes [[gnu::vector_size(vector_bytes)]] = std::int32_t;

}  // namespace gpubench::cpu
