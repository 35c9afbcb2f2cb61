// The thread that tunes a running pipeline: it reads the statistics of all stages, asks AutotunePlanner for settings
// and applies them. It starts only if a stage can be tuned.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/data/dataset.h"
#include "core/data/epoch_record.h"
#include "core/data/tune/autotune_plan.h"
#include "core/data/tune/machine_limits.h"
#include "core/data/tune/stage_progress.h"

namespace gpubench {

class Tuner {
 public:
  /// For one epoch of `root`; settings that it finds are kept in the root's record.
  Tuner(const Dataset& root, const TuningLimits& limits);
  ~Tuner();
  Tuner(const Tuner&) = delete;
  Tuner& operator=(const Tuner&) = delete;

  /// Over all stages; 0: unlimited.
  int most_threads() const { return limits_.threads; }
  /// The setting of `stage` at the end of the last epoch.
  std::optional<int> learnt(const Dataset& stage) const { return record_->learnt(&stage); }
  /// The first setting of `stage`: as much of `setting` as fits into the rest of the memory budget after earlier calls,
  /// at least 1. One unit takes `unit_bytes`, and the stage `fixed_bytes` besides.
  int first_setting(const Dataset& stage, int setting, std::int64_t unit_bytes, std::int64_t fixed_bytes);
  /// The reason for the stage's setting.
  std::string why(const Dataset& stage) const;

  void enter(const Dataset& dataset, Knob knob, Tunable& stage);
  void leave(Tunable& stage);

 private:
  struct Stage {
    const Dataset* dataset = nullptr;
    std::size_t parent = 0;
    Knob knob = Knob::none;
    std::vector<Tunable*> running;  // several if a source is opened more than once at a time
    StageProgress ended;            // of cursors that have ended
    StageProgress before;           // at the start of the window
    std::string why;
    std::int64_t first_bytes = 0;  // memory that its first setting may take
  };
  using Learnt = std::vector<std::pair<const Dataset*, int>>;

  void add_stages(const Dataset& dataset, std::size_t parent);
  Stage* find(const Dataset& dataset);
  std::size_t consumer_of(std::size_t stage) const;
  void work();
  Learnt tick();
  bool measure(const std::vector<std::size_t>& active, PipelineLoad& load);

  const std::shared_ptr<EpochRecord> record_;
  mutable std::mutex mutex_;  // guards all members below; stages may be locked while it is held, but must never lock it
  std::vector<Stage> stages_;
  AutotunePlanner planner_;
  std::vector<std::size_t> planned_;
  const TuningLimits limits_;
  Stopwatch window_;
  bool closed_ = false;
  std::condition_variable closing_;
  std::thread thread_;
};

}  // namespace gpubench
