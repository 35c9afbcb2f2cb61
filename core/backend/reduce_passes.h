// Splits a reduction into passes over [before, extent, after], each of which reduces the middle dimension. There is one
// pass, unless kept dimensions lie between the reduced axes.
#pragma once
#include <cstdint>
#include <vector>

#include "core/tensor/tensor_type.h"

namespace gpubench {

struct ReducePass {
  std::int64_t before, extent, after;
};

/// The passes in execution order, starting with the last group of neighbouring axes; at least one. `reduced` has a flag
/// for each dimension.
std::vector<ReducePass> reduce_passes(const Shape& shape, const std::vector<bool>& reduced);
/// The pass along `axis`; a negative axis counts from the end.
ReducePass axis_pass(const Shape& shape, std::int64_t axis);

}  // namespace gpubench
