// A window of `buffer` elements from which each next element is drawn at random. Draws are a function of seed, epoch
// and position, so the same seed gives the same order anywhere. Over rows of tensors the window holds row numbers.
//
//   shuffle(digits, {.buffer = 10000, .seed = 1})
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

struct ShuffleOptions {
  std::int64_t buffer = 0;
  std::uint64_t seed = 0;
  /// Another order in every epoch; else epoch 0's order always.
  bool reshuffle_each_iteration = true;
};

/// Throws Error unless the buffer holds at least one element.
DatasetPtr shuffle(DatasetPtr source, const ShuffleOptions& options);

}  // namespace gpubench
