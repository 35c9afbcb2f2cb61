// nvbench's table of comma-separated values.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/shown_text.h"
#include "core/compare/foreign/nvbench_figures.h"
#include "core/compare/foreign/reader.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

enum class NvbenchPart { left_out, benchmark, device, skipped, axis, summary, open };

struct NvbenchColumn {
  NvbenchPart part = NvbenchPart::left_out;
  std::string name = {}, hint = {};
};

/// Columns of later benchmarks stand behind the summaries of the first, where an axis looks like a summary without
/// unit.
std::vector<NvbenchColumn> parts_of_table(const std::vector<std::string>& names) {
  std::vector<NvbenchColumn> columns;
  bool behind_skipped = false;
  constexpr std::string_view power = " (pow2)";
  for (const std::string& name : names) {
    if (name == "Benchmark") {
      columns.push_back({NvbenchPart::benchmark});
    } else if (name == "Device") {
      columns.push_back({NvbenchPart::device});
    } else if (name == "Skipped") {
      columns.push_back({NvbenchPart::skipped});
      behind_skipped = true;
    } else if (name == "Device Name" || name.ends_with(power)) {
      columns.push_back({NvbenchPart::left_out});
    } else if (!behind_skipped) {
      columns.push_back({NvbenchPart::axis, name});
    } else {
      const std::size_t bracket = name.rfind(" (");
      const std::string unit = name.ends_with(')') && bracket != std::string::npos
                                   ? name.substr(bracket + 2, name.size() - bracket - 3)
                                   : "";
      const auto hint = std::ranges::find(nvbench_hints, unit, &NvbenchHint::unit);
      if (hint != nvbench_hints.end())
        columns.push_back({NvbenchPart::summary, name.substr(0, bracket), std::string(hint->hint)});
      else if (name == "Samples")
        columns.push_back({NvbenchPart::left_out});
      else
        columns.push_back({NvbenchPart::open, name});
    }
  }
  return columns;
}

struct ReadRow {
  Record record;
  std::vector<std::string> axes;
};

ReadRow row_of(const std::vector<std::string>& fields, const std::vector<NvbenchColumn>& columns, const fs::path& file,
               const std::string& where) {
  ReadRow row;
  std::vector<NvbenchSummary> summaries;
  bool is_skipped = false;
  const auto add = [&](const std::string& name, const std::string& value) {
    row.axes.push_back(add_nvbench_axis(row.record, name, value, file));
  };
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto& [part, name, hint] = columns[i];
    if (fields[i].empty()) continue;
    switch (part) {
      case NvbenchPart::left_out:
        break;
      case NvbenchPart::benchmark:
        add("benchmark", fields[i]);
        break;
      case NvbenchPart::device:
        add("device", fields[i]);
        break;
      case NvbenchPart::skipped:
        is_skipped = fields[i] != "No";
        break;
      case NvbenchPart::axis:
        add(name, fields[i]);
        break;
      case NvbenchPart::summary:
        summaries.push_back({.name = name, .hint = hint, .value = number_in(parse_cell(fields[i], false))});
        if (!summaries.back().value)
          fail(file, fmt::format("{}: '{}' in the column '{}' is no number", where, shown_text(fields[i]), name));
        break;
      case NvbenchPart::open:
        add_nvbench_axis(row.record, name, parse_cell(fields[i], false), file);
        break;
    }
  }
  if (is_skipped) row.record.set("status", std::string("skipped"));
  if (!is_skipped)
    for (const NvbenchSummary& summary : summaries) add_nvbench_figure(row.record, summary, file, where);
  return row;
}

}  // namespace

bool is_nvbench_table(const std::vector<std::string>& names) {
  const auto has = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  return has("Benchmark") && has("Device") && has("Skipped");
}

std::vector<MeasuringProcess> read_nvbench_table(const fs::path& file, const Table& lines) {
  const std::vector<NvbenchColumn> columns = parts_of_table(lines.front());
  ProcessRows process(file, "nvbench", file.filename().string());
  std::vector<std::string> axes, open;
  for (const NvbenchColumn& column : columns)
    if (column.part == NvbenchPart::open) open.push_back(column_name_in(column.name, file, "the first line"));
  for (std::size_t number = 1; number < lines.size(); ++number) {
    ReadRow row = row_of(lines[number], columns, file, fmt::format("row {}", number));
    for (std::string& axis : row.axes)
      if (std::ranges::find(axes, axis) == axes.end()) axes.push_back(std::move(axis));
    process.add(std::move(row.record));
  }
  process.process().axes = std::move(axes);
  for (const std::string& name : open) process.open(name);
  std::vector<MeasuringProcess> all;
  all.push_back(std::move(process.process()));
  return all;
}

}  // namespace gpubench
