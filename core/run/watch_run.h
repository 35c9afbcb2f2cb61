// A job that is no script of gpubench, watched while it runs: the agent inside of its Python processes counts its steps
// and has its profiler record a window, gpubench reads from outside what the processes use, and a run tells both.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/results/info.h"
#include "core/results/run_reader.h"
#include "core/watch/job.h"

namespace gpubench {

struct WatchOptions {
  std::vector<std::string> command;
  std::filesystem::path out = ".";
  /// Of the steps that count: the report is made when they have taken so long, or when the job ends.
  Seconds time{60};
  bool stop = false;      ///< end the job when the report is made
  int at = -1;            ///< step with which the window begins; -1: behind the warm-up
  int window_steps = 12;  ///< 0: no window
  int prove_steps = 0;    ///< that run on batches which were kept in memory: the job's results are void then
  /// Names of the agent's remedies, "NAME" or "NAME=VALUE".
  std::vector<std::string> remedies{};
  bool is_quiet = false;  ///< the job's standard streams are /dev/null
  /// An earlier run of the job, with which its step is compared.
  std::optional<Run> against{};
};

struct WatchReport {
  std::filesystem::path run;  ///< empty: there is nothing to tell, and why_none says why
  std::string why_none;
  bool has_steps = false;
  /// Of the rank with the lowest number: the agent's facts about remedies, and what its steps are.
  std::vector<Info> remedies{};
  /// Steps are batches where a step may be a call of several of them (Keras).
  double step_s = 0;              ///< mean seconds of a step
  double start_s = 0;             ///< from the start of the process to the end of the warm-up
  std::uint64_t warm_steps = 0;   ///< steps of the warm-up
  std::uint64_t epoch_steps = 0;  ///< steps between two marks of epochs; 0: unknown
};

/// Runs the job to its end. `report` is called once: while the job goes on, or behind its end. Throws Error if the job
/// cannot be started.
JobEnd watch_job(const WatchOptions& options, const std::function<void(const WatchReport&)>& report);

}  // namespace gpubench
