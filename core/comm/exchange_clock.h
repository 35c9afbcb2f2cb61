// Adds up what one rank's collectives cost, from when they were asked for, met and done.
#pragma once
#include <mutex>

#include "core/comm/communicator.h"

namespace gpubench {

/// When one collective was asked for by this rank, when by the last rank, and when it was done.
struct ExchangeOutcome {
  Clock::time_point arrived, last_arrived, done;
  int last_rank = 0;  ///< -1: not known
};

class ExchangeClock {
 public:
  explicit ExchangeClock(int ranks) { times_.last_arrivals.resize(static_cast<std::size_t>(ranks)); }

  /// Call it in the order in which collectives were carried out. The kernels stood still for this one from `stood_from`
  /// until it was done; time in which they stood still for an earlier one counts for that one alone.
  void add(std::size_t bytes, const ExchangeOutcome& outcome, Clock::time_point stood_from);
  CommunicationTimes times() const;

 private:
  mutable std::mutex mutex_;
  CommunicationTimes times_;
  Clock::time_point counted_until_ = Clock::time_point::min();
};

}  // namespace gpubench
