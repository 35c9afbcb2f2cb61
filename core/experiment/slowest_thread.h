// What a pipeline's slowest thread did: compute, or wait for files, networks and other things that make a thread sleep.
// Waiting for a core counts as neither, so that a busy machine is not mistaken for a slow disk.
#pragma once
#include <string>
#include <vector>

#include "core/data/dataset.h"

namespace gpubench {

/// Share of the runnable time of a thread in which it waited, as bounds: stages' figures may not report every wait.
/// Where one stage has threads that pull from a source beside threads that compute, of the slower kind.
struct SlowestThread {
  std::string_view stage{};  ///< whose threads; empty: the consumer's own
  double waited_least = 0;
  double waited_most = 1;
};

/// `stages`, in order, worked for `measured` while `consumer` did nothing but take their elements.
SlowestThread slowest_thread(const std::vector<StageStatistics>& stages, const ThreadTimes& consumer, Seconds measured);

/// "processing bound, its slowest thread (map's) computes 97 % of its time", "read bound, ...", or that the two cannot
/// be told apart, and why.
std::string read_or_processing_bound(const SlowestThread& thread);
/// Of a dataset whose stages did that.
std::string read_or_processing_bound(const Dataset& dataset, const std::vector<StageStatistics>& stages,
                                     const ThreadTimes& consumer, Seconds measured);

}  // namespace gpubench
