// Spans written down in nanoseconds.
#pragma once
#include <array>
#include <span>

#include "core/trace/breakdown.h"

namespace gpubench::support {

inline Clock::time_point at(int nanoseconds) {
  return Clock::time_point(std::chrono::nanoseconds(nanoseconds));
}
inline Span span(SpanClass span_class, int begin, int end) {
  Span result;
  result.span_class = span_class;
  result.begin = at(begin);
  result.end = at(end);
  return result;
}

/// Of all spans as one device's.
inline Breakdown break_down(std::span<const Span> spans, Window window, std::size_t dropped = 0) {
  return break_down_each(spans, std::array{TracedDevice{}}, window, dropped);
}

}  // namespace gpubench::support
