// How long processes that step together go on. Each sees other times and would stop at another step; so the first one
// decides, for as many steps at a time as its time between two questions asks for. A process of its own decides each
// step, at no cost.
#pragma once
#include <cstdint>
#include <functional>

#include "core/base/clock.h"

namespace gpubench {

/// What the first process says, on all of them; all call it in the same order. Throws PeerLost. Empty: there are no
/// others.
using Agreement = std::function<std::int64_t(std::int64_t)>;

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
