// Divides the time of a window among classes of spans: pure functions, with the definitions of XProf and Kineto.
// Classes are exclusive and sum to the window.
#pragma once
#include <array>
#include <span>
#include <string>

#include "core/trace/timeline.h"

namespace gpubench {

struct Window {
  Clock::time_point begin, end;
  Clock::duration length() const { return end - begin; }
};

struct Breakdown {
  Window window;
  /// Number of devices whose times are summed, each with the host thread that drives it.
  int devices = 1;
  /// Time of each class, in the order of SpanClass. Each moment counts for the first class that has a span at that
  /// time, or for `other` if there is none. The sum is exactly the window's length times `devices`.
  std::array<Clock::duration, span_class_count> charged{};
  std::string doubt;  ///< why the breakdown is unreliable; empty if it is reliable

  /// 0 to 1; the mean over devices.
  double share(SpanClass span_class) const;
  /// In which at least one kernel ran, those of exchanges too. Both classes count before all others, so that their sum
  /// is the union of their spans.
  double device_busy() const { return share(SpanClass::compute) + share(SpanClass::communication); }
};

/// Why `spans` are incomplete: a span is not exact, or `dropped` spans are missing. Empty if they are complete.
std::string incompleteness(std::span<const Span> spans, std::size_t dropped);

/// `spans` are those of one device and of the host that drives it, in any order. The result is in doubt if `other`
/// exceeds 5 %, or if spans are incomplete.
Breakdown break_down(std::span<const Span> spans, Window window, std::size_t dropped = 0);
/// A device whose time is divided, and the replica that drives it.
struct TracedDevice {
  static constexpr int all = -2;
  int gpu = all;     ///< Device::tracer_index(); -1: its kernels run in host threads; all: all devices as one
  int replica = -1;  ///< -1: no replicas

  /// Whether the span is work of the device, of its replica's thread or of the step loop's thread.
  bool has(const Span& span) const {
    return (span.gpu < 0 || gpu == all || span.gpu == gpu) && (span.replica == -1 || span.replica == replica);
  }
};

/// The sum of the breakdowns of each device with its own spans.
Breakdown break_down_each(std::span<const Span> spans, std::span<const TracedDevice> devices, Window window,
                          std::size_t dropped = 0);

}  // namespace gpubench
