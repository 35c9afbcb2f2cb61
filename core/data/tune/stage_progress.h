// A running stage as the tuner sees it: its statistics so far, and its number of workers or buffer size, which the
// tuner may change while it runs.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>

#include "core/base/clock.h"
#include "core/data/thread_times.h"

namespace gpubench {

class Dataset;
class Tuner;

/// What a running stage has done so far.
struct StageProgress {
  std::int64_t computed = 0;     ///< elements
  std::int64_t taken = 0;        ///< elements that the consumer received
  Seconds source{};              ///< in calls of the source, one at a time
  Seconds busy{};                ///< own work, summed over workers
  Seconds starved{};             ///< time in which the consumer waited for the stage
  Seconds blocked{};             ///< time in which the stage waited for its consumer
  ThreadTimes threads{};         ///< of the stage's own threads
  std::int64_t unit_bytes = 0;   ///< memory of one more worker or buffer place, at most
  std::int64_t fixed_bytes = 0;  ///< memory independent of the setting, at most

  StageProgress& operator+=(const StageProgress& other) {
    computed += other.computed;
    taken += other.taken;
    source += other.source;
    busy += other.busy;
    starved += other.starved;
    blocked += other.blocked;
    threads += other.threads;
    unit_bytes = std::max(unit_bytes, other.unit_bytes);
    fixed_bytes = std::max(fixed_bytes, other.fixed_bytes);
    return *this;
  }
  /// Progress since `earlier`; memory is not a difference.
  StageProgress operator-(const StageProgress& earlier) const {
    constexpr Seconds nothing{0.0};
    return {.computed = computed - earlier.computed,
            .taken = taken - earlier.taken,
            .source = source - earlier.source,
            .busy = busy - earlier.busy,
            .starved = starved - earlier.starved,
            .blocked = blocked - earlier.blocked,
            .threads = {std::max(threads.cpu - earlier.threads.cpu, nothing),
                        std::max(threads.ready - earlier.threads.ready, nothing)},
            .unit_bytes = unit_bytes,
            .fixed_bytes = fixed_bytes};
  }
};

class Tunable {
 public:
  virtual ~Tunable() = default;
  virtual StageProgress progress() const = 0;
  virtual int setting() const = 0;
  /// Number of workers or buffer places; takes effect soon.
  virtual void set(int value) = 0;
};

/// The tunable setting of a stage.
enum class Knob { none, workers, buffer };

/// Registers a running stage with the pipeline's tuner, if there is one. Must be destroyed before the stage's threads.
class TunedStage {
 public:
  TunedStage(std::shared_ptr<Tuner> tuner, const Dataset& dataset, Knob knob, Tunable& stage);
  ~TunedStage();
  TunedStage(const TunedStage&) = delete;
  TunedStage& operator=(const TunedStage&) = delete;

 private:
  std::shared_ptr<Tuner> tuner_;
  Tunable& stage_;
};

}  // namespace gpubench
