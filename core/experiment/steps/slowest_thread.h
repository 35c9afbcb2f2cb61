// Whether a pipeline's slowest thread computed or waited for files, networks and other blocking calls. Waiting for a
// core counts as neither, so that a busy machine is not mistaken for a slow disk.
#pragma once
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/results/input_cause.h"

namespace gpubench {

/// Bounds of the share of a thread's runnable time in which it waited, because stages may not report every wait. If a
/// stage has both pulling and computing threads, this is the slower kind.
struct SlowestThread {
  std::string_view stage{};  ///< the stage of the thread; empty: the consumer's own thread
  double waited_least = 0;
  double waited_most = 1;
};

/// `stages`, in order, worked for `measured` while `consumer` only took their elements.
SlowestThread slowest_thread(const std::vector<StageStatistics>& stages, const ThreadTimes& consumer, Seconds measured);

struct InputCause {
  InputCauseKind kind = InputCauseKind::unknown;
  /// "processing bound, its slowest thread (map's) computes 97 % of its time", "read bound, ...", or that the two
  /// cannot be distinguished, and why.
  std::string text;
};

InputCause read_or_processing_bound(const SlowestThread& thread);
/// The same for the dataset with these stages.
InputCause read_or_processing_bound(const Dataset& dataset, const std::vector<StageStatistics>& stages,
                                    const ThreadTimes& consumer, Seconds measured);

}  // namespace gpubench
