// One process's part of a dataset of batches with which several processes train. Sharding by element keeps the global
// batches: batch k is the same set of elements for any number of processes, and so are the results of random maps. For
// that, all processes must build the same dataset with the same seeds.
//
//   distribute(batch(map(shuffle(digits, ...), augment), 64), {.processes = 4, .rank = rank})
//     // ... > shuffle > shard(count=4 index=rank) > map > batch(size=16)
#pragma once
#include <string_view>

#include "core/data/dataset.h"

namespace gpubench {

enum class Sharding {
  automatic,  ///< by file if skipping elements means reading them and there is a file for each process; else by element
  file,       ///< each process reads every N-th file; its number of elements depends on the files
  element,    ///< every N-th element, selected at the earliest stage at which elements and their order are fixed
  off         ///< every process reads everything, or what the script gave it
};
/// "auto", "file", "element" or "off"; throws Error naming these.
Sharding parse_sharding(std::string_view name);

/// What a batch of the dataset stands for.
enum class BatchOf {
  global,      ///< the examples of one step, over all replicas of all processes
  per_replica  ///< the examples of one replica
};
/// "global" or "per_replica"; throws Error naming these.
BatchOf parse_batch_of(std::string_view name);

struct DistributeOptions {
  Sharding shard = Sharding::automatic;
  BatchOf batch = BatchOf::global;
  int processes = 1;
  int rank = 0;      ///< of this process
  int replicas = 1;  ///< of this process; each takes rows of a joint batch
};

/// The dataset of this process, whose batches are divided among its replicas: its part of the global batches, or the
/// rows of its replicas together. A dataset that already contains shard(), or is not sharded, keeps its elements; with
/// `global` it also keeps its batch size.
///
/// With drop_remainder all processes have the same number of batches. Without it, the last batch may have more rows for
/// some processes, or rows for some only; the others then have one batch less. When sharded by file, epochs differ in
/// length as the files do, and maps draw random numbers as for a dataset of these files alone.
///
/// Throws Error for datasets that are not batched, or have an unsupported stage after the batch; for batches that do
/// not divide evenly; if there are fewer elements (Sharding::file: files) than processes; and if the elements have no
/// order that all processes agree on.
DatasetPtr distribute(DatasetPtr dataset, const DistributeOptions& options);

}  // namespace gpubench
