// What a point is doing, for the line of a terminal that another thread draws. The measuring thread writes it when a
// phase begins and when the stopping rule checks its samples, a few times in a measurement and outside of all steps.
#pragma once
#include <atomic>

namespace gpubench {

enum class Phase { preparing, training, warming_up, measuring, tracing };

class Activity {
 public:
  /// A moment of it. The two figures of an estimate may be of different checks, since they are read without a lock.
  struct Reading {
    Phase phase = Phase::preparing;
    /// Median of the time of a sample in seconds; 0: no estimate yet.
    double value = 0;
    /// Half-width of its 95 % interval, relative to it; infinite with few samples.
    double relative_error = 0;
  };

  /// Forgets the estimate of the phase before.
  void begin(Phase phase) noexcept {
    value_.store(0, std::memory_order_relaxed);
    phase_.store(phase, std::memory_order_relaxed);
  }
  void set_estimate(double value, double relative_error) noexcept {
    relative_error_.store(relative_error, std::memory_order_relaxed);
    value_.store(value, std::memory_order_relaxed);
  }
  Reading read() const noexcept {
    return {phase_.load(std::memory_order_relaxed), value_.load(std::memory_order_relaxed),
            relative_error_.load(std::memory_order_relaxed)};
  }

 private:
  std::atomic<Phase> phase_{Phase::preparing};
  std::atomic<double> value_{0}, relative_error_{0};
};

/// Lives around what goes through phases of its own; at its end the activity is what it was.
class ActivityScope {
 public:
  /// Null does nothing.
  explicit ActivityScope(Activity* activity) : activity_(activity) {
    if (activity != nullptr) before_ = activity->read();
  }
  ~ActivityScope() {
    if (activity_ == nullptr) return;
    activity_->begin(before_.phase);
    activity_->set_estimate(before_.value, before_.relative_error);
  }
  ActivityScope(const ActivityScope&) = delete;
  ActivityScope& operator=(const ActivityScope&) = delete;

 private:
  Activity* activity_;
  Activity::Reading before_;
};

}  // namespace gpubench
