// gb._native.results: what is known of columns, rows and doubts, and texts for people.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/base/shown_text.h"
#include "core/codec/checksum.h"
#include "core/report/text/row_stream.h"
#include "core/report/text/run_table.h"
#include "core/report/text/text.h"
#include "core/results/doubt.h"
#include "core/results/row_check.h"
#include "lua/api/openers.h"
#include "lua/api/results_values.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// checksum(text): tells whether a text is another one.
std::string text_checksum(const std::string& text) {
  return fmt::format("{:08x}", crc32c(std::as_bytes(std::span(text))));
}

/// json(value): in one line.
std::string json_line(const Info& info) {
  return to_json_line(info);
}

/// What tables and charts call a column: "examples/s".
std::string heading(const std::string& name) {
  return heading_of(column_of(name));
}

// The columns that rows have: standard ones in their order, then the others by name.
std::vector<Column> columns_in(const std::vector<Record>& rows) {
  std::vector<Column> columns(standard_columns().begin(), standard_columns().end());
  std::vector<std::string> others;
  for (const Record& row : rows) {
    for (const auto& [name, cell] : row.cells()) {
      if (!find_standard_column(name)) others.push_back(name);
    }
  }
  std::ranges::sort(others);
  others.erase(std::unique(others.begin(), others.end()), others.end());
  for (const std::string& name : others) columns.push_back(column_of(name));
  return columns;
}

/// The text table of any rows. Named columns are shown in their order, whether or not they say something.
std::string table(const std::vector<Record>& rows, const std::optional<std::vector<std::string>>& names) {
  if (!names) return render_text(run_table(columns_in(rows), rows, {}, Detail::brief).table);
  std::vector<Column> columns;
  for (const std::string& name : *names) columns.push_back(column_of(name));
  return render_text(run_table(columns, rows, *names, Detail::brief).table);
}

bool may_be_axis(const std::string& name) {
  return gpubench::may_be_axis(name);
}

/// check_axis_value(name, value): throws for a value that a standard column of this name does not take.
void check_axis_value(const std::string& name, const Cell& value) {
  check_cell(name, value, "gb.experiment: the axis has");
}

/// check_column(column): throws for a unit, direction or kind that there is not.
void check_column(const ColumnOptions& column) {
  check_column_name(column.name);
}

Column column(const std::string& name) {
  return column_of(name);
}

/// threshold("3 %"): 0.03
double threshold(const std::string& text) {
  return parse_threshold(text);
}

/// The column that says whether figures of this kind can be relied on; nil where nothing disturbs them.
std::optional<std::string> quality(const std::string& kind) {
  const std::string_view name = quality_column(parse_kind(kind));
  return name.empty() ? std::nullopt : std::optional<std::string>(name);
}

/// doubts(): for each kind of doubt, by name, { why, remedy, remedy_if_learned }, whose texts may be empty.
Info all_doubts() {
  Info::Fields kinds;
  for (const DoubtWords& one : doubt_words()) {
    if (one.kind == DoubtKind::none) continue;
    kinds.emplace_back(std::string(one.name),
                       Info::Fields{{"why", std::string(one.why)},
                                    {"remedy", std::string(one.remedy)},
                                    {"remedy_if_learned",
                                     std::string(one.remedy_if_learned.empty() ? one.remedy : one.remedy_if_learned)}});
  }
  return kinds;
}

/// doubt(quality, kind): { kind, text } of the cells of a quality and of its kind; nil where there is no doubt.
std::optional<Info> doubt(const std::optional<std::string>& quality, const std::optional<std::string>& kind) {
  const Doubt one = read_doubt(quality.value_or(""), kind.value_or(""));
  if (!one) return std::nullopt;
  return Info::Fields{{"kind", std::string(to_string(one.kind))}, {"text", one.text}};
}

/// quality_text(text): the cell of a quality with this sentence.
std::string doubted(const std::string& text) {
  return quality_text(text);
}

/// not_numbers(row): "accuracy is NaN, loss is infinite", nil where all figures are numbers.
std::optional<std::string> not_numbers(const Record& row) {
  std::string text = not_numbers_in(row);
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

/// " (did you mean 'fit'?)", or "".
std::string similar(const std::string& word, const std::vector<std::string>& candidates) {
  return suggestion(word, names_of(candidates));
}

/// What an error says of a word that is none of the names, as errors of native functions do. `place`: where
/// core/base/other_names.h looks it up; nil where names of other libraries mean nothing.
std::string said_of_unknown(const std::string& word, const std::vector<std::string>& names,
                            const std::optional<std::string>& place) {
  return known_names(word, names_of(names), "", place.value_or(""));
}

std::string end_of_interval(const std::string& name, const std::string& end) {
  return interval_end(column_of(name), end);
}

/// shorten(text, width): at most `width` columns of a terminal, cut at the end.
std::string end_left_out(const std::string& text, int width) {
  return shorten(text, static_cast<std::size_t>(std::max(width, 0)));
}

std::string one_line_of(const std::string& text) {
  return one_line(text);
}

std::string text_of_failure(const std::string& status, const std::optional<std::string>& detail) {
  return failure_text(status, detail.value_or(""));
}

/// message(text): a message of several lines, such as a traceback, without what a terminal would execute.
std::string message_of(const std::string& text) {
  return shown_message(text);
}

}  // namespace

void open_results(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  const Module results = native.submodule("results");
  results.function<&table>("table")
      .function<&may_be_axis>("may_be_axis")
      .function<&check_axis_value>("check_axis_value")
      .function<&column>("column")
      .function<&heading>("heading")
      .function<&json_line>("json")
      .function<&text_checksum>("checksum")
      .function<&check_column>("check_column")
      .function<&threshold>("threshold")
      .function<&quality>("quality_column")
      .function<&all_doubts>("doubts")
      .function<&doubt>("doubt")
      .function<&doubted>("quality_text")
      .function<&not_numbers>("not_numbers")
      .function<&similar>("suggestion")
      .function<&said_of_unknown>("known_names")
      .function<&end_of_interval>("interval_end")
      .function<&end_left_out>("shorten")
      .function<&one_line_of>("one_line")
      .function<&text_of_failure>("failure_text")
      .function<&message_of>("message");
}

}  // namespace gpubench::lua
