// The categories of events in traces of PyTorch's profiler (Kineto), today's and those of 2021.
#pragma once
#include <cstdint>
#include <string_view>

#include "core/traces/foreign_trace.h"

namespace gpubench {

enum class KinetoCategory : std::uint8_t {
  none,
  skipped,
  kernel,
  copy,
  memset,
  accelerator,
  call,
  driver_call,
  op,
  annotation,
  python,
  overhead
};

/// `none` of an empty name, `skipped` of one that is not known.
KinetoCategory category_of(std::string_view name);
HostRecord record_of(KinetoCategory category);
bool is_of_device(KinetoCategory category);

}  // namespace gpubench
