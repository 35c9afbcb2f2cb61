#include "core/compare/breakdown.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

#include "core/base/units.h"
#include "core/compare/row_changes.h"
#include "core/measure/stats/quantile.h"
#include "core/results/step_classes.h"

namespace gpubench {
namespace {

// A class that explains less of the change is not named as its place.
constexpr double least_part = 1.0 / 3;

std::optional<double> median_of(const Processes& processes, std::string_view column) {
  const std::vector<ProcessFigures> figures = figures_in(processes, std::string(column));
  return figures.empty() ? std::nullopt : std::optional<double>(median(medians_of(figures)));
}

}  // namespace

BreakdownChange breakdown_change(const MatchedRow& row, std::size_t side) {
  const std::optional<double> old_step = median_of(row.sides.front(), "step_time_s"),
                              new_step = median_of(row.sides[side], "step_time_s");
  BreakdownChange change;
  if (old_step && new_step) change.added_s = *new_step - *old_step;
  for (const StepClass& step_class : step_classes) {
    const std::optional<double> before = median_of(row.sides.front(), step_class.column),
                                after = median_of(row.sides[side], step_class.column);
    if (!before || !after) continue;
    ClassChange& one =
        change.classes.emplace_back(ClassChange{.name = step_class.name, .before = *before, .after = *after});
    if (change.added_s) one.added_s = *after * *new_step - *before * *old_step;
  }
  return change;
}

std::string BreakdownChange::main_class_text() const {
  if (classes.empty() || added_s.value_or(0) == 0) return {};
  // By what each adds in the direction of the whole change.
  const auto part = [&](const ClassChange& one) { return *one.added_s / *added_s; };
  const ClassChange& main = *std::ranges::max_element(classes, {}, part);
  if (part(main) < least_part) return {};
  return fmt::format("{}: {} of the {} that a step takes {}", main.name, format_seconds(std::abs(*main.added_s)),
                     format_seconds(std::abs(*added_s)), *added_s > 0 ? "longer" : "less");
}

}  // namespace gpubench
