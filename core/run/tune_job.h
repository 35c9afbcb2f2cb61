// Remedies that the agent can apply to a job from outside, each measured on this very job: fresh processes run its
// first steps as it is and with the remedy, in turn.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/run/tuned_job.h"

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

/// The names of the remedies: each is a file of the agent.
std::vector<std::string> job_remedies();

/// `say` is called with a line for each thing that is about to happen.
TunedJob tune_job(const TuneJobOptions& options, const std::function<void(const std::string&)>& say);

}  // namespace gpubench
