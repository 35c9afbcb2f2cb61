#include "core/report/page/side_page.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "core/base/units.h"
#include "core/compare/fingerprint.h"
#include "core/compare/row_changes.h"
#include "core/measure/estimate.h"
#include "core/report/page/history_page.h"
#include "core/report/page/page_parts.h"
#include "core/report/page/side_sections.h"
#include "core/report/text/answers.h"
#include "core/report/text/run_table.h"
#include "core/results/csv.h"

namespace gpubench {
namespace {

constexpr std::size_t most_figures_in_table = 1000;

/// A figure of a row, over the processes.
struct SideFigure {
  const MatchedRow* row;
  Column column;
  std::vector<ProcessFigures> processes;
};

std::vector<SideFigure> figures_of(const std::vector<MatchedRow>& rows) {
  std::vector<SideFigure> figures;
  for (const MatchedRow& row : rows) {
    if (!row.measured(0)) continue;
    for (const Column& column : chosen_figures(row, {}))
      figures.push_back({&row, column, figures_in(row.sides.front(), column.name)});
  }
  return figures;
}

/// Headings and a line for each figure. `is_for_people`: with units; else plain numbers.
Table table_of(const std::vector<SideFigure>& figures, std::size_t most, bool is_for_people) {
  Table table{.headings = {{"row"},
                           {"figure"},
                           {"median", Align::right},
                           {"low", Align::right},
                           {"high", Align::right},
                           {"processes", Align::right},
                           {"noise", Align::right},
                           {"sees from", Align::right}},
              .rows = {}};
  for (const SideFigure& one : figures) {
    if (table.rows.size() == most) break;
    // With itself: what a comparison with as many processes would see.
    const Change change = measure_change(one.column, one.processes, one.processes);
    const Interval interval = estimate_median(change.figures_before).interval;
    const auto value = [&](double number) {
      if (!std::isfinite(number)) return std::string();
      return is_for_people ? format_cell(number, one.column.unit) : to_csv(Cell(number));
    };
    const auto share = [&](double number) {
      if (!std::isfinite(number)) return std::string();
      return is_for_people ? fmt::format("{:.2g} %", 100 * number) : to_csv(Cell(number));
    };
    const std::string axes = one.row->key.text(), experiment = one.row->key.experiment;
    table.rows.push_back({experiment + (experiment.empty() || axes.empty() ? "" : " ") + axes,
                          is_for_people ? heading_of(one.column) : one.column.name, value(change.before),
                          value(interval.low), value(interval.high), std::to_string(one.processes.size()),
                          change.exact ? (is_for_people ? "exact" : "0") : share(change.noise),
                          change.visible ? share(*change.visible) : ""});
  }
  return table;
}

std::string csv_of(const Table& table) {
  std::vector<std::string> fields;
  for (const Table::Heading& heading : table.headings) fields.push_back(heading.text);
  std::string text = csv_line(fields);
  for (std::vector<std::string> row : table.rows) {
    for (std::size_t i = 0; i < 2; ++i) row[i] = to_csv(Cell(row[i]));  // names
    text += csv_line(row);
  }
  return text;
}

/// What the runs answer, each once: "batch_size: Use 64."
std::vector<std::string> answers_of(const Side& side) {
  std::vector<std::string> texts;
  std::set<std::string> seen;
  for (const MeasuringProcess& process : side.processes) {
    for (const RunAnswer& answer : answers_in(process.info)) {
      std::string text =
          fmt::format("{} {}: {}", symbol_of(answer.verdict), process.info.text("experiment"), answer.text);
      if (seen.insert(text).second) texts.push_back(std::move(text));
    }
  }
  return texts;
}

std::vector<std::string> failures_of(const std::vector<MatchedRow>& rows) {
  std::vector<std::string> texts;
  for (const MatchedRow& row : rows) {
    if (row.measured(0)) continue;
    const Processes& processes = row.sides.front();
    const auto failed = std::ranges::find_if(processes, [](const RowOfProcess& one) { return !one.failure.empty(); });
    texts.push_back(fmt::format("{} {}: {}", row.key.experiment, row.key.text(),
                                failed == processes.end() ? "nothing was measured" : failed->failure));
  }
  return texts;
}

PageSection figures_section(const std::vector<SideFigure>& figures, const std::vector<MatchedRow>& rows) {
  PageSection section{.id = "figures", .heading = "Figures"};
  for (const std::string& failure : failures_of(rows)) section.items.push_back({failure});
  if (figures.empty()) return section;
  section.tables.push_back({.caption = "Figures of the rows", .table = table_of(figures, most_figures_in_table, true)});
  section.note =
      "Medians over the processes, with the 95 % interval of the median from six processes on. Noise: interquartile "
      "range over the median. Sees from: the smallest change that a comparison with as many processes would find in "
      "95 %, from seven processes on.";
  return section;
}

PageSection trust_section(const Side& side, std::size_t fewest) {
  PageSection section{.id = "trust", .heading = "How far to trust it"};
  section.items.push_back({format_count(side.processes.size(), "process") +
                           ". The process is the unit: a process counts with its median."});
  if (fewest < least_processes)
    section.items.push_back({fmt::format(
        "The row with the fewest has {}; a comparison gives verdicts from {} processes a side on: run --repeat {}",
        format_count(fewest, "process"), least_processes, least_processes)});
  return section;
}

PageSection environment_section(const Side& side) {
  PageSection section{.id = "environment", .heading = "What ran where"};
  const MeasuringProcess& first = side.processes.front();
  Table table{.headings = {{"fact"}, {"value"}}, .rows = {}};
  for (const auto& [key, value] : fingerprint_of(first.info, first.script)) table.rows.push_back({key, value});
  if (table.rows.empty()) return section;
  section.tables.push_back(
      {.caption = "Environment of the first process", .table = std::move(table), .heads = 1, .folded = true});
  return section;
}

}  // namespace

std::vector<std::string> experiments_of(const Side& side) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const MatchedRow& row : match_rows(std::span(&side, 1))) {
    const std::string& name = row.key.experiment;
    if (!name.empty() && seen.insert(name).second) names.push_back(name);
  }
  return names;
}

std::string side_page(const Side& side, const std::map<std::string, Trend>& trends,
                      const std::filesystem::path& folder) {
  const std::span<const Side> sides(&side, 1);
  const std::vector<MatchedRow> rows = match_rows(sides);
  const std::vector<SideFigure> figures = figures_of(rows);
  const auto measured =
      static_cast<std::size_t>(std::ranges::count_if(rows, [](const MatchedRow& row) { return row.measured(0); }));
  std::size_t fewest = side.processes.size();
  for (const SideFigure& one : figures) fewest = std::min(fewest, one.processes.size());
  SectionedPage page{.title = side.name,
                     .facts = {"results", side.name},
                     .headline = fmt::format("{} measured by {}", format_count(measured, "row"),
                                             format_count(side.processes.size(), "process")),
                     .lines = answers_of(side)};
  embed_data(page.links, "figures.csv", "figures.csv", "text/csv", csv_of(table_of(figures, figures.size(), false)));
  page.links.push_back({"runs", "#runs"});
  for (PageSection& section : experiment_sections(sides)) page.sections.push_back(std::move(section));
  page.sections.push_back(figures_section(figures, rows));
  for (const auto& [experiment, trend] : trends) {
    for (PageSection& section : trend_sections(experiment, trend)) {
      section.id += "_" + std::to_string(page.sections.size());
      section.heading = fmt::format("{}: {}", experiment, section.heading);
      page.sections.push_back(std::move(section));
    }
  }
  page.sections.push_back(trust_section(side, fewest));
  page.sections.push_back(environment_section(side));
  page.sections.push_back(runs_section(sides, folder));
  return sectioned_page(page);
}

}  // namespace gpubench
