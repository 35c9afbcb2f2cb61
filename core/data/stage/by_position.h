// Stages that choose elements by their positions alone: a part of the source, unchanged.
//
//   take(digits, 1000)      // the first elements
//   skip(digits, 1000)      // all others
//   shard(files, 4, rank)   // every fourth; before shuffle, else each worker's order differs
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

/// Throws Error when `count` is below 1.
DatasetPtr take(DatasetPtr source, std::int64_t count);

/// Throws Error when `count` is negative or when it is known that nothing would be left.
DatasetPtr skip(DatasetPtr source, std::int64_t count);

enum class Rounds {
  any,      ///< the last elements are those of the first shards, if there are not enough for all
  complete  ///< all shards have the same number of elements, the others are left out
};

/// Elements index, index + count, and so on: the part of one of `count` workers, which together see each element once.
/// Throws Error unless 0 <= index < count, and when that leaves nothing.
DatasetPtr shard(DatasetPtr source, std::int64_t count, std::int64_t index, Rounds rounds = Rounds::any);

}  // namespace gpubench
