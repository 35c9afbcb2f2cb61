// Computes the best settings of a pipeline's stages from measurements of a time window: a pure function, without
// clocks, threads or machines. The target rate is the lowest of three: what the consumer can take, what the cores can
// compute, and what the serial parts allow. Each stage gets the workers that this rate needs.
//
// After the stage-based optimizer of tf.data and Plumber's models (MLSys 2022). Rates are those of a worker with a core
// to itself, so that a busy machine is not mistaken for a slow disk; workers that brought no gain are removed again.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/data/tune/stage_progress.h"

namespace gpubench {

/// Times are per element of the whole pipeline's output.
struct StageLoad {
  Knob knob = Knob::none;
  int setting = 1;
  Seconds work{};    ///< of one worker with its own core; includes real waiting
  Seconds cpu{};     ///< CPU time of all its threads
  Seconds source{};  ///< in calls of its source, one at a time, without waiting for stages that have their own threads
  double starved = 0.0;          ///< share of the window in which its consumer waited for it
  double blocked = 0.0;          ///< share of the window in which it waited for its consumer
  std::int64_t unit_bytes = 0;   ///< of one more worker or buffer place
  std::int64_t fixed_bytes = 0;  ///< independent of the setting
};

struct PipelineLoad {
  double rate = 0.0;     ///< elements/s that the consumer received
  double starved = 0.0;  ///< share of the window in which the consumer waited
  std::vector<StageLoad> stages;
};

/// A stage and its counts in a window.
struct StageWindow {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t consumer = none;  ///< index of the next stage with its own threads
  Knob knob = Knob::none;
  int setting = 1;
  StageProgress done;
};

/// Elements that the pipeline's consumer received from the last stage.
std::int64_t delivered(std::span<const StageWindow> stages);
/// Converts the stages' counts to times per element of the pipeline's output, as if every thread had a core to itself.
/// At least one element must have been delivered in the window.
PipelineLoad pipeline_load(std::span<const StageWindow> stages, Seconds window);

struct TuningLimits {
  double cores = 1.0;
  std::int64_t ram_bytes = 0;
  int threads = 0;  ///< over all stages
};

struct Choice {
  int setting = 1;
  std::string why;
};

class AutotunePlanner {
 public:
  explicit AutotunePlanner(const TuningLimits& limits) : limits_(limits) {}

  /// Settings for the load's stages, which must be the same in each call.
  std::vector<Choice> plan(const PipelineLoad& load);

 private:
  struct StageMemory {
    int before_raise = 0;  // the earlier setting, while an increase is on trial
    double work_before_raise = 0.0;
    bool raised_surplus = false;  // the increase was for a consumer that still waited
    double surplus = 1.0;         // factor on the average need, which smooths fluctuations
    double surplus_work = 0.0;
    int ceiling = 0;  // more than this brought no gain; 0: unknown
    double ceiling_work = 0.0;
    int ceiling_age = 0;
    int lower_windows = 0;  // consecutive windows in which fewer were enough
    int lower_most = 0;     // the largest setting needed in one of them
  };

  void judge_raise(const PipelineLoad& load);
  void forget_what_changed(const PipelineLoad& load);
  Choice choose_workers(const PipelineLoad& load, std::size_t stage);
  Choice choose_buffer(const StageLoad& stage) const;
  void fit_threads(const PipelineLoad& load, std::vector<Choice>& choices) const;
  void fit_memory(const PipelineLoad& load, std::vector<Choice>& choices) const;

  TuningLimits limits_;
  std::vector<StageMemory> memory_;
  double rate_before_raise_ = 0.0;
  int windows_on_trial_ = 0;
};

}  // namespace gpubench
