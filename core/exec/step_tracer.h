// Traces whole steps: the spans of the step loop's thread, of each replica's and of pipelines' threads, and those of
// the devices' tracer. Both a measurement and the Profiler callback take their steps through it.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/exec/replicas.h"
#include "core/exec/runtime.h"
#include "core/trace/breakdown.h"
#include "core/trace/host_spans.h"
#include "core/trace/pipeline_spans.h"
#include "core/trace/tracer.h"

namespace gpubench {

/// Whether a device that works beside the host, a GPU or an emulated one, holds memory. Its executors record segments,
/// and take some steps for that.
bool uses_asynchronous_devices(const Devices& devices);

/// Throws Error if steps of this runtime, or of the replicas, are being traced: their spans go to one trace.
void require_untraced(const Runtime& runtime, Replicas* replicas);

/// The steps of a trace; the end of the last one includes the wait for the devices.
struct TracedSteps : StepMarks {
  Clock::time_point returned;  ///< when the last step had returned, before that wait
  bool on_gpus = false;        ///< whether a tracer sees every replica's device; false without replicas
  double host_spans = 0;       ///< spans of a device's host threads, as the mean over devices

  const StepMarks& marks() const { return *this; }
};

class StepTracer {
 public:
  /// The tracer must have started while devices were idle. `replicas` take the steps; nullptr without replicas. Throws
  /// Error within another one's life, as where a callback of a profiled training measures.
  /// `records`: as in Runtime::set_spans(). All must outlive it.
  StepTracer(Runtime& runtime, Replicas* replicas, Tracer& tracer, Timeline& timeline, bool records = true);
  /// Ends the spans; also without finish().
  ~StepTracer();
  StepTracer(const StepTracer&) = delete;
  StepTracer& operator=(const StepTracer&) = delete;

  /// The first step begins now. Steps before are for executors, which name nodes and record segments at first.
  void begin();
  /// `fetched`: when the step's input was fetched; its wait began with the step.
  void end_step(Clock::time_point fetched);
  std::size_t steps() const { return steps_.ends.size(); }
  /// When the latest step ended, or the first one began.
  Clock::time_point now() const { return steps_.ends.empty() ? steps_.begin : steps_.ends.back(); }
  /// Whether the timeline has room for more steps like those before.
  bool has_room() const;
  /// Waits for the devices and stops the tracer. At least one step must have ended. Throws as the tracer does.
  TracedSteps finish();

 private:
  void set_spans(bool on);
  bool has_spans_ = false;

  Runtime& runtime_;
  Replicas* replicas_;
  Tracer& tracer_;
  Timeline& timeline_;
  bool records_;
  HostSpans host_;
  std::vector<std::unique_ptr<HostSpans>> of_replicas_;
  std::optional<PipelineSpans> of_pipelines_;
  std::size_t spans_before_ = 0;
  TracedSteps steps_;
};

}  // namespace gpubench
