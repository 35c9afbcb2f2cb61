#include "core/report/render.h"

#include <fmt/format.h>
#include <utility>

#include "core/base/enum_names.h"
#include "core/base/error.h"
#include "core/report/run_table.h"
#include "core/report/text.h"
#include "core/results/csv.h"

namespace gpubench {
namespace {

constexpr EnumNames<Format, 4> formats{"unknown format", {"text", "csv", "json", "markdown"}};

/// "done", or "error: process 0 was lost".
std::string ended_how(const Run& run) {
  const std::string detail = one_line(run.info.text("detail"));
  return one_line(run.info.text("status")) + (detail.empty() ? "" : ": " + detail);
}

std::string text_of(const Run& run) {
  std::string text;
  for (const std::string& warning : run.info.texts("warnings")) text += "warning: " + one_line(warning) + "\n";
  return text + fmt::format("{}: {}\nrun {}, {}\n\n{}", one_line(run.info.text("experiment")),
                            one_line(run.info.text("title")), one_line(run.info.text("run")), ended_how(run),
                            render_table(run));
}

std::string markdown_of(const Run& run) {
  const RunTable shown = run_table(run.columns, run.records, axis_names(run), Detail::brief);
  std::string text;
  for (const std::string& warning : run.info.texts("warnings"))
    text += "**Warning:** " + escape_markdown(warning) + "\n\n";
  text += fmt::format("## {}: {}\n\n", escape_markdown(run.info.text("experiment")),
                      escape_markdown(run.info.text("title")));
  text += render_markdown(shown.table) + "\n";
  for (const CommonValue& common : shown.common) {
    text += fmt::format("- {}: {}\n", escape_markdown(common.heading), escape_markdown(common.text));
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

std::string render(const Run& run, Format format) {
  switch (format) {
    case Format::text:
      return text_of(run);
    case Format::csv:
      return csv_of(run);
    case Format::json:
      return json_of(run);
    case Format::markdown:
      return markdown_of(run);
  }
  return {};
}

std::string render_table(const Run& run) {
  const RunTable shown = run_table(run.columns, run.records, axis_names(run), Detail::brief);
  std::string text = render_text(shown.table);
  for (const CommonValue& common : shown.common) {
    text += fmt::format("{}{} {}", &common == shown.common.data() ? "\nall rows: " : ", ", common.heading,
                        one_line(common.text));
  }
  if (!shown.common.empty()) text += "\n";
  return text;
}

std::vector<std::string> axis_names(const Run& run) {
  std::vector<std::string> names;
  const Info* axes = run.info.find("axis_names");
  if (!axes || !axes->list()) return names;
  for (const Info& axis : *axes->list()) {
    if (axis.cell()) names.push_back(to_text(*axis.cell()));
  }
  return names;
}

}  // namespace gpubench
