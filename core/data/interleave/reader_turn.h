// How long a thread has read one input of an interleave, where others are waiting for it.
#pragma once
#include <chrono>

#include "core/base/clock.h"

namespace gpubench {

/// Looks at the clock ever more seldom, since elements may cost less than that.
class ReaderTurn {
 public:
  /// What turning to another input costs, its locks and a thread that is woken, is a small part of this.
  static constexpr std::chrono::microseconds least{50};

  /// To be asked after each block; an element that takes longer than that is a turn of its own.
  bool is_over() {
    if (++asked_ < next_look_) return false;
    next_look_ *= 2;
    return watch_.elapsed() > least;
  }

 private:
  Stopwatch watch_;
  int asked_ = 0;
  int next_look_ = 1;
};

}  // namespace gpubench
