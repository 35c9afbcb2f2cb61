// Claims of a night's runs that are refuted: news where the night before confirmed them. What was never confirmed, such
// as a speed-up that this machine does not give, is no news.
#pragma once
#include <string>
#include <vector>

#include "core/history/history.h"
#include "core/results/run_reader.h"

namespace gpubench {

struct RefutedClaim {
  std::string line;   ///< "matmul_peak on gpu:0: the claim (the reason)"
  bool news = false;  ///< false: an earlier night has reported it
};

/// What a run is of: the script with its settings on a device, in a suite.
struct NightJob {
  std::string suite, job;
  std::string night = {};   ///< its id
  std::string device = {};  ///< that the job names; empty: none
  /// Its claims are about the machine's health: each night in which one is refuted reports it as news.
  bool always_news = false;
};

/// The refuted claims of a run that are news or were reported. Stores the verdicts for the next night, and the news; an
/// open claim changes nothing.
std::vector<RefutedClaim> judge_claims(RunHistory& history, const Run& run, const NightJob& of);

}  // namespace gpubench
