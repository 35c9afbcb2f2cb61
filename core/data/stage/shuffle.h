// Draws each next element at random from a window of `buffer` elements. Draws are a function of seed, epoch and
// position, so the same seed gives the same order on every machine. Over rows of tensors the window holds row numbers.
//
//   shuffle(digits, {.buffer = 10000, .seed = 1})
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

struct ShuffleOptions {
  std::int64_t buffer = 0;
  std::uint64_t seed = 0;
  /// True: a new order in every epoch; false: always the order of epoch 0.
  bool reshuffle_each_iteration = true;
};

/// Throws Error if the buffer holds less than one element.
DatasetPtr shuffle(DatasetPtr source, const ShuffleOptions& options);

}  // namespace gpubench
