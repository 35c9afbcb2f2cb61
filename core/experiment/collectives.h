// How fast ranks exchange: times and bandwidths of collectives by size, as nccl-tests defines them, every result
// checked.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/comm/communicator.h"
#include "core/measure/estimate.h"
#include "core/results/record.h"

namespace gpubench {

/// `bytes` are Collective::bytes(), rounded down to whole elements on every rank.
struct CollectiveCase {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Dtype dtype = Dtype::f32;
  std::size_t bytes = 0;
};

struct CollectiveMeasurement {
  CollectiveCase one;  ///< with the bytes that it came to
  int ranks = 1;
  std::string implementation, algorithm;
  Estimate time = {};                                        ///< seconds of one collective, the mean over ranks
  std::vector<double> samples = {};                          ///< of that; short ones are timed in groups and divided
  double fastest_rank = 0, mean_rank = 0, slowest_rank = 0;  ///< seconds, each rank's mean
  /// Share of a sample's time in which the rank's thread ran: the median over samples, of the rank with the largest.
  /// Ranks work or poll for each other all the time, so less than 1 means that threads shared a processor.
  double busy = 1;
  std::int64_t wrong = 0;  ///< elements, of all ranks together, that are not the exact result
};

/// This process's ranks: a device and its communicator each.
struct CollectiveRank {
  Device* device = nullptr;
  Communicator* communicator = nullptr;
};

/// Measures each case for about `budget` / number of cases, each rank on a thread of its own. With ranks in other
/// processes a collective call; the result is the same in all. Sums of all_reduce and reduce_scatter; all in place:
/// the part of all_gather and reduce_scatter lies in the whole. Throws Error where bytes are less than an element a
/// rank, PeerLost, Interrupted, and what a rank threw.
std::vector<CollectiveMeasurement> measure_collectives(std::span<const CollectiveCase> cases,
                                                       std::span<const CollectiveRank> ranks, Seconds budget);

/// Bus bandwidth over algorithm bandwidth (bytes / time): what a rank must move at least, so that the best possible is
/// the link's rate whatever the number of ranks. PERFORMANCE.md of nccl-tests derives them.
double bus_factor(CollectiveKind kind, int ranks);

/// The columns op, dtype, implementation, algorithm, replicas, message_bytes, steps, collective_time_s with its
/// interval and by rank, algorithm_bytes_per_s, bus_bytes_per_s with its interval, wrong and quality.
Record to_record(const CollectiveMeasurement& measurement);

}  // namespace gpubench
