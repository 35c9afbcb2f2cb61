// Exact times of kernels, copies and CUDA calls from CUPTI's activity records. Tracing slows the work, so measure times
// without it first. Compiled from cupti.cpp if the toolkit was present at build time, else from no_cupti.cpp.
#pragma once
#include <memory>

#include "core/trace/tracer.h"

namespace gpubench {

class Cupti;

/// At most one per process, because CUPTI has one set of callbacks.
class ActivityTracer final : public Tracer {
 public:
  /// Throws Error with the reason if tracing is impossible.
  ActivityTracer();
  explicit ActivityTracer(std::unique_ptr<Cupti> cupti);
  /// Stops tracing; records that were not fetched are lost.
  ~ActivityTracer() override;
  ActivityTracer(const ActivityTracer&) = delete;
  ActivityTracer& operator=(const ActivityTracer&) = delete;

  /// Graphs instantiated before may have no node times.
  void start() override;
  std::size_t stop(Timeline& timeline) override;

 private:
  std::unique_ptr<Cupti> cupti_;
};

}  // namespace gpubench
