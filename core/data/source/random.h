// Random integers without end, and random choices among several things, as elements. A number is a function of the seed
// and of its position, so that epochs can be resumed.
//
//   random_numbers({.seed = 1})   random_choices({0.9, 0.1}, {.seed = 1})
#pragma once
#include <vector>

#include "core/data/dataset.h"

namespace gpubench {

struct RandomOptions {
  std::uint64_t seed = 0;
  /// Other numbers in every epoch.
  bool rerandomize_each_iteration = false;
};

/// int64[] numbers of [0, 2^32), each as likely as others.
DatasetPtr random_numbers(const RandomOptions& options);

/// int64[] indices into `weights`, each as often as its weight is large: finite, not negative, and one above 0.
DatasetPtr random_choices(const std::vector<double>& weights, const RandomOptions& options);

}  // namespace gpubench
