// Exact times of kernels, copies and CUDA calls, by CUPTI's activity records. Tracing slows the work down: time without
// it first. cupti.cpp where the toolkit was there when gpubench was built, else no_cupti.cpp.
#pragma once
#include <memory>

#include "core/telemetry/timeline.h"

namespace gpubench {

class Cupti;

/// One at a time in a process: CUPTI has one set of callbacks.
class ActivityTracer {
 public:
  /// Throws Error saying why nothing can be traced here.
  ActivityTracer();
  explicit ActivityTracer(std::unique_ptr<Cupti> cupti);
  /// Stops; records that were not fetched are lost.
  ~ActivityTracer();
  ActivityTracer(const ActivityTracer&) = delete;
  ActivityTracer& operator=(const ActivityTracer&) = delete;

  /// Graphs that were instantiated before have no node times. Throws DeviceError.
  void start();
  /// The devices must be idle. Adds spans of all that happened since start(); returns the records that were lost, of
  /// which any makes a breakdown unreliable. Throws DeviceError.
  std::size_t stop(Timeline& timeline);

 private:
  std::unique_ptr<Cupti> cupti_;
};

}  // namespace gpubench
