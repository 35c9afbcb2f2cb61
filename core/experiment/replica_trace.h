// What a trace shows of the exchanges of replicas, and how the processes of a run put theirs together: each tells how
// long the exchanges of its replicas took, so that all know of every exchange who came last.
#pragma once
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/telemetry/exchange_trace.h"

namespace gpubench {

/// Of the replicas of this process, in a window of whole steps.
struct ReplicaTrace {
  std::vector<ExchangeTrace> exchanges;  ///< by replica
  int steps = 0;
  Seconds step_time{};
  /// Why there is nothing to tell; empty where there is.
  std::string absence{};

  /// For join_lengths.
  std::string lengths() const;
};

struct JoinedLengths {
  ExchangeLengths by_rank;
  /// Why they cannot be put together, the process or ranks named; empty where they can.
  std::string absence;
};

/// What all processes said, and what they are called.
JoinedLengths join_lengths(const std::vector<std::string>& texts, const std::vector<std::string>& names);

}  // namespace gpubench
