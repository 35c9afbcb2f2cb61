// What may have caused a change between two runs, from what is known of their environments.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace gpubench {

struct FactDifference {
  std::string name;           ///< "devices.gpu:0.details.driver"
  std::string before, after;  ///< empty where the run has no such fact
};

/// Both as RunValues::environment.
std::vector<FactDifference> differences(std::string_view before, std::string_view after);

/// "code (program.commit a -> b)", "environment (...)", "method (...)", or several of them; empty if nothing differs.
std::string cause_text(const std::vector<FactDifference>& differences);

/// Where no fact differs: many series of the host moved with the same run, or only this one.
inline constexpr std::string_view machine_cause =
    "machine: no recorded fact differs, and other experiments on this host changed too";
inline constexpr std::string_view unknown_cause = "unknown: no recorded fact differs";

}  // namespace gpubench
