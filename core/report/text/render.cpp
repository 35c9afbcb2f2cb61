#include "core/report/text/render.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>
#include <span>
#include <utility>

#include "core/base/enum_names.h"
#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/base/units.h"
#include "core/report/text/answers.h"
#include "core/report/text/color.h"
#include "core/report/text/junit.h"
#include "core/report/text/row_stream.h"
#include "core/report/text/run_table.h"
#include "core/report/text/text.h"
#include "core/results/csv.h"

namespace gpubench {
namespace {

constexpr EnumNames<Format, 5> formats{"unknown format", {"text", "csv", "json", "markdown", "junit"}};

/// "done", or "error: process 0 was lost".
std::string ended_how(const Run& run) {
  const std::string detail = one_line(run.info.text("detail"));
  return one_line(run.info.text("status")) + (detail.empty() ? "" : ": " + detail);
}

std::string_view color_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::confirmed:
      return green;
    case Verdict::refuted:
      return red;
    case Verdict::open:
    case Verdict::not_measurable:
      return yellow;
  }
  return yellow;
}

std::string wrapped(std::string_view text, std::size_t first_indent, std::size_t indent, const TextStyle& style) {
  return wrap_words(text, first_indent, indent, style.width);
}

// "answer: ", and what follows, in lines that fit.
std::string labelled(std::string_view label, std::string_view text, std::string_view color, const TextStyle& style) {
  const std::size_t width = display_width(label) + 1;
  return in_color(label, color, style.color) + " " + wrapped(text, width, std::min<std::size_t>(width, 4), style);
}

std::string claims_text(const std::vector<JudgedClaim>& claims, const TextStyle& style) {
  constexpr std::size_t indent = 4;
  std::string text;
  for (const JudgedClaim& one : claims) {
    const std::string verdict = fmt::format("{} {}:", symbol_of(one.verdict), word_of(one.verdict));
    text += labelled(verdict, one.claim, color_of(one.verdict), style);
    if (!one.reason.empty()) text += std::string(indent, ' ') + wrapped(one.reason, indent, indent, style);
  }
  return text;
}

std::string counts_text(const std::vector<JudgedClaim>& claims) {
  std::string text;
  for (const VerdictCount& one : count_verdicts(claims))
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one.count, word_of(one.verdict));
  return text;
}

std::string warnings_text(const Run& run, const TextStyle& style) {
  std::string text;
  for (const std::string& warning : run.info.texts("warnings")) text += labelled("warning:", warning, yellow, style);
  return text;
}

std::string answers_text(const Run& run, const TextStyle& style) {
  std::string text;
  for (const RunAnswer& one : answers_in(run.info))
    text += labelled("answer:", one.text, one.verdict == Verdict::confirmed ? bold : color_of(one.verdict), style);
  return text;
}

/// The names of a list in run.json that are columns, each once.
std::vector<std::string> names_among_columns(const Run& run, std::string_view list) {
  std::set<std::string> left;
  for (const Column& column : run.columns) left.insert(column.name);
  std::vector<std::string> names;
  for (const std::string& name : run.info.texts(list))
    if (left.erase(name) > 0) names.push_back(name);
  return names;
}

// The axes and what claims and charts are about, with what says how sound they are; all where there is nothing else.
std::vector<Column> key_columns(const Run& run) {
  constexpr std::array<std::string_view, 8> always{"point",  "process", "quality", "memory_quality",
                                                   "status", "detail",  "verdict", "stop_reason"};
  const std::vector<std::string> figures = names_among_columns(run, "figures");
  const std::vector<std::string> axes = axis_names(run);
  const auto is_in = [](const auto& names, const std::string& name) {
    return std::ranges::find(names, name) != std::ranges::end(names);
  };
  if (figures.empty()) return run.columns;
  std::vector<Column> columns;
  for (const std::string& name : figures) {
    const auto found = std::ranges::find(run.columns, name, &Column::name);
    if (found != run.columns.end() && !is_in(axes, name)) columns.push_back(*found);
  }
  for (const Column& one : run.columns)
    if ((is_in(axes, one.name) || is_in(always, one.name)) && !is_in(figures, one.name)) columns.push_back(one);
  return columns;
}

struct Summary {
  RunTable shown;
  std::vector<SkippedPoints> skipped;
};

Summary summary_of(const Run& run, const TextStyle& style) {
  Summary summary;
  summary.skipped = skipped_points(run.records);
  const std::vector<Record> rows = rows_to_show(run.records);
  const std::vector<Column> columns = style.all_columns ? run.columns : key_columns(run);
  summary.shown = run_table(columns, rows, axis_names(run), Detail::brief);
  return summary;
}

std::string text_of_skipped(const SkippedPoints& skipped) {
  return fmt::format("{} skipped: {}", format_count(skipped.points, "point"), skipped.reason);
}

// What the table does not show.
std::string remainder_text(const std::vector<CommonValue>& all_rows, std::ptrdiff_t hidden,
                           const std::vector<SkippedPoints>& skipped, const TextStyle& style) {
  std::string text, common;
  for (const CommonValue& one : all_rows)
    common += fmt::format("{}{} {}", common.empty() ? "" : ", ", one.heading, one.text);
  if (!common.empty()) text += labelled("all rows:", common, bold, style);
  if (hidden > 0) text += fmt::format("{} not shown; --wide shows all\n", format_count(hidden, "column"));
  for (const SkippedPoints& one : skipped) text += wrapped(text_of_skipped(one), 0, 4, style);
  return text.empty() ? text : "\n" + text;
}

// What rows with these headings do not show.
std::string remainder_below(const Run& run, const TextStyle& style, const std::vector<std::string>& headings) {
  Summary summary = summary_of(run, style);
  const auto is_shown = [&](const std::string& heading) {
    return std::ranges::find(headings, heading) != headings.end();
  };
  std::erase_if(summary.shown.common, [&](const CommonValue& one) { return is_shown(one.heading); });
  const std::span figures = std::span(summary.shown.table.headings).subspan(summary.shown.axes);
  const auto hidden = std::ranges::count_if(figures.first(figures.size() - summary.shown.problems),
                                            [&](const Table::Heading& one) { return !is_shown(one.text); });
  return remainder_text(summary.shown.common, hidden, summary.skipped, style);
}

// The table that a run prints as it goes on, with failures that were told on another screen.
std::string table_text(const Run& run, TextStyle style) {
  style.failures_told = false;
  RowStream rows(run.info, style);
  const std::string text = rows.table_of(rows_to_show(run.records), run.columns, style.width);
  return text + remainder_below(run, style, rows.headings());
}

std::string title_text(const Run& run, const TextStyle& style) {
  const std::string question = run.info.text("question");
  const std::string text = wrapped(run.info.text("experiment") + ": " + run.info.text("title"), 0, 4, style);
  return question.empty() ? text : text + wrapped(question, 0, 4, style);
}

std::string verdict_text(const Run& run, const TextStyle& style) {
  std::string text = warnings_text(run, style);
  if (!text.empty()) text = "\n" + text;
  const std::vector<JudgedClaim> claims = claims_in(run.info);
  if (!claims.empty()) text += "\n" + claims_text(claims, style) + counts_text(claims) + "\n";
  const std::string answers = answers_text(run, style);
  return answers.empty() ? text : text + "\n" + answers;
}

std::string text_of(const Run& run, const TextStyle& style) {
  return title_text(run, style) + fmt::format("run {}, {}\n\n", one_line(run.info.text("run")), ended_how(run)) +
         table_text(run, style) + verdict_text(run, style);
}

std::string markdown_of(const Run& run, const TextStyle& style) {
  const auto [shown, skipped] = summary_of(run, style);
  std::string text;
  for (const std::string& warning : run.info.texts("warnings"))
    text += "**Warning:** " + escape_markdown(warning) + "\n\n";
  text += fmt::format("## {}: {}\n\n", escape_markdown(run.info.text("experiment")),
                      escape_markdown(run.info.text("title")));
  const std::string question = run.info.text("question");
  if (!question.empty()) text += escape_markdown(question) + "\n\n";
  for (const RunAnswer& one : answers_in(run.info)) text += "**" + escape_markdown(one.text) + "**\n\n";
  text += render_markdown(shown.table) + "\n";
  for (const CommonValue& common : shown.common) {
    text += fmt::format("- {}: {}\n", escape_markdown(common.heading), escape_markdown(common.text));
  }
  for (const SkippedPoints& one : skipped) text += "- " + escape_markdown(text_of_skipped(one)) + "\n";
  for (const JudgedClaim& one : claims_in(run.info)) {
    text += fmt::format("- {} {}: {} ({})\n", symbol_of(one.verdict), word_of(one.verdict), escape_markdown(one.claim),
                        escape_markdown(one.reason));
  }
  return text + fmt::format("- run: {}, {}\n", escape_markdown(run.info.text("run")), escape_markdown(ended_how(run)));
}

std::string csv_of(const Run& run) {
  std::vector<std::string> fields;
  for (const Column& column : run.columns) fields.push_back(column.name);
  std::string text = csv_line(fields);
  for (const Record& record : run.records) {
    fields.clear();
    for (const Column& column : run.columns) fields.push_back(to_csv(record.get(column.name)));
    text += csv_line(fields);
  }
  return text;
}

// The claims as tests, for servers that watch builds: a refuted one has failed, one that stays open was skipped. A run
// that ended otherwise than "done" is an error of its own.
std::string junit_of(const Run& run) {
  const std::string experiment = run.info.text("experiment");
  std::vector<TestCase> cases;
  for (const JudgedClaim& one : claims_in(run.info)) {
    const TestOutcome outcome = one.verdict == Verdict::confirmed ? TestOutcome::passed
                                : one.verdict == Verdict::refuted ? TestOutcome::failed
                                                                  : TestOutcome::skipped;
    cases.push_back({experiment, one.claim, outcome, fmt::format("{}: {}", word_of(one.verdict), one.reason)});
  }
  const bool ended_well = run.info.text("status") == "done";
  cases.push_back({experiment, "the run ends", ended_well ? TestOutcome::passed : TestOutcome::error, ended_how(run)});
  return junit_suite(experiment, run.info.text("started"), cases);
}

// Empty cells are left out of a row: null could be read as a measured zero.
std::string json_of(const Run& run) {
  Info::List rows;
  for (const Record& record : run.records) {
    Info::Fields fields;
    for (const auto& [name, cell] : record.cells()) {
      if (!is_empty(cell)) fields.emplace_back(name, cell);
    }
    rows.emplace_back(std::move(fields));
  }
  return to_json(Info(Info::Fields{{"run", run.info}, {"rows", std::move(rows)}}));
}

}  // namespace

Format parse_format(std::string_view name) {
  return formats.parse(name);
}

std::string render(const Run& run, Format format, const TextStyle& style) {
  switch (format) {
    case Format::text:
      return text_of(run, style);
    case Format::csv:
      return style.width > 0 ? shown_lines(csv_of(run)) : csv_of(run);
    case Format::json:
      return json_of(run);
    case Format::junit:
      return junit_of(run);
    case Format::markdown:
      return markdown_of(run, style);
  }
  return {};
}

std::string opening_text(const Run& run, const TextStyle& style) {
  return title_text(run, style) + fmt::format("run {}\n\n", one_line(run.info.text("run")));
}

std::string closing_text(const Run& run, const TextStyle& style, const std::vector<std::string>& headings) {
  std::string text = remainder_below(run, style, headings);
  if (run.info.text("status") != "done")
    text += fmt::format("\nrun {}, {}\n", one_line(run.info.text("run")), ended_how(run));
  return text + verdict_text(run, style);
}

std::vector<std::string> axis_names(const Run& run) {
  return names_among_columns(run, "axis_names");
}

}  // namespace gpubench
