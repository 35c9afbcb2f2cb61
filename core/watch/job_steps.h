// What the counters of one rank say about its steps, outside of the profiler's window, after the warm-up and before
// steps on kept batches. Everything
// rests on sums over the whole time, not on typical steps: what happens in every fiftieth step is part of it.
//
// The time of a step is the time since the end of the record before it. Evaluation and everything else between two
// training steps is charged to the training step behind it.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/measure/estimate.h"
#include "core/watch/agent_files.h"
#include "core/watch/time_span.h"

namespace gpubench {

/// A training step is of the first of these kinds that it has a mark of. The first of an epoch comes first, because the
/// others have parts that tell what they cost.
enum class StepKind : std::uint8_t {
  first_of_epoch,  ///< loaders start their workers anew
  compile,         ///< something was traced or compiled in it
  checkpoint,      ///< it saved
  training,        ///< any other training step
  evaluation,      ///< a batch that was evaluated
};
inline constexpr EnumNames<StepKind, 5> step_kinds{
    "unknown kind of steps", {"first of epoch", "compile", "checkpoint", "training", "evaluation"}};

/// Steps of one kind.
struct KindOfSteps {
  StepKind kind = StepKind::training;
  std::size_t count = 0;
  /// Mean seconds of one.
  Estimate step_s;
  /// Of all the time.
  double share = 0;
  /// Of their own time: waited for batches.
  double input_wait_share = 0;
  /// Seconds that they cost beyond as many plain training steps (evaluation: beyond nothing), per training step of any
  /// kind. 0 for plain training steps, and where there are none to compare with.
  double extra_s = 0;
};

struct SharePart {
  JobStepPart part = JobStepPart::input_wait;
  /// Of the time of all steps.
  Estimate share;
  double seconds_per_step = 0;  ///< per training step
  /// Training steps in which it was more than a hundredth of the mean step: with few of them it comes in bursts.
  std::size_t steps_with_it = 0;
};

/// A site's part in the time of the training steps that count it (AgentProcess::sites_since), the window included.
struct StepSite {
  const AgentSite* site = nullptr;
  double times_per_step = 0;
  double seconds_per_step = 0;
  double share = 0;  ///< of the mean step; of SiteKind::stack: of the samples
};

struct JobSteps {
  /// Training steps that count. 0: everything below is empty, and `why_none` says why.
  std::size_t steps = 0;
  std::string why_none;
  std::size_t warmup_steps = 0;       ///< training steps before
  std::size_t window_steps = 0;       ///< of any kind, that the profiler recorded or disturbed
  std::uint64_t forgotten_steps = 0;  ///< records that the ring does not have any more
  /// Parts that were longer than their step, and were cut to it.
  std::size_t cut_parts = 0;

  /// Seconds of a training step with everything between two of them: the time of all, divided by their number.
  Estimate step_s;
  double seconds = 0;  ///< of all steps that count
  double batches_per_step = 0;
  std::vector<KindOfSteps> kinds;  ///< that are there, in the order of StepKind
  /// All parts, in the order of JobStepPart. Parts lie within others (`loading` within `input_wait`, calls within
  /// callbacks), so they may sum up to more than 1.
  std::vector<SharePart> parts;
  /// Share of the time that lies in no part, at least: the user's own code, or what the agent does not see.
  double other_share = 0;
  /// Processor time of the main thread, of the time; its involuntary switches per second.
  std::optional<double> main_thread_share, involuntary_switches_per_s;
  std::vector<StepSite> sites;  ///< the most expensive first, of each kind

  /// Mean seconds of training steps on kept batches, the first of them not counted; nothing without such steps.
  std::optional<Estimate> kept_step_s;
  std::size_t kept_steps = 0;

  /// When the steps that count ran, and when the window was recorded, with the profiler's start and export.
  std::vector<TimeSpan> spans;
  std::optional<TimeSpan> window;

  /// Only of steps that count.
  const SharePart& part(JobStepPart which) const { return parts[static_cast<std::size_t>(which)]; }
  /// 0 where no step was seen.
  double share_of(JobStepPart which) const { return parts.empty() ? 0 : part(which).share.value; }
  const KindOfSteps* kind(StepKind which) const;
};

struct JobStepsOptions {
  /// Training steps that never count: start of workers, first use of kernels, allocation.
  std::size_t least_warmup = 5;
  /// The warm-up ends where the agent says so. Where it does not, when medians of training steps settle
  /// (core/measure/warmup.h), at the latest after this share of the steps.
  double most_warmup_share = 0.1;
  /// Fewer training steps than this behind the warm-up say nothing.
  std::size_t least_steps = 8;
};

/// `process` must outlive the result, which refers to its sites.
JobSteps job_steps(const AgentProcess& process, const JobStepsOptions& options = {});

/// All processes without training steps that descend from the rank: those that load its samples, and their helpers.
std::vector<const AgentProcess*> workers_of(const AgentFiles& files, const AgentProcess& rank);

/// A line that workers of a rank's loaders ran, all of them together, from their start on.
struct WorkerSite {
  SiteKind kind = SiteKind::unknown;
  std::string function, file;  ///< as the job wrote them, as in AgentSite
  std::uint32_t line = 0;
  std::size_t workers = 0;
  std::uint64_t times = 0;
  double seconds = 0, longest_s = 0;

  double seconds_per_time() const { return times > 0 ? seconds / static_cast<double>(times) : 0; }
};
/// Of workers_of(), the most expensive first of each kind.
std::vector<WorkerSite> worker_sites(const AgentFiles& files, const AgentProcess& rank);

}  // namespace gpubench
