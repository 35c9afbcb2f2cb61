// Remedies that the agent can apply to a job from outside, each measured on this very job: fresh processes run its
// first steps as it is and with the remedy, in turn.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/measure/estimate.h"
#include "core/results/info.h"

namespace gpubench {

struct TuneJobOptions {
  std::vector<std::string> command;
  std::filesystem::path out = ".";
  Seconds budget{300};              ///< of all runs of the job together
  std::uint64_t steps = 0;          ///< of each run; 0: as many as take three seconds, two epochs where these are short
  std::vector<std::string> only{};  ///< names of remedies; empty: those that can cure what was found
  bool allows_learning = false;
  bool is_dry = false;
};

enum class RemedyOutcome : std::uint8_t {
  helps,
  no_gain,
  worse,
  open,       ///< the runs that fitted did not settle it
  failed,     ///< the job did not reach its steps, or the remedy could not be applied
  not_tried,  ///< it does not apply, cures another cause, or changes what is learned
};

/// A remedy, or two together.
struct TriedRemedy {
  std::string name;                     ///< empty of two together
  std::vector<std::string> settings{};  ///< of each: NAME or NAME=VALUE
  std::string changes{};
  std::vector<std::string> lines{};  ///< to write by hand
  std::string place{};               ///< "train.py:31"
  RemedyOutcome outcome = RemedyOutcome::not_tried;
  std::string why{};             ///< of failed and not_tried
  std::vector<double> step_s{};  ///< of each process
  /// How many times as fast a step is, with a 95 % interval where there are enough processes.
  Estimate times{};
  bool has_interval = false;
};

struct TunedJob {
  std::filesystem::path run;  ///< of the first run, with the verdict
  std::string why_none{};     ///< why nothing could be tuned
  std::vector<std::string> causes{};
  std::uint64_t steps = 0, warm_steps = 0;
  double expected_s = 0;            ///< of a run of the job
  std::vector<double> as_it_was{};  ///< seconds of a step, of each process
  std::vector<TriedRemedy> remedies{};
  std::vector<std::string> notes{};
};

/// The names of the remedies: each is a file of the agent.
std::vector<std::string> job_remedies();

/// `say` is called with a line for each thing that is about to happen.
TunedJob tune_job(const TuneJobOptions& options, const std::function<void(const std::string&)>& say);

std::string tuned_text(const TunedJob& tuned);
Info tuned_info(const TunedJob& tuned);

}  // namespace gpubench
