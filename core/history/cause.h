// What may have caused a change between two runs, from what is known of their environments.
#pragma once
#include <string>
#include <string_view>

namespace gpubench {

/// "code (program.commit a -> b)", "environment (...)", "method (...)", or several of them; empty if nothing differs.
/// Both as RunValues::environment.
std::string cause_between(std::string_view before, std::string_view after);

/// Where no fact differs: many series of the host moved with the same run, or only this one.
inline constexpr std::string_view machine_cause =
    "machine: no recorded fact differs, and other experiments on this host changed too";
inline constexpr std::string_view unknown_cause = "unknown: no recorded fact differs";

}  // namespace gpubench
