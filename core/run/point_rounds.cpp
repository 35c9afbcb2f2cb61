#include "core/run/point_rounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "core/base/units.h"
#include "core/measure/estimate.h"
#include "core/measure/stats/quantile.h"
#include "core/results/mean_over_processes.h"
#include "core/results/row_check.h"
#include "core/results/step_classes.h"

namespace gpubench {
namespace {

using Rows = std::vector<const Record*>;

bool is_ok(const Record& row) {
  return to_text(row.get("status")) == "ok";
}

std::string end_of(std::string_view column, std::string_view end) {
  return interval_end(column_of(column), end);
}

/// Whole numbers stay whole ones.
Cell cell_of(double value, bool is_whole) {
  constexpr double most = 9223372036854775808.0;  // 2^63
  if (is_whole && value == std::floor(value) && std::abs(value) < most) return static_cast<std::int64_t>(value);
  return value;
}

struct Numbers {
  std::vector<double> values;
  bool are_whole = true;

  Numbers(const Rows& rows, std::string_view column) {
    for (const Record* const row : rows) {
      const Cell& cell = row->get(column);
      const auto value = number_in(cell);
      if (!value || std::isnan(*value)) continue;
      values.push_back(*value);
      are_whole = are_whole && std::holds_alternative<std::int64_t>(cell);
    }
  }
  Cell sum() const {
    double total = 0;
    for (const double value : values) total += value;
    return cell_of(total, are_whole);
  }
};

void set_median(Record& row, const std::string& column, const Numbers& numbers, bool has_interval) {
  const std::optional<Estimate> one = estimate_independent(numbers.values);
  row.set(column, cell_of(one ? one->value : median(numbers.values), numbers.are_whole));
  const bool is_known = one && has_interval;
  row.set(end_of(column, "low"), is_known ? cell_of(one->interval.low, numbers.are_whole) : Cell());
  row.set(end_of(column, "high"), is_known ? cell_of(one->interval.high, numbers.are_whole) : Cell());
}

/// Shares exclude each other and sum to 1 in every round; their medians, each by itself, need not. Sums and parts of
/// some of them are divided by the same number.
void let_shares_sum_to_one(Record& row) {
  if (!row.has("other_share")) return;
  std::vector<std::string_view> shares;
  double total = 0;
  for (const StepClass& one : step_classes) {
    shares.push_back(one.column);
    total += number_in(row.get(one.column)).value_or(0);
  }
  if (total <= 0) return;
  shares.insert(shares.end(), {"device_busy", "small_kernel_share"});
  for (const std::string_view share : shares) {
    for (const std::string& column : {std::string(share), end_of(share, "low"), end_of(share, "high")}) {
      if (const auto value = number_in(row.get(column))) row.set(column, std::min(*value / total, 1.0));
    }
  }
}

/// Rates come from the mean step and step times from the median. Where they disagree, a reader of one has to know.
void note_slow_mean(Record& row) {
  constexpr double most_apart = 1.25;
  const auto examples = number_in(row.get("batch_size")), rate = number_in(row.get("examples_per_s")),
             step_s = number_in(row.get("step_time_s"));
  if (!examples || !rate || !step_s || *step_s <= 0) return;
  const double times = *examples / *rate / *step_s;
  if (times < most_apart) return;
  const std::string text = fmt::format("the mean step takes {:.1f} times as long as the median", times);
  row.set("detail", row.has("detail") ? to_text(row.get("detail")) + "; " + text : text);
}

/// The columns by name, without empty cells: the order of results.csv.
Record by_name(const Record& row) {
  std::vector<std::pair<std::string, Cell>> cells;
  for (const auto& [name, cell] : row.cells())
    if (!is_empty(cell)) cells.emplace_back(name, cell);
  std::ranges::sort(cells, {}, &std::pair<std::string, Cell>::first);
  return Record(std::move(cells));
}

}  // namespace

Kind SweepColumns::kind_of(std::string_view column) const {
  const auto found = own.find(column);
  return found == own.end() ? column_of(column).kind : found->second.kind;
}

bool SweepColumns::is_disturbed(std::string_view column) const {
  return quality_column(kind_of(column)) == "quality";
}

void PointRounds::add(const PointCall& call, double seconds) {
  const std::size_t round = rounds_.size() + 1;
  seconds_ = seconds;
  std::vector<Record> rows = call.rows();
  if (call.has_failed()) {
    for (Record& row : rows) {
      if (round == 1) break;
      const std::string why = to_text(row.get(row.has("detail") ? "detail" : "status"));
      row.set("detail", fmt::format("in round {}: {}", round, why));
    }
    failed_ = std::move(rows);
  } else if (round > 1 && rows.size() != rounds_.front().rows.size()) {
    const auto count = [](const auto& all) { return format_count(static_cast<std::int64_t>(all.size()), "row"); };
    Record row{{"status", std::string("error")}};
    row.set("detail", fmt::format("run returned {} in round 1 and {} in round {}; every call must return as many",
                                  count(rounds_.front().rows), count(rows), round));
    failed_ = {std::move(row)};
  } else {
    rounds_.push_back({std::move(rows), call.disturbance(), call.lost_share()});
  }
}

std::int64_t PointRounds::calm() const {
  return std::ranges::count_if(rounds_, [](const Round& round) { return !round.disturbed; });
}

double PointRounds::worst_lost_share() const {
  double worst = 0;
  for (const Round& round : rounds_) worst = std::max(worst, round.disturbed ? round.lost_share : 0);
  return worst;
}

std::vector<Record> PointRounds::merged(std::int64_t planned, const std::optional<std::string>& too_long) const {
  std::vector<Record> rows = failed_;
  const std::size_t count = !rows.empty() || rounds_.empty() ? 0 : rounds_.front().rows.size();
  for (std::size_t index = 0; index < count; ++index) rows.push_back(merged_row(index, planned));
  for (Record& row : rows) {
    row.set("point", number_);
    row.set("point_time_s", seconds_);
    if (is_ok(row)) {
      note_slow_mean(row);
      if (too_long) set_doubt(row, {DoubtKind::too_long, *too_long});
    }
    row = by_name(row);
  }
  return rows;
}

Record PointRounds::merged_row(std::size_t index, std::int64_t planned) const {
  Rows all, calm;
  Doubt why;
  for (const Round& round : rounds_) {
    const Record& row = round.rows[index];
    all.push_back(&row);
    const Doubt doubt = round.disturbed ? round.disturbed : doubt_in(row);
    if (!doubt) calm.push_back(&row);
    if (!why) why = doubt;
  }
  Record merged = medians(all, calm.empty() ? all : calm);
  merged.set("rounds", static_cast<std::int64_t>(all.size()));
  note_not_numbers(merged);
  if (planned > 1 && calm.size() < least_for_interval && has_times(merged)) {
    set_doubt(merged, {why ? why.kind : DoubtKind::unfinished,
                       fmt::format("the times of {} of {} rounds count, {} are needed{}", calm.size(),
                                   why ? static_cast<std::int64_t>(all.size()) : planned, least_for_interval,
                                   why ? ": " + why.text : "")});
  }
  if (planned == 1 && why && !doubt_in(merged) && has_times(merged)) set_doubt(merged, why);
  return merged;
}

Record PointRounds::medians(const Rows& all, const Rows& calm) const {
  const Record& first = *calm.front();
  if (all.size() == 1) return first;
  std::set<std::string, std::less<>> ends;
  for (const auto& [name, cell] : first.cells()) {
    for (const char* const end : {"low", "high"}) ends.insert(end_of(name, end));
  }
  Record merged = first;
  for (const auto& cell : first.cells()) {
    const std::string& name = cell.first;
    const Kind kind = sweep_.kind_of(name);
    const Rows& rows = sweep_.is_disturbed(name) ? calm : all;
    // No median may hide a figure that is no number.
    const auto lost = std::ranges::find_if(rows, [&](const Record* row) { return is_not_number(row->get(name)); });
    if (lost != rows.end()) {
      merged.set(name, (*lost)->get(name));
      continue;
    }
    const Numbers numbers(rows, name);
    if (rows.size() < 2 || numbers.values.empty()) continue;
    if (kind == Kind::extent) {
      merged.set(name, numbers.sum());
    } else if (kind != Kind::setting && !ends.contains(name)) {
      set_median(merged, name, numbers, sweep_.with_interval.contains(name) || first.has(end_of(name, "low")));
    }
  }
  if (calm.size() < 2) return merged;
  let_shares_sum_to_one(merged);
  if (merged.has("stop_reason")) {
    merged.set("stop_reason", fmt::format("{} rounds; the first: {}", calm.size(), to_text(merged.get("stop_reason"))));
  }
  return merged;
}

/// Whether a busy machine changes any figure of the row.
bool PointRounds::has_times(const Record& row) const {
  constexpr std::array<std::string_view, 3> of_every_row{"cpu_lost_share", "cpu_clock_hz", "point_time_s"};
  return std::ranges::any_of(row.cells(), [&](const auto& one) {
    return number_in(one.second) && std::ranges::find(of_every_row, one.first) == of_every_row.end() &&
           !sweep_.axes.contains(one.first) && sweep_.is_disturbed(one.first);
  });
}

std::vector<RowOfRound> PointRounds::rounds_of(std::size_t index) const {
  std::vector<RowOfRound> list;
  if (!failed_.empty()) return list;
  for (const Round& round : rounds_) {
    std::map<std::string, std::size_t> places;  // by process
    std::vector<Record> rows;
    bool counts = !round.disturbed;
    for (const Record& row : round.rows) {
      if (places[to_text(row.get("process"))]++ != index) continue;
      counts = counts && !doubt_in(row);
      rows.push_back(row);
    }
    if (rows.size() > 1) rows = mean_over_processes(rows);
    if (rows.empty()) return {};  // process 0 has fewer rows than in another round
    list.push_back({std::move(rows.front()), counts});
  }
  return list;
}

}  // namespace gpubench
