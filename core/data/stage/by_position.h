// Stages that select elements of the source by position only.
//
//   take(digits, 1000)      // the first elements
//   skip(digits, 1000)      // all others
//   shard(files, 4, rank)   // every fourth; before shuffle, else each worker's order differs
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

/// A count of -1 takes all. Throws Error if it is below.
DatasetPtr take(DatasetPtr source, std::int64_t count);

/// Throws Error if `count` is negative.
DatasetPtr skip(DatasetPtr source, std::int64_t count);

enum class Rounds {
  any,      ///< if elements do not divide evenly, the first shards get one more
  complete  ///< all shards have the same number of elements; the rest is dropped
};

/// Elements index, index + count, ...: the part of one of `count` workers, which together see each element once. Throws
/// Error unless 0 <= index < count, and if no element is left.
DatasetPtr shard(DatasetPtr source, std::int64_t count, std::int64_t index, Rounds rounds = Rounds::any);

}  // namespace gpubench
