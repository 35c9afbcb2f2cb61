// Spans written down in nanoseconds.
#pragma once
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

}  // namespace gpubench::support
