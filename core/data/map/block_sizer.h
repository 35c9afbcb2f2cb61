// How many elements a worker takes at a time: so many that locks cost nothing beside the work, so few that all workers
// have some and that nobody waits long for the first.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/base/clock.h"

namespace gpubench {

class BlockSizer {
 public:
  explicit BlockSizer(std::int64_t most) : most_(most) {}

  /// Starts at one element.
  std::int64_t size() const { return size_.load(std::memory_order_relaxed); }
  /// A block of `count` elements took `time` to read and compute. Any thread.
  void measured(std::int64_t count, Seconds time) {
    const auto fitting = static_cast<std::int64_t>(target / std::max(time, shortest) * static_cast<double>(count));
    // A block that lost its core in the middle seems costly: one measurement shrinks blocks by half at most.
    const std::int64_t wanted = std::clamp(fitting, count / 2, count * growth);
    size_.store(std::clamp<std::int64_t>(wanted, 1, most_), std::memory_order_relaxed);
  }

 private:
  static constexpr Seconds target{200e-6};  // some twenty times what it takes to wake a thread
  static constexpr Seconds shortest{1e-7};
  static constexpr std::int64_t growth = 4;

  std::int64_t most_;
  std::atomic<std::int64_t> size_{1};
};

}  // namespace gpubench
