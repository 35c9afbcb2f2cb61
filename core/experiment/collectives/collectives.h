// Measures collectives by size: times and bandwidths as nccl-tests defines them. Every result is checked.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/comm/communicator.h"
#include "core/measure/estimate.h"
#include "core/measure/stopping_rule.h"
#include "core/results/record.h"

namespace gpubench {

class Device;

/// `bytes`: Collective::bytes(), rounded down to whole elements on every rank.
struct CollectiveCase {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Dtype dtype = Dtype::f32;
  std::size_t bytes = 0;
};

struct CollectiveMeasurement {
  CollectiveCase one;  ///< with the actual number of bytes
  int ranks = 1;
  std::string implementation, algorithm;
  Estimate time = {};                ///< seconds of one collective, the mean over ranks
  std::vector<double> samples = {};  ///< the single times; short collectives are timed in groups and divided
  double fastest_rank = 0, mean_rank = 0,
         slowest_rank = 0;  ///< seconds: means of the fastest and slowest rank, and over ranks
  /// Share of the time in which a rank's thread ran: median over samples, of the rank with the largest median. Ranks
  /// work or poll all the time, so less than 1 means that threads shared a processor.
  double busy = 1;
  /// Elements over all ranks that differ from the exact result; nothing for devices that compute nothing.
  std::optional<std::int64_t> wrong = 0;
};

/// A rank of this process: a device and its communicator.
struct CollectiveRank {
  Device* device = nullptr;
  Communicator* communicator = nullptr;
};

/// Measures each case for about `budget` / number of cases, each rank on its own thread. A collective call if other
/// processes have ranks; all get the same result. all_reduce and reduce_scatter compute sums. All run in place: the
/// part of all_gather and reduce_scatter lies in the whole. Throws Error if the bytes are less than one element per
/// rank, PeerLost, Interrupted, and exceptions of a rank.
std::vector<CollectiveMeasurement> measure_collectives(std::span<const CollectiveCase> cases,
                                                       std::span<const CollectiveRank> ranks, Seconds budget);

/// Bus bandwidth divided by algorithm bandwidth (bytes / time). Bus bandwidth counts the bytes that each rank must
/// move, so its upper limit is the link's rate for any number of ranks (PERFORMANCE.md of nccl-tests).
double bus_factor(CollectiveKind kind, int ranks);

/// The columns op, dtype, implementation, algorithm, replicas, message_bytes, steps, collective_time_s with its
/// interval and by rank, algorithm_bytes_per_s, bus_bytes_per_s with its interval, wrong and quality.
Record to_record(const CollectiveMeasurement& measurement, Scatter scatter = Scatter::judged);

}  // namespace gpubench
