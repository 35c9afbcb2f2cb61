// What can tell exactly when a device worked, at the price of slowing it down.
#pragma once
#include <cstddef>

#include "core/telemetry/timeline.h"

namespace gpubench {

class Tracer {
 public:
  virtual ~Tracer() = default;
  /// Throws Error saying why nothing can be traced.
  virtual void start() = 0;
  /// The devices must be idle. Adds spans of all that happened since start(); returns the records that were lost, of
  /// which any makes a breakdown unreliable. Throws Error.
  virtual std::size_t stop(Timeline& timeline) = 0;
};

}  // namespace gpubench
