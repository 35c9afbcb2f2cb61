#include "core/report/text/row_stream.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "core/report/text/color.h"
#include "core/report/text/run_table.h"
#include "core/report/text/text.h"

namespace gpubench {
namespace {

/// What went wrong gets at least so many columns.
constexpr std::size_t least_note = 16;
/// Text is not made wider than this in a window.
constexpr std::size_t most_text = 24;
/// "12.3 %".
constexpr std::size_t width_of_error = 9;  // "-2/+301 %"

// Of "45.2 µs", "12.3 GiB/s", "100.0 %", "1.056e+05".
std::size_t usual_width(Unit unit) {
  switch (unit) {
    case Unit::flops_per_second:
      return 12;
    case Unit::bytes_per_second:
    case Unit::flops:
      return 10;
    case Unit::bytes:
    case Unit::hertz:
    case Unit::joules:
    case Unit::watts:
      return 8;
    case Unit::seconds:
    case Unit::share:
      return 7;
    case Unit::per_second:
    case Unit::celsius:
    case Unit::none:
      break;
  }
  return 6;
}

bool is_number(const Cell& cell) {
  return gpubench::number_in(cell).has_value();
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::size_t own = display_width(text);
  const std::string blanks(width > own ? width - own : 0, ' ');
  return align == Align::right ? blanks + text : text + blanks;
}

bool is_sound(const std::string& text) {
  return text.empty() || text == "ok";
}

}  // namespace

RowStream::RowStream(const Info& info, const TextStyle& style)
    : style_(style), has_processes_(info.find("processes") != nullptr), figures_(info.texts("figures")) {
  // Their values are in the rows alone where the run does not list them.
  for (const std::string& name : info.texts("axis_names")) {
    axis_order_.push_back(name);
    axes_[name];
  }
  const Info* const axes = info.find("axes");
  if (axes == nullptr || axes->list() == nullptr) return;
  axis_order_.clear();
  for (const Info& axis : *axes->list()) {
    axis_order_.push_back(axis.text("name"));
    std::vector<Cell>& values = axes_[axis_order_.back()];
    const Info* const list = axis.find("values");
    if (list == nullptr || list->list() == nullptr) continue;
    for (const Info& value : *list->list())
      if (value.cell() != nullptr) values.push_back(*value.cell());
  }
}

bool RowStream::shows_all() const {
  return style_.all_columns || figures_.empty();
}

// What claims and charts are about; all that a row has where there is nothing else.
std::vector<Column> RowStream::candidates(std::span<const Column> columns) const {
  if (!shows_all()) {
    std::vector<Column> named;
    for (const std::string& figure : figures_) {
      const auto found = std::ranges::find(columns, figure, &Column::name);
      if (found != columns.end() && !is_axis(figure)) named.push_back(*found);
    }
    return named;
  }
  const std::set<std::string> ends = interval_ends(columns);
  std::vector<Column> all;
  std::ranges::copy_if(columns, std::back_inserter(all), [&](const Column& one) {
    return !is_axis(one.name) && !is_remark(one.name) && one.name != "experiment" && one.name != "point" &&
           one.name != "process" && !one.full_tables_only && !ends.contains(one.name);
  });
  return all;
}

// Settings of the program's own measurements are seldom different in two rows, which nobody knows at the first.
bool RowStream::is_setting(const Column& column, const Cell& cell) const {
  return figures_.empty() && !style_.all_columns && column.unit == Unit::none &&
         !std::holds_alternative<double>(cell) && find_standard_column(column.name) != nullptr;
}

void RowStream::note_widths(const Record& row, std::span<const Column> figures) {
  for (const Column& column : figures) {
    const Cell& cell = row.get(column.name);
    if (is_empty(cell) || is_setting(column, cell)) continue;
    std::size_t& widest = seen_[column.name];
    widest = std::max(widest, display_width(one_line(format_cell(cell, column.unit))));
  }
}

// Whether the columns as they are planned take the row; those of numbers may become wider.
bool RowStream::fits(const Record& row, std::span<const Column> figures) {
  const bool has_new = std::ranges::any_of(
      figures, [&](const Column& one) { return seen_.contains(one.name) && !known_.contains(one.name); });
  if (planned_.empty() || has_new) return false;
  const std::size_t before = planned_width();
  for (Planned& one : planned_) {
    if (one.align == Align::right) one.width = std::max(one.width, display_width(cell_of(one, row)));
  }
  return width_ == 0 || planned_width() <= std::max(width_, before);
}

void RowStream::plan_axis(const Column& column) {
  Planned planned{
      .column = column.name, .name = heading_of(column), .heading = {}, .unit = column.unit, .is_axis = true};
  const std::vector<Cell>& values = axes_[column.name];
  if (!values.empty() && std::ranges::all_of(values, is_number)) planned.align = Align::right;
  for (const Cell& value : values)
    planned.width = std::max(planned.width, display_width(one_line(format_cell(value, column.unit))));
  planned_.push_back(std::move(planned));
}

void RowStream::plan_figure(const Column& column) {
  const auto seen = seen_.find(column.name);
  std::size_t width = usual_width(column.unit);
  if (seen != seen_.end()) width = std::max(width, seen->second);
  const bool is_text = column.is_text();
  if (is_text && width_ > 0) width = std::min(std::max(width, least_note), most_text);
  planned_.push_back({.column = column.name,
                      .name = heading_of(column),
                      .heading = {},
                      .unit = column.unit,
                      .align = is_text ? Align::left : Align::right,
                      .width = width});
  if (column.name == "step_time_s")
    planned_.push_back({.column = "", .name = "±", .heading = {}, .align = Align::right, .width = width_of_error});
}

void RowStream::plan(std::span<const Column> columns) {
  planned_.clear();
  known_.clear();
  for (const std::string& axis : axis_order_) {
    const auto found = std::ranges::find(columns, axis, &Column::name);
    plan_axis(found == columns.end() ? column_of(axis) : *found);
  }
  if (has_processes_) plan_axis(column_of("process"));
  for (const Column& figure : candidates(columns)) {
    if (!seen_.contains(figure.name)) continue;
    known_.insert(figure.name);
    plan_figure(figure);
  }
  for (Planned& one : planned_) one.heading = one.name;
  drop_what_has_no_room();
}

std::size_t RowStream::planned_width() const {
  std::size_t width = 0;
  for (const Planned& one : planned_) width += std::max(one.width, display_width(one.heading)) + column_gap;
  return width - std::min(width, column_gap);
}

// The last figures first. One stays, and its headings become as narrow as the text below them.
void RowStream::drop_what_has_no_room() {
  if (width_ == 0 || style_.all_columns) return;
  const auto figures = [&] { return std::ranges::count(planned_, false, &Planned::is_axis); };
  while (figures() > 1 && planned_width() + column_gap + least_note > width_) planned_.pop_back();
  if (planned_width() <= width_) return;
  for (Planned& one : planned_) one.heading = shorten(one.heading, std::max<std::size_t>(one.width, 1));
}

std::vector<std::string> RowStream::headings() const {
  std::vector<std::string> all;
  for (const Planned& one : planned_) all.push_back(one.name);
  return all;
}

std::string RowStream::cell_of(const Planned& planned, const Record& row) const {
  const std::string text =
      one_line(planned.column.empty() ? format_step_error(row) : format_cell(row.get(planned.column), planned.unit));
  return planned.align == Align::left && width_ > 0 ? shorten(text, std::max(planned.width, least_note)) : text;
}

std::string RowStream::heading_lines() const {
  std::string names, rules;
  for (const Planned& one : planned_) {
    const std::string gap(names.empty() ? 0 : column_gap, ' ');
    const std::size_t width = std::max(one.width, display_width(one.heading));
    names += gap + padded(one.heading, width, one.align);
    rules += gap + std::string(width, '-');
  }
  for (std::string* line : {&names, &rules}) {
    line->erase(line->find_last_not_of(' ') + 1);
    if (width_ > 0 && !style_.all_columns) *line = shorten(*line, width_);
  }
  return names + "\n" + rules + "\n";
}

std::string failure_text(std::string_view status, std::string_view detail) {
  if (detail.empty()) return std::string(status);
  const std::size_t end = status == "out_of_memory" ? detail.find("; ") : std::string_view::npos;
  return fmt::format("{}: {}{}", status, detail.substr(0, end), end == std::string_view::npos ? "" : "; ...");
}

// What a reader has to know of the row beside its figures.
std::string RowStream::note_of(const Record& row) {
  const auto text = [&](std::string_view column) { return one_line(to_text(row.get(column))); };
  const std::string detail = text("detail");
  if (const std::string status = text("status"); !is_sound(status)) {
    if (detail.empty() || style_.failures_told) return status;
    return style_.all_columns ? status + ": " + detail : failure_text(status, detail);
  }
  for (const char* quality : {"quality", "memory_quality"}) {
    const Doubt doubt = doubt_in(row, quality);
    if (!doubt) continue;
    // The sentences of one kind differ in figures alone.
    const bool is_told = doubt.kind != DoubtKind::unknown && !told_.insert(doubt.kind).second;
    return is_told ? quality_text(to_string(doubt.kind)) : text(quality);
  }
  if (detail.empty() || detail == last_detail_) return text("verdict");
  last_detail_ = detail;
  return detail;
}

std::string RowStream::line_of(const Record& row) {
  std::string line;
  for (const Planned& one : planned_) {
    const std::string gap(line.empty() ? 0 : column_gap, ' ');
    line += gap + padded(cell_of(one, row), std::max(one.width, display_width(one.heading)), one.align);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  const bool cut = width_ > 0 && !style_.all_columns;
  if (cut) line = shorten(line, width_);
  std::string note = note_of(row);
  if (cut) {
    const std::size_t used = display_width(line) + column_gap;
    note = used < width_ ? shorten(note, width_ - used) : "";
  }
  if (note.empty()) return line + "\n";
  const bool failed = !is_sound(to_text(row.get("status")));
  const bool doubted = !is_sound(to_text(row.get("quality"))) || !is_sound(to_text(row.get("memory_quality")));
  const std::string gap(line.empty() ? 0 : column_gap, ' ');
  return line + gap + in_color(note, failed ? red : yellow, style_.color && (failed || doubted)) + "\n";
}

std::string RowStream::table_of(std::span<const Record> rows, std::span<const Column> columns, std::size_t width) {
  width_ = width;
  const std::vector<Column> figures = candidates(columns);
  for (const Record& row : rows) {
    note_widths(row, figures);
    for (auto& [axis, values] : axes_)
      if (!is_empty(row.get(axis))) values.push_back(row.get(axis));
  }
  plan(columns);
  if (rows.empty()) return "";
  std::string text = heading_lines();
  for (const Record& row : rows) text += line_of(row);
  return text;
}

std::string RowStream::text_of(const Record& row, std::span<const Column> columns, std::size_t width) {
  if (is_skipped(row)) return "";
  const std::vector<Column> figures = candidates(columns);
  note_widths(row, figures);
  const bool resized = width != width_;
  width_ = width;
  if (!resized && fits(row, figures)) return line_of(row);
  const bool is_first = planned_.empty();
  plan(columns);
  return (is_first ? "" : "\n") + heading_lines() + line_of(row);
}

}  // namespace gpubench
