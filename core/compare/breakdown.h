// Where the time of a row went on two sides: the classes of its steps, as shares that rows have where they were traced.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/compare/match.h"

namespace gpubench {

struct ClassChange {
  std::string_view name;  ///< of StepClass
  /// Shares of the step: medians over the processes.
  double before = 0, after = 0;
  /// Seconds of a step that the class takes more; empty where the rows have no step time.
  std::optional<double> added_s = std::nullopt;
};

struct BreakdownChange {
  /// Those that both sides have, in the order of result files.
  std::vector<ClassChange> classes = {};
  /// Seconds that a step takes more; empty where the rows have no step time.
  std::optional<double> added_s = std::nullopt;

  /// "input wait: 1.2 ms of the 1.3 ms that a step takes longer": the class that explains most of a step's change.
  /// Empty where no class explains a third of it.
  std::string main_class_text() const;
};

/// `side` is compared with the first one.
BreakdownChange breakdown_change(const MatchedRow& row, std::size_t side);

}  // namespace gpubench
