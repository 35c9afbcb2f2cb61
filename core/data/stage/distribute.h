// One process's part of a dataset of batches that several processes train with. Sharding by element keeps the global
// batches: batch k is the same set of elements, however many processes share it, and what expensive maps make of an
// element does not depend on it either. For that, all processes have to build the same dataset with the same seeds.
//
//   distribute(batch(map(shuffle(digits, ...), augment), 64), {.processes = 4, .rank = rank})
//     // ... > shuffle > shard(count=4 index=rank) > map > batch(size=16)
#pragma once
#include <string_view>

#include "core/data/dataset.h"

namespace gpubench {

enum class Sharding {
  automatic,  ///< by file where passing over elements means reading them and there is a file for each process
  file,       ///< each process reads every so many-th file; how many elements it gets depends on them
  element,    ///< every so many-th element, taken as early as the elements and their order are settled
  off         ///< every process reads all, or what the script gave it
};
/// "auto", "file", "element" or "off"; throws Error naming these.
Sharding parse_sharding(std::string_view name);
std::string_view to_string(Sharding sharding);

/// What the dataset's batches are.
enum class BatchOf {
  global,      ///< what all replicas of all processes share in a step
  per_replica  ///< what each replica gets
};
/// "global" or "per_replica"; throws Error naming these.
BatchOf parse_batch_of(std::string_view name);
std::string_view to_string(BatchOf batch);

struct DistributeOptions {
  Sharding shard = Sharding::automatic;
  BatchOf batch = BatchOf::global;
  int processes = 1;
  int rank = 0;      ///< of this process
  int replicas = 1;  ///< of this process: their batches come as one, of which each takes rows
};

/// The dataset for this process, whose batches its replicas share: a process's part of the global batches, or as many
/// rows as its replicas have. A dataset in which shard() stands already, and one that is not to be sharded, keeps its
/// elements; of `global` batches it then keeps the size, too.
///
/// With drop_remainder all processes have the same number of batches. Without, the last batch has rows for some
/// processes more than for others, or for some only: these have one batch less. Sharded by file, epochs differ in
/// length as files do, and maps draw random numbers as in a dataset of these files alone.
///
/// Throws Error for datasets that are not batched, or in which a stage between batch and end stands in the way; for
/// batches that cannot be shared evenly; where there are fewer elements or, for Sharding::file, files than processes;
/// and where the elements have no order that all processes agree on.
DatasetPtr distribute(DatasetPtr dataset, const DistributeOptions& options);

}  // namespace gpubench
