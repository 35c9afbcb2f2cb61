// What adds the spans of a device that works beside the host.
#pragma once
#include <cstddef>

namespace gpubench {

class Timeline;

/// Measures exactly when a device works beside the host, at the price of slowing it down. Backend::new_tracer() makes
/// it. A span of a launch (class launch, gpu -1) and the spans of the work that it queued have the same correlation.
/// Where that launch lies within a span of HostSpans that has a node, the work belongs to this node.
class Tracer {
 public:
  virtual ~Tracer() = default;
  /// Throws Error with the reason if tracing is impossible.
  virtual void start() = 0;
  /// The devices must be idle. Adds the spans of all work since start(). Returns the number of lost records: a single
  /// one makes a breakdown unreliable. Throws Error.
  virtual std::size_t stop(Timeline& timeline) = 0;
};

}  // namespace gpubench
