// When a point has been measured long enough. The rule reads no clock: time is the sum of the step times it is given,
// so it can be tested with invented ones. Its test grows with the series and is therefore made at sample counts that
// grow by a quarter: some ten looks in a run, two thousandths of its time at 40 µs a step.
#pragma once
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

}  // namespace gpubench
