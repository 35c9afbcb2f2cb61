// Replays of CUDA graphs in a trace, which profilers record in part when they run out of room.
#pragma once
#include <cstddef>

#include "core/traces/foreign_trace.h"

namespace gpubench {

struct GraphReplays {
  std::size_t launches = 0;  ///< of graphs
  std::size_t kernels = 0;   ///< of all of them
  /// Launches that have less than half of the kernels of another one of their graph, or none. Graphs of a program are
  /// of different sizes; which of them a launch replays no trace says.
  std::size_t partial = 0;
};
GraphReplays graph_replays(const ForeignTrace& trace);

}  // namespace gpubench
