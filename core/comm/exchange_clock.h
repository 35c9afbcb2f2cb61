// Adds up the cost of one rank's collectives from three times of each: requested, all ranks arrived, done.
#pragma once
#include <mutex>

#include "core/comm/communicator.h"

namespace gpubench {

/// When this rank requested one collective, when the last rank did, and when it was done.
struct ExchangeOutcome {
  Clock::time_point arrived, last_arrived, done;
  int last_rank = 0;  ///< rank that arrived last; -1: unknown
};

class ExchangeClock {
 public:
  explicit ExchangeClock(int ranks) { times_.last_arrivals.resize(static_cast<std::size_t>(ranks)); }

  /// Call it in the order in which collectives ran. The kernels were blocked from `stood_from` until the collective was
  /// done; time in which an earlier collective already blocked them is not counted again.
  void add(std::size_t bytes, const ExchangeOutcome& outcome, Clock::time_point stood_from);
  CommunicationTimes times() const;
  /// As Communicator::set_spans().
  void set_spans(HostSpans* spans);

 private:
  mutable std::mutex mutex_;
  CommunicationTimes times_;
  HostSpans* spans_ = nullptr;
  Clock::time_point counted_until_ = Clock::time_point::min();
};

}  // namespace gpubench
