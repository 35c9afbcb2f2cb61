// The first steps of a job, run in a process of its own that ends behind them: what one trial of a remedy measures.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"

namespace gpubench {

struct StepsRun {
  std::vector<std::string> command;
  std::vector<std::string> remedies{};
  std::uint64_t from = 0, to = 0;  ///< steps that count: [from, to), numbered from 0; of Keras batches
  Seconds time{60};                ///< to the last of them
};
struct StepsOfRun {
  std::optional<double> step_s{};  ///< mean, of the slowest rank
  std::string why_none{};
  bool is_disturbed = false;  ///< other programs took processors
  int asked = 0;              ///< a signal that asked for the end; 0: none
};
/// Ends the job behind the last of the steps. Throws Error if it cannot be started.
StepsOfRun run_steps(const StepsRun& run);

}  // namespace gpubench
