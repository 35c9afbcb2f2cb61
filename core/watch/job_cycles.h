// The records of a rank, put together to what is counted: training steps with everything before them. job_steps.cpp
// computes its figures from them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/watch/agent_files.h"
#include "core/watch/job_steps.h"
#include "core/watch/time_span.h"

namespace gpubench {

/// A training step with what lies between it and the one before it.
struct Cycle {
  TimeSpan span;
  StepKind kind = StepKind::training;
  double own_s = 0;                                         // of the training step alone, without evaluation
  double own_wait_s = 0;                                    // for batches, of it
  std::array<double, job_step_parts.names.size()> parts{};  // seconds, by JobStepPart
  std::uint64_t batches = 0;
  double main_thread_s = 0;
  double switches = 0;

  double seconds() const { return span.seconds(); }
};

struct JobCycles {
  /// Behind the warm-up, outside of the window, before steps on kept batches.
  std::vector<Cycle> cycles;
  /// Seconds of each batch that was evaluated in them, and of all of them the wait for batches.
  std::vector<double> evaluated_s;
  double evaluation_wait_s = 0;
  std::size_t cut_parts = 0;  ///< that were longer than their cycle

  std::size_t warmup_steps = 0, window_steps = 0;
  std::optional<TimeSpan> window;
  std::vector<double> kept_s;  ///< of each step on kept batches but the first
};

JobCycles job_cycles(const AgentProcess& process, const JobStepsOptions& options);

}  // namespace gpubench
