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

/// The type in which elements of another are added: float32 for 16-bit types.
Dtype sum_dtype(Dtype dtype);
/// Between tensors of a type and of its sums.
void widen(Dtype dtype, const std::byte* from, std::byte* sums, std::size_t elements);
void narrow(Dtype dtype, const std::byte* sums, std::byte* to, std::size_t elements);

}  // namespace gpubench
