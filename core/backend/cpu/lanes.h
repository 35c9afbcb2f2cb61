// Vectors of sixteen elements by the compiler's own extension: whatever the processor's registers hold, one source. For
// the few loops that compilers do not turn into vector code by themselves.
#pragma once
#include <cstdint>

namespace gpubench::cpu {

inline constexpr std::int64_t lane_count = 16;

/// Floats that need not be aligned in memory. Not for what a template deduces: it forgets the alignment, and code that
/// relies on the type's own then reads values that lie anywhere on the stack.
using Lanes [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = float;
/// The same as values: in registers and as arguments of templates.
using LaneValues [[gnu::vector_size(64)]] = float;
using IntegerLanes [[gnu::vector_size(64)]] = std::int32_t;

}  // namespace gpubench::cpu
