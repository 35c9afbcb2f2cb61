// The arithmetic of reductions: element-wise over the tensors of several ranks, always in the order of ranks, so that
// the result does not depend on the rank that computes it. 16-bit types are added in float32 and rounded once.
#pragma once
#include <cstddef>
#include <span>

#include "core/comm/collective.h"

namespace gpubench {

/// Writes the reduction of `sources` to each of `destinations`, which may be among the sources. Types must have passed
/// check_collective.
void reduce(Dtype dtype, Reduction reduction, std::span<const std::byte* const> sources,
            std::span<std::byte* const> destinations, std::size_t elements);

/// The type in which sums are computed: float32 for 16-bit types.
Dtype sum_dtype(Dtype dtype);
/// Converts elements of a type to the type of its sums, and back.
void widen(Dtype dtype, const std::byte* from, std::byte* sums, std::size_t elements);
void narrow(Dtype dtype, const std::byte* sums, std::byte* to, std::size_t elements);

}  // namespace gpubench
