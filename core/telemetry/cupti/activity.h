// What CUPTI records, free of its types, and how records become spans on the program's clock: pure, so that it is
// tested where there is no CUDA at all.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/telemetry/timeline.h"

namespace gpubench {

struct Activity {
  enum class Kind {
    kernel,
    copy,
    peer_copy,
    memset,
    api_call,
    synchronization,
    graph  ///< a whole graph, timed as one
  };
  Kind kind = Kind::kernel;
  std::string name;
  std::uint64_t begin_ns = 0, end_ns = 0;  ///< on CUPTI's clock; 0 where it could take no time
  std::uint32_t correlation = 0;
  std::uint32_t device = 0, stream = 0;  ///< of work on a device
  std::uint32_t thread = 0;              ///< of a call
};

/// One moment on both clocks.
struct ClockPair {
  Clock::time_point ours;
  std::uint64_t cupti_ns = 0;
};

/// CUPTI's clock as ours, by two moments that both clocks were read at: before and after what is converted.
class ClockConversion {
 public:
  ClockConversion(ClockPair first, ClockPair last);
  Clock::time_point operator()(std::uint64_t cupti_ns) const;

 private:
  ClockPair first_;
  double rate_;  ///< of our nanoseconds to CUPTI's
};

/// What the host does in a call of the CUDA runtime or driver: "cudaLaunchKernel_v7000" launches.
SpanClass class_of_call(std::string_view name);
/// Kernels of NCCL exchange; all others compute.
SpanClass class_of_kernel(std::string_view name);
bool is_graph_launch(std::string_view name);

/// Adds a span for each record. The launch of a graph is exact when nodes of the graph were timed, and a graph that was
/// timed as one never is. Returns the records that had no times: they are lost.
std::size_t add_spans(std::span<const Activity> activities, const ClockConversion& conversion, Timeline& timeline);

}  // namespace gpubench
