// What holds a pipeline up, by what its slowest thread was at: computing, or waiting for files, networks and whatever
// else makes a thread sleep. Waiting for a core is neither, so that a busy machine is not mistaken for a slow disk.
#pragma once
#include <string>
#include <vector>

#include "core/data/dataset.h"

namespace gpubench {

/// Of the time that a thread had work and a core for it: the share that it waited, which the stages' figures may leave
/// open. Where one stage's threads pull from a source and compute side by side, it is of the slower of the two.
struct SlowestThread {
  std::string_view stage{};  ///< whose threads; empty: the consumer's own
  double waited_least = 0;
  double waited_most = 1;
};

/// Of stages behind each other, which worked for `measured` while a consumer did nothing but take their elements.
SlowestThread slowest_thread(const std::vector<StageStatistics>& stages, const ThreadTimes& consumer, Seconds measured);

/// "processing bound, its slowest thread (map's) computes 97 % of its time", "read bound, ...", or that the two cannot
/// be told apart, and why.
std::string read_or_processing_bound(const SlowestThread& thread);
/// Of a dataset whose stages did that.
std::string read_or_processing_bound(const Dataset& dataset, const std::vector<StageStatistics>& stages,
                                     const ThreadTimes& consumer, Seconds measured);

}  // namespace gpubench
