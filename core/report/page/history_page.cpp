#include "core/report/page/history_page.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "core/base/units.h"
#include "core/history/judge.h"
#include "core/report/chart/trend_charts.h"
#include "core/report/page/embedded_charts.h"
#include "core/report/page/page_parts.h"
#include "core/report/text/run_table.h"
#include "core/results/csv.h"

namespace gpubench {
namespace {

constexpr std::size_t most_charts = 24;

using WatchedSeries = std::vector<const SeriesTrend*>;

struct PlacedTrendChange {
  const HistorySeries* series;
  const ReportedChange* change;

  bool is_open() const { return change->state == ChangeState::open; }
  bool is_worse() const { return gpubench::is_worse(*series, change->before, change->after); }
  std::string text() const { return change_text(*series, change->before, change->after); }
};

WatchedSeries watched_series(const Trend& trend) {
  WatchedSeries watched;
  for (const SeriesTrend& one : trend)
    if (one.series.watched && !one.points.empty()) watched.push_back(&one);
  return watched;
}

/// Open ones first, then others for the worse, then improvements; the latest first.
std::vector<PlacedTrendChange> changes_in(const WatchedSeries& all) {
  std::vector<PlacedTrendChange> changes;
  for (const SeriesTrend* const one : all)
    for (const ReportedChange& change : one->changes) changes.push_back({&one->series, &change});
  std::ranges::stable_sort(changes, std::ranges::greater(),
                           [](const PlacedTrendChange& one) { return one.change->id; });
  std::ranges::stable_sort(changes, {}, [](const PlacedTrendChange& one) {
    return one.is_open() ? 0 : one.is_worse() ? 1 : 2;
  });
  return changes;
}

std::size_t count_of_runs(const WatchedSeries& all) {
  std::set<std::string> runs;
  for (const SeriesTrend* const one : all)
    for (const TrendPoint& point : one->points) runs.insert(one->series.key.host + " " + point.run);
  return runs.size();
}

std::string value_text(const HistorySeries& series, double value) {
  return format_cell(Cell(value), series.column.unit);
}

std::string state_of(const ReportedChange& change) {
  const std::string state(to_string(change.state));
  const bool recovered = change.state == ChangeState::recovered;
  if (!recovered && change.state != ChangeState::resolved) return state;
  return fmt::format("{} {}{}{}", state, recovered ? "with " : "", change.closed,
                     change.note.empty() ? "" : " (" + change.note + ")");
}

PageTable table_of_changes(const std::vector<PlacedTrendChange>& changes) {
  PageTable table{.caption = "Changes",
                  .table = {.headings = {{"change"},
                                         {"figure"},
                                         {"where"},
                                         {"before", Align::right},
                                         {"after", Align::right},
                                         {"first run"},
                                         {"reported with"},
                                         {"state"},
                                         {"cause"}},
                            .rows = {}}};
  for (const PlacedTrendChange& one : changes) {
    const auto& [series, change] = one;
    table.table.rows.push_back({fmt::format("#{} {}", change->id, one.text()), heading_of(series->column),
                                place_of_series(series->key), value_text(*series, change->before),
                                value_text(*series, change->after), change->run, change->reported, state_of(*change),
                                change->cause});
    table.looks.emplace_back(one.is_open() ? "refuted" : one.is_worse() ? "open" : "confirmed");
  }
  return table;
}

PageTable table_of_figures(const WatchedSeries& all, bool folded) {
  PageTable table{.caption = folded ? format_count(all.size(), "figure") + " without a change" : "Figures with changes",
                  .table = {.headings = {{"figure"},
                                         {"where"},
                                         {"now", Align::right},
                                         {"runs", Align::right},
                                         {"since"},
                                         {"outliers", Align::right}},
                            .rows = {}},
                  .folded = folded};
  for (const SeriesTrend* const one : all) {
    const auto& [series, points, changes, outliers] = *one;
    table.table.rows.push_back({heading_of(series.column), place_of_series(series.key),
                                value_text(series, points.back().value), std::to_string(points.size()),
                                points.front().started.substr(0, 10), std::to_string(outliers.size())});
  }
  return table;
}

PageSection charts_section(const WatchedSeries& all) {
  PageSection section{.id = "trend", .heading = "Trend"};
  std::vector<Chart> charts = trend_charts(all);
  if (charts.size() > most_charts) {
    section.lines.push_back(fmt::format("The first {} of {} charts.", most_charts, charts.size()));
    charts.resize(most_charts);
  }
  Drawing drawing = draw_embedded(std::move(charts));
  section.charts = std::move(drawing.charts);
  for (const std::string& note : drawing.notes) section.items.push_back({note});
  section.note =
      "Runs stand in the order in which they were appended. A dotted line with a number is the first run of a reported "
      "change. Bars are 95 % intervals of a run; a ring marks a run that is unreliable, which does not count.";
  return section;
}

PageSection trust_section(const WatchedSeries& all, std::size_t unwatched) {
  PageSection section{.id = "trust", .heading = "How far to trust it"};
  section.items.push_back({fmt::format(
      "{} of {} watched; {} without a direction, or that no claim or chart is about, "
      "kept for causes",
      format_count(all.size(), "figure"), format_count(count_of_runs(all), "run"), format_count(unwatched, "other"))});
  section.items.push_back(
      {"From 10 reliable values on, one that lies far off is measured again at the night's end, and a confirmed one is "
       "reported the same night; a single spike is an outlier. A small change that lasts is reported after 6 nights or "
       "more. What was reported is never moved or withdrawn. Series whose neighbouring nights depend on each other are "
       "called changed more often than others: docs/nightly.md and docs/changes.md have the rates of errors."});
  return section;
}

std::string csv_of(const WatchedSeries& all) {
  std::string text = csv_line(
      {"figure", "unit", "axes", "slot", "host", "suite", "run", "started", "value", "low", "high", "reliable"});
  const auto cell_of = [](const std::optional<double>& value) { return value ? to_csv(Cell(*value)) : ""; };
  for (const SeriesTrend* const one : all) {
    const SeriesKey& key = one->series.key;
    const std::string unit(to_string(one->series.column.unit));
    for (const TrendPoint& point : one->points) {
      std::vector<std::string> fields;
      for (const std::string& name :
           {key.metric, unit, key.axes, key.slot, key.host, key.suite, point.run, point.started})
        fields.push_back(to_csv(Cell(name)));
      fields.push_back(to_csv(Cell(point.value)));
      fields.push_back(cell_of(point.low));
      fields.push_back(cell_of(point.high));
      fields.push_back(to_csv(Cell(point.reliable)));
      text += csv_line(fields);
    }
  }
  return text;
}

}  // namespace

std::string trend_headline(const Trend& trend) {
  const WatchedSeries all = watched_series(trend);
  const std::vector<PlacedTrendChange> changes = changes_in(all);
  const auto open = static_cast<std::size_t>(std::ranges::count_if(changes, &PlacedTrendChange::is_open));
  const std::string runs = format_count(count_of_runs(all), "run");
  if (open == 0)
    return changes.empty()
               ? fmt::format("No figure has changed in {}", runs)
               : fmt::format("No regression is open after {} in {}", format_count(changes.size(), "change"), runs);
  const PlacedTrendChange& first = changes.front();
  return fmt::format(
      "{} open: {} {} since {} ({})", open == 1 ? "1 regression is" : fmt::format("{} regressions are", open),
      heading_of(first.series->column), first.text(), first.change->run, place_of_series(first.series->key));
}

std::vector<PageSection> trend_sections(const std::string& experiment, const Trend& trend) {
  const WatchedSeries all = watched_series(trend);
  const std::size_t unwatched = trend.size() - all.size();
  const std::vector<PlacedTrendChange> changes = changes_in(all);
  PageSection reported{.id = "changes", .heading = "Changes and their causes"};
  if (changes.empty()) reported.lines.push_back("No change of " + experiment + " was reported.");
  if (!changes.empty()) reported.tables.push_back(table_of_changes(changes));
  WatchedSeries changed, calm;
  for (const SeriesTrend* const one : all) (one->changes.empty() ? calm : changed).push_back(one);
  if (!changed.empty()) reported.tables.push_back(table_of_figures(changed, false));
  if (!calm.empty()) reported.tables.push_back(table_of_figures(calm, true));
  // Figures with changes come first.
  changed.insert(changed.end(), calm.begin(), calm.end());
  return {charts_section(changed), std::move(reported), trust_section(all, unwatched)};
}

std::string history_page(const std::string& experiment, const Trend& trend) {
  const WatchedSeries all = watched_series(trend);
  SectionedPage page{.title = experiment + " over the nights",
                     .facts = {"history", experiment, format_count(count_of_runs(all), "run")},
                     .headline = trend_headline(trend),
                     .sections = trend_sections(experiment, trend)};
  embed_data(page.links, "values.csv", experiment + ".csv", "text/csv", csv_of(all));
  return sectioned_page(page);
}

}  // namespace gpubench
