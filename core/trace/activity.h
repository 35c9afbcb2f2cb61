// CUPTI's records without its types, and their conversion to spans on the program's clock. Pure, so that it can be
// tested without CUDA.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/timeline.h"

namespace gpubench {

struct CuptiActivity {
  enum class Kind {
    kernel,
    copy,
    peer_copy,
    memset,
    api_call,
    synchronization,
    graph  ///< a whole graph, timed as one unit
  };
  Kind kind = Kind::kernel;
  std::string name;
  std::uint64_t begin_ns = 0, end_ns = 0;  ///< on CUPTI's clock; 0 if no time was recorded
  std::uint32_t correlation = 0;
  std::uint32_t device = 0, stream = 0;  ///< for work on a device
  std::uint32_t thread = 0;              ///< for a call
};

/// The same moment on both clocks.
struct ClockPair {
  Clock::time_point ours;
  std::uint64_t cupti_ns = 0;
};

/// Converts CUPTI's clock to ours, from two moments read on both clocks, before and after the converted times.
class ClockConversion {
 public:
  ClockConversion(ClockPair first, ClockPair last);
  Clock::time_point operator()(std::uint64_t cupti_ns) const;

 private:
  ClockPair first_;
  double rate_;  ///< our nanoseconds per CUPTI nanosecond
};

/// The host's activity in a call of the CUDA runtime or driver: "cudaLaunchKernel_v7000" is a launch.
SpanClass class_of_call(std::string_view name);
/// NCCL's kernels are communication; all others are compute.
SpanClass class_of_kernel(std::string_view name);
bool is_graph_launch(std::string_view name);

/// Adds a span for each record. The launch of a graph is exact if the graph's nodes were timed; a graph timed as one
/// unit is never exact. Returns the number of records without times, which are lost.
std::size_t add_spans(std::span<const CuptiActivity> activities, const ClockConversion& conversion, Timeline& timeline);

}  // namespace gpubench
