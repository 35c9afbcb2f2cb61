// Random elements that cost no disk: what a pipeline or a model can do at best. Resident ones are drawn once and handed
// out again and again; the others are drawn anew, each a function of seed, epoch and position.
//
//   synthetic({.types = {{{784}, Dtype::f32}, {{}, Dtype::i64}}, .count = 60000})
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

struct SyntheticOptions {
  /// Floating elements are uniform in [0, 1), booleans either with equal chance, uint8 any byte.
  std::vector<TensorType> types;
  std::int64_t count = endless;
  /// Rows of tensors of at most 64 MiB, over and over; else every element is drawn when it is asked for.
  bool resident = true;
  std::uint64_t seed = 0;
  /// Other integers are in [0, classes), and below what their type holds.
  std::int64_t classes = 10;
};

/// Throws Error unless all extents are given, the count is at least 1 and the classes fit 31 bits.
DatasetPtr synthetic(const SyntheticOptions& options);

}  // namespace gpubench
