// The fields at the top of run.json, declared in one table: RunWriter refuses others, and a test writes the table of
// docs/runs.md from it.
#pragma once
#include <span>
#include <string_view>

namespace gpubench {

struct RunField {
  std::string_view name;
  /// When it is there: "always", or a condition.
  std::string_view present;
  /// What it says, with the names of its parts.
  std::string_view meaning;
};

/// In the order in which the table of the documentation has them.
std::span<const RunField> run_fields();

}  // namespace gpubench
