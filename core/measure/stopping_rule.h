// Decides when a point has been measured long enough. The rule reads no clock: time is the sum of the step times it is
// given, so it can be tested with invented ones. Its test grows with the series and is therefore made at sample counts
// that grow by a quarter: some ten looks in a run, two thousandths of its time at 40 µs a step.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/measure/estimate.h"

namespace gpubench {

struct StoppingLimits {
  /// Half-width of the median's 95 % interval, as a share of the median.
  double relative_error = 0.01;
  Seconds min_time{0.3};
  Seconds budget{2.0};
};

/// Throws Error when a limit is not positive or the budget is shorter than the least time, naming both.
void check(const StoppingLimits& limits);

enum class StopReason { running, precise, budget, full };
std::string_view to_string(StopReason reason);

class StoppingRule {
 public:
  /// Throws what check() throws.
  explicit StoppingRule(StoppingLimits limits);

  /// Keeps a step time; true when measuring should end. Allocates nothing. Now and then it takes as long as sorting the
  /// series in part takes, so callers start the next step's clock after it returns.
  bool add(double seconds);

  /// Forgets all but the first `count` samples, which are judged anew: precise, or running where the limits allow more.
  StopReason trim(std::size_t count);

  std::span<const double> samples() const { return samples_; }
  Seconds measured() const { return measured_; }
  StopReason stop_reason() const { return stop_reason_; }
  /// "precise: 95 % interval within 0.42 % of the median after 7502 steps in 0.31 s".
  std::string reason() const;
  /// Of all samples so far.
  Estimate estimate() { return estimator_.estimate(samples_); }

 private:
  StoppingLimits limits_;
  std::vector<double> samples_;
  MedianEstimator estimator_;
  Seconds measured_{0};
  std::size_t next_check_;
  StopReason stop_reason_ = StopReason::running;
  double reached_error_;
};

/// Returns the first process's argument on all processes, which call it in the same order. Throws PeerLost. Empty where
/// there are no other processes.
using Agreement = std::function<std::int64_t(std::int64_t)>;

/// How long processes that step together go on. Each measures other times and would stop at another step. So the first
/// one decides, for as many steps at a time as its time between two questions asks for. A process without others
/// decides each step, at no cost.
class Pace {
 public:
  explicit Pace(const Agreement& agreement) : agreement_(agreement) {}
  /// Whether to take one more step, of which this process says that it is `wanted`.
  bool more(bool wanted) { return agreement_ ? agreed(wanted) : wanted; }

 private:
  bool agreed(bool wanted);

  const Agreement& agreement_;
  std::int64_t left_ = 0, taken_ = 0;
  Clock::time_point asked_{};
};

}  // namespace gpubench
