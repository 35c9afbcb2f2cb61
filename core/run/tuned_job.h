// What came of the remedies that were tried on a job: how many times as fast each one is, as text and as facts.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/measure/estimate.h"
#include "core/results/info.h"

namespace gpubench {

/// Smaller gains than this are none, as processes of one program differ by so much.
inline constexpr double least_gain = 1.02;

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

/// The settings of a remedy as the agent takes them: "channels_last", "workers=4,pin_memory".
std::string setting_of(const TriedRemedy& remedy);

std::string tuned_text(const TunedJob& tuned);
Info tuned_info(const TunedJob& tuned);

}  // namespace gpubench
