// Random elements without disk access: the upper limit for a pipeline or a model. Resident elements are drawn once and
// repeated; others are drawn anew, each a function of seed, epoch and position.
//
//   synthetic({.types = {{{784}, Dtype::f32}, {{}, Dtype::i64}}, .count = 60000})
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

struct SyntheticOptions {
  /// Floating elements are uniform in [0, 1), booleans 0 or 1 with equal probability, uint8 any byte.
  std::vector<TensorType> types;
  std::int64_t count = endless;
  /// True: rows of tensors of at most 64 MiB, repeated; false: every element is drawn when it is requested.
  bool resident = true;
  std::uint64_t seed = 0;
  /// Other integers are in [0, classes) and within the range of their type.
  std::int64_t classes = 10;
};

/// Throws Error unless all extents are given, the count is at least 1 and the classes fit 31 bits.
DatasetPtr synthetic(const SyntheticOptions& options);

}  // namespace gpubench
