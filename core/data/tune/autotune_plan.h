// What a pipeline's stages should be set to, as a function of what was measured in a window of time: no clocks, threads
// or machines in here. The goal is the rate of the slowest of three: what the consumer can take, what the cores can
// compute, what goes through a part that only one thread can do. Each stage gets the workers that this rate needs.
//
// After the stage-based optimizer of tf.data and Plumber's models (MLSys 2022). Rates are those of a worker that has a
// core to itself, so that a busy machine is not mistaken for a slow disk, and more workers that brought nothing are
// taken back.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/data/tune/stage_progress.h"

namespace gpubench {

/// Times are per element that the consumer of the whole pipeline gets.
struct StageLoad {
  Knob knob = Knob::none;
  int setting = 1;
  Seconds work{};        ///< of one worker with a core of its own; real waiting is part of it
  Seconds cpu{};         ///< computing, of all its threads
  Seconds source{};      ///< in its source's calls, one at a time, without waiting for stages with threads of their own
  double starved = 0.0;  ///< share of the window in which its consumer waited for it
  double blocked = 0.0;  ///< share in which it waited for its consumer
  std::int64_t unit_bytes = 0;   ///< of one more worker or place
  std::int64_t fixed_bytes = 0;  ///< beside them
};

struct PipelineLoad {
  double rate = 0.0;     ///< elements/s that the consumer got
  double starved = 0.0;  ///< share of the window in which the consumer waited
  std::vector<StageLoad> stages;
};

/// A stage, and what it counted in a window.
struct StageWindow {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t consumer = none;  ///< index of the next stage with threads of its own
  Knob knob = Knob::none;
  int setting = 1;
  StageProgress done;
};

/// What the pipeline's own consumer got: of the last stage.
std::int64_t delivered(std::span<const StageWindow> stages);
/// What the stages counted as times per element of the pipeline's output, as if every thread had had a core to itself.
/// Something must have been delivered in the window.
PipelineLoad pipeline_load(std::span<const StageWindow> stages, Seconds window);

struct TuningLimits {
  double cores = 1.0;
  std::int64_t ram_bytes = 0;
  int threads = 0;  ///< of all stages together
};

struct Choice {
  int setting = 1;
  std::string why;
};

class AutotunePlanner {
 public:
  explicit AutotunePlanner(const TuningLimits& limits) : limits_(limits) {}

  /// Choices for the load's stages, which are the same in each call.
  std::vector<Choice> plan(const PipelineLoad& load);

 private:
  struct StageMemory {
    int before_raise = 0;  // the setting, while a raise is on trial
    double work_before_raise = 0.0;
    bool raised_surplus = false;  // the raise was for a consumer that still waited
    double surplus = 1.0;         // times what is needed on average: what evens out ups and downs
    double surplus_work = 0.0;
    int ceiling = 0;  // what more than this brought nothing; 0: unknown
    double ceiling_work = 0.0;
    int ceiling_age = 0;
    int lower_windows = 0;  // in a row in which fewer were enough
    int lower_most = 0;     // the most that one of them wanted
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
