// Decides when a point has been measured long enough. The rule reads no clock: time is the sum of the given step times,
// so tests can use invented times. Its test gets more expensive with the series, so it runs only when the sample count
// has grown by a quarter: about ten times in a run, 0.2 % of the time at 40 µs a step.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/measure/activity.h"
#include "core/measure/estimate.h"

namespace gpubench {

struct StoppingLimits {
  /// Target half-width of the median's 95 % interval, relative to the median.
  double relative_error = 0.01;
  Seconds min_time{0.3};
  Seconds budget{2.0};
  /// Gets the estimate of each check; may be null.
  Activity* activity = nullptr;
};

/// How a measurement judges its own scatter.
enum class Scatter {
  judged,    ///< it makes a row unreliable: times that did not settle, an interval that is too wide
  of_rounds  ///< the point is measured in several rounds, whose scatter is judged instead
};

/// Throws Error, naming both, if a limit is not positive or the budget is shorter than the minimum time.
void check(const StoppingLimits& limits);

enum class StopReason { running, precise, budget, full };
std::string_view to_string(StopReason reason);

class StoppingRule {
 public:
  /// Throws as check() does.
  explicit StoppingRule(StoppingLimits limits);

  /// Adds a step time; true when measuring should end. Allocates nothing. Some calls take as long as partially sorting
  /// the series, so callers must start the next step's clock after it returns.
  bool add(double seconds);

  /// Keeps only the first `count` samples and judges them again: precise, or running if the limits allow more.
  StopReason trim(std::size_t count);

  std::span<const double> samples() const { return samples_; }
  Seconds measured() const { return measured_; }
  StopReason stop_reason() const { return stop_reason_; }
  /// "precise: 95 % interval within 0.42 % of the median after 7502 steps in 0.31 s".
  std::string reason() const;
  /// The estimate over all samples so far.
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

/// Returns the first process's argument on all processes, which must call it in the same order. Throws PeerLost. Empty
/// if there are no other processes.
using Agreement = std::function<std::int64_t(std::int64_t)>;

/// Decides how long processes that step together continue. Each measures different times and would stop at a different
/// step, so the first process decides, and only once for several steps at a time. A single process decides at each
/// step, at no cost.
class Pace {
 public:
  explicit Pace(const Agreement& agreement) : agreement_(agreement) {}
  /// Whether to take one more step; `wanted` is this process's own opinion.
  bool more(bool wanted) { return agreement_ ? agreed(wanted) : wanted; }

 private:
  bool agreed(bool wanted);

  const Agreement& agreement_;
  std::int64_t left_ = 0, taken_ = 0;
  Clock::time_point asked_{};
};

}  // namespace gpubench
