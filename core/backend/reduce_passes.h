// A reduction as passes over [before, extent, after], the middle dimension reduced; one pass but for axes that have
// kept dimensions between them.
#pragma once
#include <cstdint>
#include <vector>

#include "core/tensor/tensor_type.h"

namespace gpubench {

struct ReducePass {
  std::int64_t before, extent, after;
};

/// The passes in the order in which they run, the last group of neighbouring axes first; at least one. `reduced` has a
/// flag for each dimension.
std::vector<ReducePass> reduce_passes(const Shape& shape, const std::vector<bool>& reduced);
/// The one pass along `axis`, of which a negative one counts from the end.
ReducePass axis_pass(const Shape& shape, std::int64_t axis);

}  // namespace gpubench
