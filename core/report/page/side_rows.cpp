#include "core/report/page/side_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "core/base/error.h"
#include "core/compare/match.h"
#include "core/compare/row_changes.h"
#include "core/measure/estimate.h"
#include "core/measure/stats/quantile.h"
#include "core/report/chart/chart_info.h"
#include "core/report/text/run_table.h"
#include "core/results/csv.h"
#include "core/results/doubt.h"

namespace gpubench {
namespace {

bool is_figure(const Column& column) {
  return column.kind != Kind::text && column.kind != Kind::setting && column.kind != Kind::extent;
}

/// What is wrong with more than half of the processes.
Doubt doubt_about(const Processes& processes) {
  std::size_t doubtful = 0;
  Doubt last;
  for (const RowOfProcess& one : processes) {
    if (one.records.empty()) continue;
    const Doubt doubt = doubt_in(*one.records.front());
    if (!doubt) continue;
    ++doubtful;
    last = doubt;
  }
  return 2 * doubtful > processes.size() ? last : Doubt();
}

/// The median over the processes in place of the first one's figure.
void set_median(const MeasuringProcess& process, const Column& column, const Processes& processes, Record& record) {
  const bool is_axis = std::ranges::find(process.axes, column.name) != process.axes.end() ||
                       std::ranges::find(process.varied, column.name) != process.varied.end();
  if (is_axis || !is_figure(column)) return;
  const std::vector<double> medians = medians_of(figures_in(processes, column.name));
  if (medians.empty()) return;
  record.set(column.name, median(medians));
  const Interval interval = estimate_median(medians).interval;
  const bool known = std::isfinite(interval.low) && std::isfinite(interval.high);
  record.set(interval_end(column, "low"), known ? Cell(interval.low) : Cell());
  record.set(interval_end(column, "high"), known ? Cell(interval.high) : Cell());
}

Record measured_row(const Processes& processes) {
  const auto first = std::ranges::find_if(processes, [](const RowOfProcess& one) { return !one.records.empty(); });
  Record record = *first->records.front();
  const auto measured = std::ranges::count_if(processes, [](const RowOfProcess& one) { return !one.records.empty(); });
  if (measured == 1 && first->records.size() == 1) return record;
  const std::vector<Column>& columns = first->process->columns;
  const std::set<std::string> ends = interval_ends(columns);
  for (const Column& column : columns)
    if (!ends.contains(column.name)) set_median(*first->process, column, processes, record);
  set_doubt(record, doubt_about(processes));
  return record;
}

/// Why it has no figures stands in its status, as in results.csv.
Record failed_row(const RowKey& key, const Processes& processes) {
  Record record;
  for (const auto& [axis, value] : key.axes) record.set(axis, parse_cell(value, false));
  const auto failed = std::ranges::find_if(processes, [](const RowOfProcess& one) { return !one.failure.empty(); });
  const std::string failure = failed == processes.end() ? "error" : failed->failure;
  record.set("status", failure.substr(0, failure.find(':')));
  return record;
}

/// One experiment of all sides.
class SidesOfExperiment {
 public:
  SidesOfExperiment(std::string experiment, std::span<const Side> sides)
      : experiment_(std::move(experiment)), sides_(sides) {
    run_.columns = {column_of("point"), column_of("process"), column_of("status"), column_of("quality")};
    for (const Column& column : run_.columns) names_.insert(column.name);
  }

  void add(const MatchedRow& row) {
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      const Processes& processes = row.sides[side];
      if (processes.empty()) continue;
      add_columns(processes);
      Record record = row.measured(side) ? measured_row(processes) : failed_row(row.key, processes);
      if (row.measured(side)) record.set("status", std::string("ok"));
      record.set("point", static_cast<std::int64_t>(run_.records.size() + 1));
      record.set("process", std::int64_t{0});
      run_.records.push_back(std::move(record));
      side_of_record_.push_back(side);
    }
  }

  Run finish() {
    const std::string side_column = sides_.size() > 1 ? unused_name() : "";
    if (!side_column.empty()) {
      run_.columns.push_back({.name = side_column, .kind = Kind::text});
      for (std::size_t i = 0; i < run_.records.size(); ++i)
        run_.records[i].set(side_column, sides_[side_of_record_[i]].name);
    }
    run_.info = info_with(side_column);
    return std::move(run_);
  }

 private:
  void add_columns(const Processes& processes) {
    for (const RowOfProcess& one : processes) {
      if (first_ == nullptr) first_ = one.process;
      if (!seen_.insert(one.process).second) continue;
      for (const Column& column : one.process->columns)
        if (names_.insert(column.name).second) run_.columns.push_back(column);
    }
  }

  std::string unused_name() const {
    std::string name = "side";
    while (names_.contains(name)) name += "_";
    return name;
  }

  Info info_with(const std::string& side_column) const {
    Info::List names, axes, charts;
    if (!side_column.empty()) {
      Info::List values;
      for (const Side& side : sides_) values.emplace_back(side.name);
      names.emplace_back(side_column);
      axes.push_back(Info::Fields{{"name", side_column}, {"values", std::move(values)}});
    }
    for (const std::string& axis : first_->axes) names.emplace_back(axis);
    if (const Info* const own = first_->info.find("axes"); own && own->list())
      axes.insert(axes.end(), own->list()->begin(), own->list()->end());
    for (ChartSpec spec : own_charts()) {
      if (is_of_samples(spec.kind)) continue;  // single steps of one process
      spec.knees.clear();                      // of one side
      if (spec.series.empty()) spec.series = side_column;
      charts.push_back(chart_info(spec));
    }
    return Info::Fields{{"experiment", experiment_},
                        {"title", first_->info.text("title")},
                        {"axis_names", std::move(names)},
                        {"axes", std::move(axes)},
                        {"charts", std::move(charts)}};
  }

  /// None of runs whose run.json has them in a form that is no longer read.
  std::vector<ChartSpec> own_charts() const {
    try {
      return charts_in(first_->info);
    } catch (const Error&) {
      return {};
    }
  }

  std::string experiment_;
  std::span<const Side> sides_;
  Run run_;
  std::vector<std::size_t> side_of_record_;
  const MeasuringProcess* first_ = nullptr;
  /// Those whose columns are in the run.
  std::set<const MeasuringProcess*> seen_;
  /// Of the run's columns.
  std::set<std::string> names_;
};

}  // namespace

std::vector<Run> runs_of_sides(std::span<const Side> sides) {
  const std::vector<MatchedRow> rows = match_rows(sides);
  std::map<std::string, std::size_t> places;
  std::vector<SidesOfExperiment> experiments;
  for (const MatchedRow& row : rows) {
    const auto [place, is_new] = places.emplace(row.key.experiment, experiments.size());
    if (is_new) experiments.emplace_back(row.key.experiment, sides);
    experiments[place->second].add(row);
  }
  std::vector<Run> runs;
  for (SidesOfExperiment& one : experiments) runs.push_back(one.finish());
  return runs;
}

}  // namespace gpubench
