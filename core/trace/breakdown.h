// Divides the time of a window among classes of spans: pure functions, with the definitions of XProf and Kineto.
// Classes are exclusive and sum to the window.
#pragma once
#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/trace/timeline.h"

namespace gpubench {

/// A shorter kernel is four launches of 5 us or less: its start is a visible part of it.
inline constexpr Clock::duration small_kernel = std::chrono::microseconds(20);

struct Breakdown {
  Window window;
  /// Number of devices whose times are summed, each with the host thread that drives it.
  int devices = 1;
  /// Time of each class, in the order of SpanClass. Each moment counts for the first class that has a span at that
  /// time, or for `other` if there is none. The sum is exactly the window's length times `devices`.
  std::array<Clock::duration, span_class_count> charged{};
  Clock::duration in_small_kernels{};  ///< part of `compute` in kernels shorter than small_kernel
  std::string doubt;                   ///< why the breakdown is unreliable; empty if it is reliable

  /// 0 to 1; the mean over devices.
  double share(SpanClass span_class) const;
  double small_kernel_share() const;
  /// In which at least one kernel ran, those of exchanges too. Both classes count before all others, so that their sum
  /// is the union of their spans.
  double device_busy() const { return share(SpanClass::compute) + share(SpanClass::communication); }
};

/// Calls `charge` with the parts of the window, in their order, and the span to which each part is charged: of the
/// first class that is active, the span that began first; but among the host's classes the one that began last, because
/// a host thread's spans nest. Null where no span is active. `spans`: in any order.
void sweep(std::span<const Span> spans, Window window, const std::function<void(Window, const Span*)>& charge);

/// The spans of the device and of the host that drives it.
std::vector<Span> spans_of(const TracedDevice& device, std::span<const Span> spans);

/// Why `spans` are incomplete: a span is not exact, or `dropped` spans are missing. Empty if they are complete.
std::string incompleteness(std::span<const Span> spans, std::size_t dropped);

/// The breakdown of each step, as the sum over the devices; they sum to that of break_down_each(). Without a doubt.
std::vector<Breakdown> break_down_steps(std::span<const Span> spans, const StepMarks& steps);

/// The sum of the breakdowns of each device with its own spans. In doubt if `other` exceeds 5 %, or if spans are
/// incomplete.
Breakdown break_down_each(std::span<const Span> spans, std::span<const TracedDevice> devices, Window window,
                          std::size_t dropped = 0);

}  // namespace gpubench
