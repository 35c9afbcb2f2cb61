// Every so many-th element: the part of one of `count` workers, which together see each element once.
//
//   shard(files, 4, rank)  // before shuffle, else each worker's order differs
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

enum class Rounds {
  any,      ///< the last elements are those of the first shards, if there are not enough for all
  complete  ///< all shards have the same number of elements, the others are left out
};

/// Elements index, index + count, and so on. Throws Error unless 0 <= index < count, and when that leaves nothing.
DatasetPtr shard(DatasetPtr source, std::int64_t count, std::int64_t index, Rounds rounds = Rounds::any);

}  // namespace gpubench
