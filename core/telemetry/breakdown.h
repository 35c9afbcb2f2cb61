// Where the time of a window went: pure functions of spans, by the definitions of XProf and Kineto, whose classes are
// exclusive and sum to the window.
#pragma once
#include <array>
#include <span>
#include <string>

#include "core/telemetry/timeline.h"

namespace gpubench {

struct Window {
  Clock::time_point begin, end;
  Clock::duration length() const { return end - begin; }
};

/// The time within the window in which at least one span of `span_class` went on.
Clock::duration union_length(std::span<const Span> spans, SpanClass span_class, Window window);

struct Breakdown {
  Window window;
  /// Number of devices, each with the host that drives it, whose times are added up.
  int devices = 1;
  /// What each class is charged with, in the order of SpanClass: a moment goes to the first class that has a span
  /// there, and to `other` where none has. The sum is the window's length exactly, for each device.
  std::array<Clock::duration, span_class_count> charged{};
  Clock::duration kernels{};  ///< in which at least one kernel ran
  std::string doubt;          ///< why it is not to be relied on; empty when nothing speaks against it

  /// 0 to 1; the mean over devices.
  double share(SpanClass span_class) const;
  double device_busy() const { return ratio(kernels); }

 private:
  double ratio(Clock::duration part) const;
};

/// Why `spans` are incomplete: one is not exact, or `dropped` spans are missing. Empty where they are complete.
std::string incompleteness(std::span<const Span> spans, std::size_t dropped);

/// `spans` are those of one device and of the host that drives it, in any order. It is in doubt when `other` takes over
/// 5 %, or when they are incomplete.
Breakdown break_down(std::span<const Span> spans, Window window, std::size_t dropped = 0);
/// The sum of the breakdowns of each GPU in `gpus` (Span::gpu) with the host; spans of other GPUs are ignored.
Breakdown break_down_each(std::span<const Span> spans, std::span<const int> gpus, Window window,
                          std::size_t dropped = 0);

}  // namespace gpubench
