// The arithmetic of reductions: tensors of several ranks, element by element, always in the order of ranks, so that it
// does not matter who computes it. 16-bit types are added in float32 and rounded once.
#pragma once
#include <cstddef>
#include <span>

#include "core/comm/collective.h"

namespace gpubench {

/// Writes the reduction of `sources` to each of `destinations`, which may be among the sources. Elements of types that
/// check_collective lets pass.
void reduce(Dtype dtype, Reduction reduction, std::span<const std::byte* const> sources,
            std::span<std::byte* const> destinations, std::size_t elements);

}  // namespace gpubench
