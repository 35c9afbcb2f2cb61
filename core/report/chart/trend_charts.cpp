#include "core/report/chart/trend_charts.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <span>
#include <utility>

#include "core/report/text/run_table.h"

namespace gpubench {
namespace {

// More lines in one chart could not be told apart.
constexpr std::size_t most_lines = 6;
constexpr const char *run_column = "run", *setting_column = "setting";

std::string device_of(const SeriesKey& key) {
  return fmt::format("{}{}{}", key.slot.empty() ? "on " : "on " + key.slot + " of ", key.host,
                     key.suite.empty() ? "" : ", suite " + key.suite);
}

/// The runs of several series in one order: a run that only some of them have stands behind its predecessor there.
std::vector<std::string> runs_in_order(std::span<const SeriesTrend* const> series) {
  std::vector<std::string> runs;
  for (const SeriesTrend* const one : series) {
    auto next = runs.begin();
    for (const TrendPoint& point : one->points) {
      auto found = std::find(runs.begin(), runs.end(), point.run);
      if (found == runs.end()) found = runs.insert(next, point.run);
      next = found + 1;
    }
  }
  return runs;
}

class TrendChart {
 public:
  explicit TrendChart(std::span<const SeriesTrend* const> series) : series_(series) {
    for (const std::string& run : runs_in_order(series))
      numbers_.emplace(run, static_cast<std::int64_t>(numbers_.size() + 1));
  }

  Chart make(std::size_t number) {
    const HistorySeries& first = series_.front()->series;
    const Column& figure = first.column;
    std::vector<Cell> settings;
    for (const SeriesTrend* const one : series_) {
      settings.emplace_back(one->series.key.axes);
      add_points(*one, figure);
      add_marks(*one);
    }
    const std::vector<Column> columns{{.name = "point", .kind = Kind::setting},
                                      {.name = run_column, .kind = Kind::setting},
                                      {.name = setting_column, .kind = Kind::text},
                                      figure};
    const std::vector<ChartAxis> axes{{run_column}, {setting_column, std::move(settings)}};
    ChartSpec spec{.name = fmt::format("trend{}", number),
                   .title = fmt::format("{} {}", heading_of(figure), device_of(first.key)),
                   .x = run_column,
                   .y = figure.name,
                   .series = series_.size() > 1 ? setting_column : ""};
    for (const auto& [run, name] : marks_) spec.marks.push_back({run, name});
    Chart chart = make_chart(std::move(spec), columns, records_, axes);
    for (std::size_t i = 0; i < chart.series.size(); ++i) chart.series[i].style = i;
    return chart;
  }

 private:
  void add_points(const SeriesTrend& one, const Column& figure) {
    for (const TrendPoint& point : one.points) {
      Record record{{"point", static_cast<std::int64_t>(records_.size() + 1)},
                    {run_column, numbers_.at(point.run)},
                    {setting_column, one.series.key.axes},
                    {figure.name, point.value}};
      if (point.low) record.set(interval_end(figure, "low"), *point.low);
      if (point.high) record.set(interval_end(figure, "high"), *point.high);
      if (!point.reliable) record.set(quality_column(figure.kind), std::string("unreliable"));
      records_.push_back(std::move(record));
    }
  }

  void add_marks(const SeriesTrend& one) {
    for (const ReportedChange& change : one.changes) {
      const auto found = numbers_.find(change.run);
      if (found == numbers_.end()) continue;  // of a run that was pruned
      std::string& name = marks_[found->second];
      name += fmt::format("{}#{}", name.empty() ? "" : ", ", change.id);
    }
  }

  std::span<const SeriesTrend* const> series_;
  std::map<std::string, std::int64_t> numbers_;
  std::map<std::int64_t, std::string> marks_;
  std::vector<Record> records_;
};

}  // namespace

std::string place_of_series(const SeriesKey& key) {
  return key.axes.empty() ? device_of(key) : key.axes + " " + device_of(key);
}

std::vector<Chart> trend_charts(const std::vector<const SeriesTrend*>& series) {
  std::vector<std::pair<std::string, std::vector<const SeriesTrend*>>> groups;
  for (const SeriesTrend* const one : series) {
    if (one->points.empty()) continue;
    const SeriesKey& of = one->series.key;
    const std::string key = fmt::format("{}\n{}\n{}", of.metric, device_of(of), of.card);
    auto found = std::ranges::find(groups, key, [](const auto& group) { return group.first; });
    if (found == groups.end()) found = groups.insert(groups.end(), {key, {}});
    found->second.push_back(one);
  }
  std::vector<Chart> charts;
  for (const auto& [key, members] : groups) {
    for (std::size_t begin = 0; begin < members.size(); begin += most_lines) {
      const std::size_t count = std::min(most_lines, members.size() - begin);
      charts.push_back(TrendChart(std::span(members).subspan(begin, count)).make(charts.size() + 1));
    }
  }
  return charts;
}

}  // namespace gpubench
