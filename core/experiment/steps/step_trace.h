// The second phase of a measurement, after the timing: a few more steps under a tracer, which show where the time goes.
#pragma once
#include <optional>

#include "core/exec/step_tracer.h"
#include "core/experiment/steps/replica_watch.h"
#include "core/experiment/steps/step_source.h"
#include "core/results/step_classes.h"
#include "core/trace/breakdown.h"
#include "core/trace/copy_path.h"
#include "core/trace/profile.h"

namespace gpubench {

struct TraceLimits {
  /// Counted steps: at least `least_steps`, then until `time` has passed, `most_steps` are reached or the timeline is
  /// nearly full.
  int least_steps = 3, most_steps = 50;
  Seconds time{0.2};
  /// Also profiles the steps, by node and with their idle gaps; devices then launch op by op.
  bool profiles = false;
};

struct StepTrace {
  /// Of the counted steps: the mean of the replicas' devices, else all devices as one. On devices that work beside the
  /// host, its window begins and ends while they are as busy as in the middle of a training, as the timed steps do.
  Breakdown breakdown;
  int steps = 0;                     ///< that are counted
  std::vector<Breakdown> by_step{};  ///< of each counted step
  /// Share of the traced time that adding the spans of host threads took.
  double observer_share = 0;
  /// Share of the steps in our own kernels of attention, which a library's may replace.
  double own_attention_share = 0;
  ExchangeSource exchanges = ExchangeSource::none;
  /// Only for replicas on GPUs, whose exchanges the host does not see.
  std::optional<ReplicaTrace> replicas{};
  /// Those that take most time, of the counted steps; none where nothing is copied.
  std::optional<CopiesOfPath> copies{};
  /// Only if asked for.
  std::optional<StepProfile> profile{};
};

/// The tracer must have started while devices were idle. `replicas` take the steps; nullptr without replicas. Throws as
/// the tracer does.
StepTrace trace_steps(StepSource& steps, Runtime& runtime, Replicas* replicas, Tracer& tracer, Timeline& timeline,
                      const TraceLimits& limits = {});

}  // namespace gpubench
