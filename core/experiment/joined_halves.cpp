#include "core/experiment/joined_halves.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>

#include "core/results/column.h"

namespace gpubench {
namespace {

constexpr std::array highest = {"peak_memory_bytes", "reserved_memory_bytes", "temperature_c"};
constexpr std::string_view summed_column = "warmup_s";

double total(const std::vector<double>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0);
}

/// Shares of time, watts and clocks; a metric such as accuracy is a mean over examples.
bool is_of_time(std::string_view name) {
  const Column* const column = find_standard_column(name);
  if (column == nullptr || column->kind == Kind::learned) return false;
  return column->unit == Unit::share || column->unit == Unit::watts || column->unit == Unit::hertz;
}

class Join {
 public:
  Join(const TrainingMeasurement& first, const TrainingMeasurement& second)
      : of_time_(total(first.samples) / (total(first.samples) + total(second.samples))),
        of_steps_(static_cast<double>(first.samples.size()) /
                  static_cast<double>(first.samples.size() + second.samples.size())) {}

  double operator()(std::string_view column, double a, double b) const {
    if (std::ranges::find(highest, column) != highest.end()) return std::max(a, b);
    if (column == summed_column) return a + b;
    const double weight = is_of_time(column) ? of_time_ : of_steps_;
    return weight * a + (1 - weight) * b;
  }

 private:
  double of_time_, of_steps_;
};

}  // namespace

TrainingMeasurement joined_halves(const TrainingMeasurement& first, const TrainingMeasurement& second,
                                  const TrainingOptions& options) {
  TrainingMeasurement both = first;
  both.samples.insert(both.samples.end(), second.samples.begin(), second.samples.end());
  if (both.doubt.empty()) both.doubt = second.doubt;
  if (both.input_doubt.empty()) both.input_doubt = second.input_doubt;

  const Join join(first, second);
  for (const auto& [column, cell] : second.record.cells()) {
    const Cell& other = first.record.get(column);
    if (is_empty(other)) {
      both.record.set(column, cell);
    } else if (const auto* a = std::get_if<double>(&other), *b = std::get_if<double>(&cell); a != nullptr && b) {
      both.record.set(column, join(column, *a, *b));
    } else if (const auto* m = std::get_if<std::int64_t>(&other), *n = std::get_if<std::int64_t>(&cell); m && n) {
      both.record.set(column, std::max(*m, *n));
    }
  }
  // Set anew below where both halves together have an interval.
  for (const Column& column : standard_columns()) {
    if (!column.has_interval) continue;
    for (const std::string& end : {interval_end(column, "low"), interval_end(column, "high")}) {
      if (both.record.has(end)) both.record.set(end, Cell{});
    }
  }
  const auto batch = std::get<std::int64_t>(first.record.get("batch_size"));
  set_step_times(both.record, both.samples, batch, both.doubt);
  set_flop_rates(both.record, estimate_mean(both.samples), options.best_flops_per_s);
  both.record.set("stop_reason", fmt::format("{}; {}", std::get<std::string>(first.record.get("stop_reason")),
                                             std::get<std::string>(second.record.get("stop_reason"))));
  return both;
}

}  // namespace gpubench
