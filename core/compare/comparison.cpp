#include "core/compare/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/compare/row_changes.h"
#include "core/compare/stored_call.h"
#include "core/measure/shift.h"
#include "core/measure/stats/quantile.h"

namespace gpubench {

void check_figures(std::span<const MatchedRow> rows, const ComparisonOptions& options) {
  std::vector<std::string> asked = options.figures;
  for (const auto& [name, better] : options.better) asked.push_back(name);
  if (asked.empty()) return;
  std::set<std::string> known;
  for (const MatchedRow& row : rows)
    for (const Column& column : figures_of_row(row)) known.insert(column.name);
  const std::vector<std::string> names(known.begin(), known.end());
  for (const std::string& one : asked)
    if (!known.contains(one)) throw_unknown_name("compare: unknown figure", one, names_of(names));
}

namespace {

/// By process: the mean logarithm of its figures over all rows.
class ProcessMeans {
 public:
  void add(const std::vector<double>& figures) {
    if (rows_++ == 0) sums_.assign(figures.size(), 0);
    is_whole_ = is_whole_ && figures.size() == sums_.size();
    for (std::size_t i = 0; is_whole_ && i < figures.size(); ++i) sums_[i] += std::log(figures[i]);
  }
  /// Whether all processes have measured all rows: means of other rows are not comparable.
  bool is_whole() const { return is_whole_; }
  std::vector<double> means() const {
    std::vector<double> means = sums_;
    for (double& one : means) one /= static_cast<double>(rows_);
    return means;
  }

 private:
  std::size_t rows_ = 0;
  bool is_whole_ = true;
  std::vector<double> sums_;
};

/// The figures of a process move together, so that the mean has an interval of its own. Means without one are left out.
std::vector<GeometricMean> means_of(const std::vector<ComparedRow>& rows) {
  struct Sides {
    ProcessMeans before, after;
  };
  std::vector<GeometricMean> means;
  std::vector<Sides> sides;
  std::map<std::pair<std::size_t, std::string>, std::size_t> places;
  for (const ComparedRow& row : rows) {
    for (const Change& change : row.changes) {
      if (!change.log_ratio || !change.compares_figures()) continue;
      const auto [place, is_new] = places.emplace(std::pair(row.side, change.column.name), means.size());
      if (is_new) {
        means.push_back({.side = row.side, .column = change.column});
        sides.emplace_back();
      }
      sides[place->second].before.add(change.figures_before);
      sides[place->second].after.add(change.figures_after);
      ++means[place->second].rows;
    }
  }
  for (std::size_t i = 0; i < means.size(); ++i) {
    const auto& [before, after] = sides[i];
    if (!before.is_whole() || !after.is_whole()) continue;
    const Shift shift(before.means(), after.means());
    means[i].log_ratio = {shift.value(), shift.interval(interval_error)};
  }
  std::erase_if(means, [](const GeometricMean& mean) { return !std::isfinite(mean.log_ratio.interval.low); });
  return means;
}

/// Figures that are drawn from in one comparison, at most. Each takes 100 draws, some 20 microseconds.
constexpr std::size_t most_resampled = 200'000;

/// Figures of one figure of a row that a comparison of both sides resamples; none where a side has one process only.
std::size_t resampled_figures(const MatchedRow& row, std::size_t side) {
  std::size_t figures = 0;
  for (const std::size_t one : {std::size_t{0}, side}) {
    if (row.sides[one].size() < 2) return 0;
    for (const RowOfProcess& process : row.sides[one]) figures += process.records.size();
  }
  return figures;
}

void check_work(std::span<const MatchedRow> rows, std::size_t sides, const ComparisonOptions& options) {
  std::size_t figures = 0;
  for (const MatchedRow& row : rows) {
    std::size_t of_each = 0;
    for (std::size_t side = 1; side < sides; ++side) of_each += resampled_figures(row, side);
    if (of_each > 0 && row.measured(0)) figures += of_each * chosen_figures(row, options).size();
    if (figures > most_resampled)
      throw Error(
          fmt::format("compare: more than {} figures of rows that several processes have measured; choose some "
                      "by --figure, or compare fewer processes or rows",
                      most_resampled));
  }
}

/// Programs that differ, on one machine, are builds.
SideKind kind_of(std::span<const Difference> differences, std::size_t side) {
  bool code = false, machine = false;
  for (const Difference& one : differences) {
    if (one.values.at(side) == one.values.front()) continue;
    code = code || one.origin == FactOrigin::code;
    machine = machine || one.origin == FactOrigin::machine;
  }
  return code && !machine ? SideKind::builds : SideKind::machines;
}

// ---- How to measure more

std::optional<double> seconds_at(const std::string& utc) {
  std::tm time{};
  if (::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time) == nullptr) return std::nullopt;
  return static_cast<double>(::timegm(&time));
}

std::optional<double> seconds_of(const Side& side) {
  std::vector<double> seconds;
  for (const MeasuringProcess& one : side.processes) {
    const auto begin = seconds_at(one.info.text("started")), end = seconds_at(one.info.text("finished"));
    if (begin && end && *end >= *begin) seconds.push_back(std::max(*end - *begin, 1.0));
  }
  return seconds.empty() ? std::nullopt : std::optional<double>(median(seconds));
}

/// Why sides differ whose fingerprints are equal.
std::string cause_without_difference(const Side& side) {
  const std::vector<std::string>& varied = side.processes.front().varied;
  if (!varied.empty()) return fmt::format("the sides were given different settings: {}", fmt::join(varied, ", "));
  return "noise or the state of the machine: no fingerprint differs";
}

/// Adds the row's figures without a direction to `names`.
void add_without_direction(const MatchedRow& row, const ComparedRow& compared, const ComparisonOptions& options,
                           std::set<std::string>& names) {
  for (const Change& change : compared.changes)
    if (change.column.better == Better::neither) names.insert(change.column.name);
  const bool is_of_others = !row.sides.front().front().process->writer.empty();
  if (!is_of_others || !options.figures.empty()) return;
  const auto is_directed = [&](const std::string& name) {
    return std::ranges::any_of(options.better, [&](const auto& one) { return one.first == name; });
  };
  for (const Column& column : figures_of_row(row))
    if (column.better == Better::neither && !is_directed(column.name)) names.insert(column.name);
}

/// None for results of others, archives, and runs that cannot be measured again.
CommandForMore command_of(const Side& side) {
  const MeasuringProcess& process = side.processes.front();
  std::error_code none;
  if (!std::filesystem::is_directory(process.source, none)) return {};
  try {
    const StoredCall call = stored_call(process.source, process.info);
    CommandForMore more{.command = {"gpubench", "run", call.script.string()}, .rest = {}};
    more.command.insert(more.command.end(), call.options.begin(), call.options.end());
    return more;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

std::vector<const Change*> counted_changes(const ComparedRow& row) {
  constexpr std::array<std::string_view, 3> of_steps = {"step_time_s", "examples_per_s", "flops_per_s"};
  std::vector<const Change*> counted;
  const Change** speed = nullptr;
  counted.reserve(row.changes.size());
  for (const Change& change : row.changes) {
    if (std::ranges::find(of_steps, change.column.name) == of_steps.end()) {
      counted.push_back(&change);
    } else if (speed == nullptr) {
      speed = &counted.emplace_back(&change);
    } else if (change.verdict < (*speed)->verdict) {
      *speed = &change;
    }
  }
  return counted;
}

std::size_t Comparison::count(ChangeVerdict verdict) const {
  std::size_t count = 0;
  for (const ComparedRow& row : rows)
    count += static_cast<std::size_t>(std::ranges::count(counted_changes(row), verdict, &Change::verdict));
  return count;
}

std::size_t Comparison::counted() const {
  std::size_t count = 0;
  for (const ComparedRow& row : rows) count += counted_changes(row).size();
  return count;
}

bool Comparison::has_too_few_processes() const {
  return std::ranges::all_of(rows, [](const ComparedRow& row) {
    return std::ranges::all_of(counted_changes(row), [](const Change* change) {
      return change->verdict == ChangeVerdict::ambiguous &&
             std::min(change->processes_before, change->processes_after) < least_processes;
    });
  });
}

std::size_t Comparison::tested() const {
  std::size_t count = 0;
  for (const ComparedRow& row : rows)
    for (const Change& change : row.changes) count += change.compares_figures() && change.false_positive_rate > 0;
  return count;
}

double Comparison::expected_false_alarms() const {
  double sum = 0;
  for (const ComparedRow& row : rows)
    for (const Change& change : row.changes)
      if (change.compares_figures()) sum += change.false_positive_rate;
  return sum;
}

Comparison compare_sides(std::span<const Side> sides, const ComparisonOptions& options) {
  if (sides.size() < 2)
    throw Error("compare: at least two sides are needed: the baseline, and what is compared with it");
  check_disjoint(sides);
  Comparison comparison;
  for (const Side& side : sides) comparison.sides.push_back({side.name, side.processes.size()});
  comparison.differences = differences_between(sides);
  comparison.new_rows.assign(sides.size(), 0);
  comparison.seconds_of_process = seconds_of(sides.front());
  comparison.more = command_of(sides.back());
  const std::vector<MatchedRow> rows = match_rows(sides);
  check_figures(rows, options);
  check_work(rows, sides.size(), options);
  std::vector<const MatchedRow*> matched;
  for (std::size_t side = 1; side < sides.size(); ++side) {
    for (const MatchedRow& row : rows) {
      if (!row.measured(0)) {
        comparison.new_rows[side] += row.measured(side);
        continue;
      }
      comparison.common_rows += row.measured(side);
      ComparedRow compared = compare_row(row, side, options);
      if (compared.changes.empty()) continue;
      add_without_direction(row, compared, options, comparison.without_direction);
      comparison.rows.push_back(std::move(compared));
      matched.push_back(&row);
    }
  }
  for (ComparedRow& row : comparison.rows)
    for (Change& change : row.changes) judge_change(change);
  for (std::size_t i = 0; i < matched.size(); ++i) {
    ComparedRow& compared = comparison.rows[i];
    doubt_called(*matched[i], kind_of(comparison.differences, compared.side), compared);
  }
  if (comparison.common_rows == 0) comparison.why_no_common_row = why_no_common_row(rows);
  comparison.means = means_of(comparison.rows);
  for (std::size_t side = 0; side < sides.size(); ++side) {
    std::string cause = side == 0 ? "" : cause_text(comparison.differences, side, CauseDetail::keys);
    if (side > 0 && cause.empty()) cause = cause_without_difference(sides[side]);
    comparison.causes.push_back(std::move(cause));
  }
  return comparison;
}

void confirm(Comparison& comparison, const Comparison& again) {
  const auto found_again = [&](const ComparedRow& row, const Change& change) -> const Change* {
    for (const ComparedRow& other : again.rows) {
      if (other.key.experiment != row.key.experiment || other.key.text() != row.key.text()) continue;
      const auto same =
          std::ranges::find(other.changes, change.column.name, [](const Change& one) { return one.column.name; });
      if (same != other.changes.end()) return &*same;
    }
    return nullptr;
  };
  for (ComparedRow& row : comparison.rows) {
    for (Change& change : row.changes) {
      if (change.verdict != ChangeVerdict::worse) continue;
      const Change* const second = found_again(row, change);
      if (second && second->verdict == ChangeVerdict::worse) continue;
      const std::string looked =
          fmt::format("looked {}, {}", word_of(ChangeVerdict::worse, change.column), text_of_change(change));
      if (second == nullptr) {  // what could not be looked at again stays an alarm
        change.reason = looked + "; it was not measured again";
      } else if (second->verdict == ChangeVerdict::vanished) {
        change.verdict = ChangeVerdict::vanished;
        change.reason = fmt::format("{}; measured again: {}", looked, second->reason);
      } else {
        change.verdict = ChangeVerdict::ambiguous;
        change.reason = fmt::format("{}; measured again: {}, {} {}", looked, word_of(second->verdict, change.column),
                                    text_of_change(*second), interval_text(*second));
      }
    }
  }
}

int exit_status_of(const Comparison& comparison, bool strict) {
  constexpr int loud = 1, nothing_to_judge = 3;
  if (comparison.common_rows == 0) return nothing_to_judge;
  if (comparison.count(ChangeVerdict::worse) + comparison.count(ChangeVerdict::vanished) > 0) return loud;
  if (comparison.count(ChangeVerdict::invalid) > 0 || comparison.has_too_few_processes()) return nothing_to_judge;
  return strict && comparison.count(ChangeVerdict::ambiguous) > 0 ? nothing_to_judge : 0;
}

}  // namespace gpubench
