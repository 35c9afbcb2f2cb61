// The trace of a measurement, after its timing: starts the tracer, takes a few more steps, and fills the columns that
// they show. If tracing is impossible, the row says why.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/experiment/steps/step_trace.h"
#include "core/results/doubt.h"

namespace gpubench {

struct TraceWishes {
  /// Creates the tracer of devices; empty: no trace.
  std::function<std::unique_ptr<Tracer>(const Devices&)> new_tracer;
  /// The caller needs the timeline, or the profile, so a missing tracer is an error.
  bool keep_timeline = false, profiles = false;
};

class TracePhase {
 public:
  /// `budget`: of the measurement; a trace takes a tenth, and at least three steps. `together`: other processes take
  /// the same steps, so all take the same number, also without a tracer of their own.
  TracePhase(const TraceWishes& wishes, Seconds budget, bool together)
      : wishes_(wishes), budget_(budget), together_(together) {}

  /// Does nothing without a wish for a tracer. Devices may be busy. Throws Error if a needed tracer is missing.
  void run(StepSource& steps, Runtime& runtime, Replicas* replicas);

  /// Sets the columns of set_breakdown(), their intervals, own_attention_share where it is known, and observer_share.
  /// `step_time`: mean of the timed steps. `wait_share`: share of the timed steps that waited for input, if it was
  /// measured: where no tracer slowed the traced steps, the timed ones, which are more, give input_wait_share, and the
  /// traced ones divide the rest.
  void describe(Record& record, double step_time, std::optional<double> wait_share) const;

  /// Of replicas on GPUs; else its absence says why there is none.
  ReplicaTrace replica_trace() const;
  /// Why there is no trace; empty if there is one, or none was asked for.
  const std::string& absence() const { return absence_; }
  /// Why the trace is unreliable.
  Doubt doubt() const;
  /// nullptr unless the caller needs it.
  const std::shared_ptr<Timeline>& timeline() const { return timeline_; }
  std::optional<StepProfile> profile() const { return trace_ ? trace_->profile : std::nullopt; }

 private:
  std::unique_ptr<Tracer> started_tracer(const Runtime& runtime, Replicas* replicas);

  TraceWishes wishes_;
  Seconds budget_;
  bool together_, asynchronous_ = false;
  std::string absence_;
  std::optional<StepTrace> trace_;
  std::shared_ptr<Timeline> timeline_;
};

}  // namespace gpubench
