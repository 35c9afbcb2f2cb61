// Stacks consecutive elements of different extents along a new first dimension; each is padded at its end to the
// largest extents of its batch, or to given extents.
//
//   padded_batch(sentences, {.size = 32})  // uint8[?] becomes uint8[?, ?]
#pragma once
#include <optional>
#include <vector>

#include "core/data/dataset.h"

namespace gpubench {

struct PaddedBatchOptions {
  std::int64_t size = 0;
  /// One per tensor, `varying` to use the batch's largest extent; empty: `varying` wherever extents vary.
  std::vector<Shape> shapes{};
  /// Padding values, one per tensor; empty: zeros.
  std::vector<double> values{};
  bool drop_remainder = false;
};

/// Throws Error if shapes or values do not match the elements. An element larger than the given extents is an Error
/// during the epoch.
DatasetPtr padded_batch(DatasetPtr source, PaddedBatchOptions options);

}  // namespace gpubench
