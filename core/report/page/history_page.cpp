#include "core/report/page/history_page.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "core/base/units.h"
#include "core/report/chart/trend_charts.h"
#include "core/report/page/embedded_charts.h"
#include "core/report/page/page_parts.h"
#include "core/report/text/run_table.h"
#include "core/results/csv.h"

namespace gpubench {
namespace {

constexpr std::size_t most_charts = 24;

struct PlacedTrendChange {
  const Info* series;
  const Info* change;

  bool is_open() const { return change->text("state") == "open"; }
  bool is_worse() const { return change->text("worse") == "true"; }
};

double series_number(const Info& info, std::string_view name) {
  return info.number(name).value_or(0);
}

std::vector<const Info*> watched_series(const Info& trend) {
  std::vector<const Info*> watched;
  if (trend.list() == nullptr) return watched;
  for (const Info& series : *trend.list())
    if (series.text("watched") == "true" && !series.items("points").empty()) watched.push_back(&series);
  return watched;
}

/// Open ones first, then others for the worse, then improvements; the latest first.
std::vector<PlacedTrendChange> changes_in(const std::vector<const Info*>& all) {
  std::vector<PlacedTrendChange> changes;
  for (const Info* const series : all)
    for (const Info& change : series->items("changes")) changes.push_back({series, &change});
  std::ranges::stable_sort(changes, std::ranges::greater(),
                           [](const PlacedTrendChange& one) { return series_number(*one.change, "id"); });
  std::ranges::stable_sort(changes, {}, [](const PlacedTrendChange& one) {
    return one.is_open() ? 0 : one.is_worse() ? 1 : 2;
  });
  return changes;
}

std::size_t count_of_runs(const std::vector<const Info*>& all) {
  std::set<std::string> runs;
  for (const Info* const series : all)
    for (const Info& point : series->items("points")) runs.insert(series->text("host") + " " + point.text("run"));
  return runs.size();
}

std::string value_text(const Info& series, double value) {
  return format_cell(Cell(value), column_of_series(series).unit);
}

std::string figure_of(const Info& series) {
  return heading_of(column_of_series(series));
}

std::string date_of(const Info& point) {
  return point.text("started").substr(0, 10);
}

std::string state_of(const Info& change) {
  const std::string state = change.text("state"), closed = change.text("closed"), note = change.text("note");
  if (state != "recovered" && state != "resolved") return state;
  return fmt::format("{} {}{}{}", state, state == "recovered" ? "with " : "", closed,
                     note.empty() ? "" : " (" + note + ")");
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
  for (const auto& [series, change] : changes) {
    const PlacedTrendChange one{series, change};
    table.table.rows.push_back({fmt::format("#{} {}", change->text("id"), change->text("change")), figure_of(*series),
                                place_of_series(*series), value_text(*series, series_number(*change, "before")),
                                value_text(*series, series_number(*change, "after")), change->text("run"),
                                change->text("reported"), state_of(*change), change->text("cause")});
    table.looks.emplace_back(one.is_open() ? "refuted" : one.is_worse() ? "open" : "confirmed");
  }
  return table;
}

PageTable table_of_figures(const std::vector<const Info*>& all, bool folded) {
  PageTable table{.caption = folded ? format_count(all.size(), "figure") + " without a change" : "Figures with changes",
                  .table = {.headings = {{"figure"},
                                         {"where"},
                                         {"now", Align::right},
                                         {"runs", Align::right},
                                         {"since"},
                                         {"outliers", Align::right}},
                            .rows = {}},
                  .folded = folded};
  for (const Info* const series : all) {
    const Info::List& points = series->items("points");
    table.table.rows.push_back(
        {figure_of(*series), place_of_series(*series), value_text(*series, series_number(points.back(), "value")),
         std::to_string(points.size()), date_of(points.front()), std::to_string(series->items("outliers").size())});
  }
  return table;
}

PageSection charts_section(const std::vector<const Info*>& all) {
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

PageSection trust_section(const std::vector<const Info*>& all, std::size_t unwatched) {
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

std::string csv_of(const std::vector<const Info*>& all) {
  std::string text = csv_line(
      {"figure", "unit", "axes", "slot", "host", "suite", "run", "started", "value", "low", "high", "reliable"});
  for (const Info* const series : all) {
    for (const Info& point : series->items("points")) {
      std::vector<std::string> fields;
      for (const char* const name : {"metric", "unit", "axes", "slot", "host", "suite"})
        fields.push_back(to_csv(Cell(series->text(name))));
      for (const char* const name : {"run", "started", "value", "low", "high", "reliable"}) {
        const Info* const found = point.find(name);
        fields.push_back(found && found->cell() ? to_csv(*found->cell()) : "");
      }
      text += csv_line(fields);
    }
  }
  return text;
}

}  // namespace

std::string trend_headline(const Info& trend) {
  const std::vector<const Info*> all = watched_series(trend);
  const std::vector<PlacedTrendChange> changes = changes_in(all);
  const auto open = static_cast<std::size_t>(std::ranges::count_if(changes, &PlacedTrendChange::is_open));
  const std::string runs = format_count(count_of_runs(all), "run");
  if (open == 0)
    return changes.empty()
               ? fmt::format("No figure has changed in {}", runs)
               : fmt::format("No regression is open after {} in {}", format_count(changes.size(), "change"), runs);
  const auto& [series, change] = changes.front();
  return fmt::format("{} open: {} {} since {} ({})",
                     open == 1 ? "1 regression is" : fmt::format("{} regressions are", open), figure_of(*series),
                     change->text("change"), change->text("run"), place_of_series(*series));
}

std::vector<PageSection> trend_sections(const std::string& experiment, const Info& trend) {
  const std::vector<const Info*> all = watched_series(trend);
  const std::size_t unwatched = (trend.list() ? trend.list()->size() : 0) - all.size();
  const std::vector<PlacedTrendChange> changes = changes_in(all);
  PageSection reported{.id = "changes", .heading = "Changes and their causes"};
  if (changes.empty()) reported.lines.push_back("No change of " + experiment + " was reported.");
  if (!changes.empty()) reported.tables.push_back(table_of_changes(changes));
  std::vector<const Info*> changed, calm;
  for (const Info* const series : all) (series->items("changes").empty() ? calm : changed).push_back(series);
  if (!changed.empty()) reported.tables.push_back(table_of_figures(changed, false));
  if (!calm.empty()) reported.tables.push_back(table_of_figures(calm, true));
  // Figures with changes come first.
  changed.insert(changed.end(), calm.begin(), calm.end());
  return {charts_section(changed), std::move(reported), trust_section(all, unwatched)};
}

std::string history_page(const std::string& experiment, const Info& trend) {
  const std::vector<const Info*> all = watched_series(trend);
  SectionedPage page{.title = experiment + " over the nights",
                     .facts = {"history", experiment, format_count(count_of_runs(all), "run")},
                     .headline = trend_headline(trend),
                     .sections = trend_sections(experiment, trend)};
  embed_data(page.links, "values.csv", experiment + ".csv", "text/csv", csv_of(all));
  return sectioned_page(page);
}

}  // namespace gpubench
