// Where the time of a window went: pure functions of spans, by the definitions of XProf and Kineto, whose classes are
// exclusive and sum to the window.
#pragma once
#include <array>
#include <span>
#include <string>

#include "core/telemetry/span.h"

namespace gpubench {

struct Window {
  Clock::time_point begin, end;
  Clock::duration length() const { return end - begin; }
};

/// Of the spans of `span_class`, as far as they lie inside the window: the time in which at least one went on.
Clock::duration union_length(std::span<const Span> spans, SpanClass span_class, Window window);

struct Breakdown {
  Window window;
  /// What each class is charged with, in the order of SpanClass: a moment goes to the first class that has a span
  /// there, and to `other` where none has. The sum is the window's length exactly.
  std::array<Clock::duration, span_class_count> charged{};
  Clock::duration kernels{};  ///< in which at least one kernel ran
  std::string doubt;          ///< why it is not to be relied on; empty when nothing speaks against it

  /// 0 to 1.
  double share(SpanClass span_class) const;
  double device_busy() const { return ratio(kernels); }

 private:
  double ratio(Clock::duration part) const;
};

/// `spans` are those of one device and of the host that drives it, in any order. It is in doubt when `other` takes over
/// 5 %, when a span is not exact, or when `dropped` spans are missing.
Breakdown break_down(std::span<const Span> spans, Window window, std::size_t dropped = 0);

}  // namespace gpubench
