#include "core/run/job_difference.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/results/column.h"
#include "core/results/step_classes.h"

namespace gpubench {
namespace {

struct RankTime {
  const Record* row = nullptr;
  const Info* job = nullptr;
};

double number_of(const Record& row, std::string_view column) {
  return number_in(row.get(column)).value_or(0);
}

/// The step of the slowest rank is that of all.
RankTime slowest(std::span<const Record> rows, const Info::List& jobs) {
  RankTime side;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (number_of(rows[i], "step_time_s") <= (side.row != nullptr ? number_of(*side.row, "step_time_s") : 0)) continue;
    side = {&rows[i], i < jobs.size() ? &jobs[i] : nullptr};
  }
  return side;
}

void add_counters(const RankTime& side, TraceDifference& difference, TimeChanges& parts, TimeChanges& lines,
                  double TimeChange::*own, std::size_t TraceDifference::*count) {
  difference.*count = static_cast<std::size_t>(number_of(*side.row, "steps"));
  if (side.job == nullptr) return;
  for (const Info& part : side.job->items("parts"))
    add_time(parts, part.text("part"), part.number("time_s").value_or(0), own);
  for (const Info& site : side.job->items("sites"))
    add_time(lines, fmt::format("{} {}", site.text("kind"), site.text("place")), site.number("time_s").value_or(0),
             own);
}

bool is_longer(const Record& before, const Record& after) {
  constexpr double threshold = 1.01;
  const Column step = column_of("step_time_s");
  const auto high = number_in(before.get(interval_end(step, "high")));
  const auto low = number_in(after.get(interval_end(step, "low")));
  return high && low && *low > *high && number_of(after, "step_time_s") > threshold * number_of(before, "step_time_s");
}

}  // namespace

TraceDifference job_difference(const Run& before, std::span<const Record> rows, const Info::List& jobs) {
  const RankTime old = slowest(before.records, before.info.items("jobs")), now = slowest(rows, jobs);
  if (old.row == nullptr)
    throw Error(fmt::format("watch: --against: the run {} has no step to compare with",
                            shown_text(before.directory.filename().string())));
  if (now.row == nullptr) throw Error("watch: --against: this run has no step to compare");
  TraceDifference difference;
  difference.unit = "step";
  difference.step = {"step", number_of(*old.row, "step_time_s"), number_of(*now.row, "step_time_s")};
  for (const StepClass& one : step_classes)
    difference.classes.push_back({std::string(one.name), number_of(*old.row, one.column) * difference.step.before_s,
                                  number_of(*now.row, one.column) * difference.step.after_s});
  TimeChanges parts, lines;
  add_counters(old, difference, parts, lines, &TimeChange::before_s, &TraceDifference::before_count);
  add_counters(now, difference, parts, lines, &TimeChange::after_s, &TraceDifference::after_count);
  difference.parts = largest(parts);
  difference.lines = largest(lines);
  difference.is_slower = is_longer(*old.row, *now.row);
  difference.sentence = sentence_of(difference);
  return difference;
}

}  // namespace gpubench
