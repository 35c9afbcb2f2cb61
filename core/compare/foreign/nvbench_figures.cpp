#include "core/compare/foreign/nvbench_figures.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/shown_text.h"
#include "core/compare/foreign/figure_name.h"
#include "core/compare/foreign/reader.h"

namespace gpubench {

namespace fs = std::filesystem;

namespace {

/// "nv/cold/time/gpu/stdev/relative".
bool is_of_scatter(std::string_view tag) {
  constexpr std::array<std::string_view, 6> parts = {"/stdev", "/iqr", "/q1", "/q3", "/min", "/max"};
  return std::ranges::any_of(parts, [&](std::string_view part) { return tag.find(part) != std::string_view::npos; });
}

bool is_left_out(const NvbenchSummary& summary) {
  return summary.name == "Samples" || summary.name == "Noise" || summary.hint == "sample_size" ||
         is_of_scatter(summary.tag) || !summary.value || (summary.is_hidden && summary.hint != "frequency");
}

}  // namespace

std::string add_nvbench_axis(Record& record, const std::string& name, Cell value, const fs::path& file) {
  const std::string column = column_name_in(name, file, "axis");
  if (record.has(column)) fail(file, fmt::format("two axes would be the column '{}'", shown_text(column)));
  record.set(column, std::move(value));
  return column;
}

void add_nvbench_figure(Record& record, const NvbenchSummary& summary, const fs::path& file, const std::string& where) {
  if (is_left_out(summary)) return;
  const auto known = std::ranges::find(nvbench_hints, summary.hint, &NvbenchHint::hint);
  std::string_view stem = summary.name;
  double scale = 1;
  std::string column;
  if (known != nvbench_hints.end()) {
    if (known->hint == "item_rate" && stem.ends_with("/s")) stem.remove_suffix(2);
    column = lower_case(column_name_in(stem, file, where)) + std::string(known->ending);
  } else {
    column_name_in(stem, file, where);
    const ForeignColumn found = foreign_column(stem);
    column = lower_case(found.column.name);
    scale = found.scale;
  }
  if (record.has(column))
    fail(file, fmt::format("{}: two summaries would be the column '{}'", where, shown_text(column)));
  record.set(column, *summary.value * scale);
}

}  // namespace gpubench
