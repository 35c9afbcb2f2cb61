#include "core/comm/exchange_clock.h"

#include <algorithm>

#include "core/trace/host_spans.h"

namespace gpubench {

void ExchangeClock::add(std::size_t bytes, const ExchangeOutcome& outcome, Clock::time_point stood_from) {
  const std::lock_guard lock(mutex_);
  const Clock::time_point from = std::max(stood_from, counted_until_);
  const Clock::time_point exchange_from = std::max(from, outcome.last_arrived);
  ++times_.collectives;
  times_.bytes += static_cast<double>(bytes);
  times_.exchange += outcome.done - outcome.last_arrived;
  times_.exposed_exchange += std::max(Clock::duration::zero(), outcome.done - exchange_from);
  times_.peer_wait += std::max(Clock::duration::zero(), outcome.last_arrived - from);
  if (outcome.last_rank >= 0) ++times_.last_arrivals[static_cast<std::size_t>(outcome.last_rank)];
  counted_until_ = std::max(counted_until_, outcome.done);
  if (spans_ == nullptr) return;
  if (from < outcome.last_arrived) spans_->add(SpanClass::peer_wait, from, outcome.last_arrived);
  spans_->add(SpanClass::communication, outcome.last_arrived, outcome.done);
}

void ExchangeClock::set_spans(HostSpans* spans) {
  const std::lock_guard lock(mutex_);
  spans_ = spans;
}

CommunicationTimes ExchangeClock::times() const {
  const std::lock_guard lock(mutex_);
  return times_;
}

}  // namespace gpubench
