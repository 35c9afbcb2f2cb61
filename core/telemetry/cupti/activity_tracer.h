// Exact times of kernels, copies and CUDA calls, by CUPTI's activity records. Tracing slows the work down: time without
// it first. cupti.cpp where the toolkit was there when gpubench was built, else no_cupti.cpp.
#pragma once
#include <memory>

#include "core/telemetry/timeline.h"

namespace gpubench {

class Cupti;

/// One at a time in a process: CUPTI has one set of callbacks.
class ActivityTracer final : public Tracer {
 public:
  /// Throws Error saying why nothing can be traced here.
  ActivityTracer();
  explicit ActivityTracer(std::unique_ptr<Cupti> cupti);
  /// Stops; records that were not fetched are lost.
  ~ActivityTracer() override;
  ActivityTracer(const ActivityTracer&) = delete;
  ActivityTracer& operator=(const ActivityTracer&) = delete;

  /// Graphs that were instantiated before may have no node times.
  void start() override;
  std::size_t stop(Timeline& timeline) override;

 private:
  std::unique_ptr<Cupti> cupti_;
};

}  // namespace gpubench
