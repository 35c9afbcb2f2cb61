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

std::string device_of(const Info& series) {
  const std::string slot = series.text("slot"), suite = series.text("suite");
  return fmt::format("{}{}{}", slot.empty() ? "on " : "on " + slot + " of ", series.text("host"),
                     suite.empty() ? "" : ", suite " + suite);
}

/// The runs of several series in one order: a run that only some of them have stands behind its predecessor there.
std::vector<std::string> runs_in_order(std::span<const Info* const> series) {
  std::vector<std::string> runs;
  for (const Info* const one : series) {
    auto next = runs.begin();
    for (const Info& point : one->items("points")) {
      const std::string run = point.text("run");
      auto found = std::find(runs.begin(), runs.end(), run);
      if (found == runs.end()) found = runs.insert(next, run);
      next = found + 1;
    }
  }
  return runs;
}

class TrendChart {
 public:
  explicit TrendChart(std::span<const Info* const> series) : series_(series) {
    for (const std::string& run : runs_in_order(series))
      numbers_.emplace(run, static_cast<std::int64_t>(numbers_.size() + 1));
  }

  Chart make(std::size_t number) {
    const Column figure = column_of_series(*series_.front());
    std::vector<Cell> settings;
    for (const Info* const one : series_) {
      settings.emplace_back(one->text("axes"));
      add_points(*one, figure);
      add_marks(*one);
    }
    const std::vector<Column> columns{{.name = "point", .kind = Kind::setting},
                                      {.name = run_column, .kind = Kind::setting},
                                      {.name = setting_column, .kind = Kind::text},
                                      figure};
    const std::vector<ChartAxis> axes{{run_column}, {setting_column, std::move(settings)}};
    ChartSpec spec{.name = fmt::format("trend{}", number),
                   .title = fmt::format("{} {}", heading_of(figure), device_of(*series_.front())),
                   .x = run_column,
                   .y = figure.name,
                   .series = series_.size() > 1 ? setting_column : ""};
    for (const auto& [run, name] : marks_) spec.marks.push_back({run, name});
    Chart chart = make_chart(std::move(spec), columns, records_, axes);
    for (std::size_t i = 0; i < chart.series.size(); ++i) chart.series[i].style = i;
    return chart;
  }

 private:
  void add_points(const Info& series, const Column& figure) {
    for (const Info& point : series.items("points")) {
      Record record{{"point", static_cast<std::int64_t>(records_.size() + 1)},
                    {run_column, numbers_.at(point.text("run"))},
                    {setting_column, series.text("axes")}};
      const auto copy = [&](const char* name, const std::string& column) {
        if (const Info* const found = point.find(name); found && found->cell()) record.set(column, *found->cell());
      };
      copy("value", figure.name);
      copy("low", interval_end(figure, "low"));
      copy("high", interval_end(figure, "high"));
      if (point.text("reliable") == "false") record.set(quality_column(figure.kind), std::string("unreliable"));
      records_.push_back(std::move(record));
    }
  }

  void add_marks(const Info& series) {
    for (const Info& change : series.items("changes")) {
      const auto found = numbers_.find(change.text("run"));
      if (found == numbers_.end()) continue;  // of a run that was pruned
      std::string& name = marks_[found->second];
      name += (name.empty() ? "#" : ", #") + change.text("id");
    }
  }

  std::span<const Info* const> series_;
  std::map<std::string, std::int64_t> numbers_;
  std::map<std::int64_t, std::string> marks_;
  std::vector<Record> records_;
};

}  // namespace

Column column_of_series(const Info& series) {
  Column column = column_of(series.text("metric"));
  column.unit = parse_unit(series.text("unit"));
  column.better = parse_better(series.text("better"));
  column.kind = parse_kind(series.text("kind"));
  return column;
}

std::string place_of_series(const Info& series) {
  const std::string axes = series.text("axes");
  return axes.empty() ? device_of(series) : axes + " " + device_of(series);
}

std::vector<Chart> trend_charts(const std::vector<const Info*>& series) {
  std::vector<std::pair<std::string, std::vector<const Info*>>> groups;
  for (const Info* const one : series) {
    if (one->items("points").empty()) continue;
    const std::string key = fmt::format("{}\n{}\n{}", one->text("metric"), device_of(*one), one->text("card"));
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
