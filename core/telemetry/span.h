// A stretch of time in which something of one class went on. Begin and end are on the program's one clock, whoever
// measured them.
#pragma once
#include <cstdint>
#include <string_view>

#include "core/base/clock.h"

namespace gpubench {

/// In the order in which a moment of a step is charged: to the first of those that go on.
enum class SpanClass {
  compute,        ///< a kernel runs on the device
  communication,  ///< replicas exchange
  copy,           ///< between host and device, or within a device
  memset,
  input_wait,  ///< the step waits for its batch
  launch,      ///< the host is inside a call that gives the device work
  host_sync,   ///< the host waits for the device
  host_compute,
  compile,
  other,  ///< none of these; no span has it
};
constexpr std::size_t span_class_count = 10;
/// "input_wait".
std::string_view to_string(SpanClass span_class);

/// A name kept by the timeline.
enum class NameId : std::uint32_t {};

struct Span {
  SpanClass span_class = SpanClass::other;
  NameId name{};
  NameId lane{};  ///< where it went on: a stream or a thread
  /// The GPU that worked, as CUDA counts them; -1 for the host.
  std::int32_t gpu = -1;
  /// What caused it: a launch and its kernels have the same number; 0 for none.
  std::uint32_t correlation = 0;
  /// Whether it says when the work itself went on. A whole graph's launch, timed as one, does not: it has gaps inside.
  bool is_exact = true;
  Clock::time_point begin, end;
};

}  // namespace gpubench
