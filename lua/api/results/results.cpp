// gb._native.results: runs for the experiment library. Every run gets the machine's facts at its start and the
// process's own figures at its end, so no script can forget them.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/base/shown_text.h"
#include "core/codec/checksum.h"
#include "core/report/text/run_table.h"
#include "core/report/text/text.h"
#include "core/results/doubt.h"
#include "core/results/mean_over_processes.h"
#include "core/results/row_check.h"
#include "core/results/run_directory.h"
#include "core/results/step_classes.h"
#include "core/run/live_run.h"
#include "lua/api/measure/measured.h"
#include "lua/api/openers.h"
#include "lua/api/output_path.h"
#include "lua/api/results/results_values.h"
#include "lua/api/session.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

void add(LiveRun& run, Record row, const std::optional<std::vector<double>>& samples,
         const std::optional<std::shared_ptr<Timeline>>& timeline, const std::optional<Info>& profile) {
  run.add(std::move(row), {samples.value_or(std::vector<double>{}), timeline.value_or(nullptr), profile});
}

void add_round(LiveRun& run, const Record& row, std::int64_t round, std::int64_t index,
               const std::optional<std::vector<double>>& samples) {
  run.add_round(row, round, index, samples.value_or(std::vector<double>{}));
}

void set_info(LiveRun& run, const Info& fields) {
  if (!fields.fields()) throw ArgumentError("table with named fields expected");
  run.set_info(fields);
}

FinishedRun finish(LiveRun& run, const FinishOptions& options) {
  return run.finish(options.status, {options.charts.begin(), options.charts.end()},
                    {options.expectations.begin(), options.expectations.end()});
}

std::string opening(LiveRun& run, const TextOptions& style) {
  return run.opening(style);
}

std::string closing(LiveRun& run, const TextOptions& style) {
  return run.closing(style);
}

std::shared_ptr<LiveRun> new_run(lua_State* L, RunOptions options) {
  for (const std::filesystem::path& root : {results_root(options.out), plots_root(options.out)})
    output_path(L, (root / options.experiment).string(), "results");
  RunPlan plan{.experiment = std::move(options.experiment),
               .title = std::move(options.title),
               .axes = std::move(options.axes),
               .extra_columns = {options.columns.begin(), options.columns.end()},
               .out = std::move(options.out),
               .script = session_of(L).options().script_text};
  const std::vector<ChartSpec> charts(options.charts.begin(), options.charts.end());
  return std::make_shared<LiveRun>(
      std::move(plan), charts, std::vector<Expectation>(options.claims.begin(), options.claims.end()),
      std::move(options.chart_formats), session_of(L).group(), session_of(L).unfinished_runs);
}

/// end_abandoned(directory, detail): ends the record of a run whose own process is lost.
bool end_abandoned(lua_State* L, const std::string& directory, const std::string& detail) {
  return end_abandoned_run(output_path(L, directory, "results"), detail);
}

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

template <class T>
T returned(lua_State* L, int index, const char* what) {
  try {
    if (!Value<T>::matches(L, index)) mismatch(L, index, Value<T>::expected());
    return Value<T>::read(L, index);
  } catch (const ArgumentError& error) {
    throw Error(fmt::format("run returned {}: {}", what, error.what()));
  }
}

/// check_row(row, samples, timeline, profile): throws for what LiveRun::add() would not take, and for cells that the
/// program's columns do not take.
int check_row(lua_State* L) {
  const auto row = returned<Record>(L, 1, "a column that is no cell");
  check_returned_row(row);
  if (!lua_isnoneornil(L, 2)) returned<std::vector<double>>(L, 2, "samples that are no step times");
  if (!lua_isnoneornil(L, 3)) returned<std::shared_ptr<Timeline>>(L, 3, "a timeline that gb.measure has not made");
  if (!lua_isnoneornil(L, 4)) returned<Info>(L, 4, "a profile that gb.measure has not made");
  return 0;
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

/// step_classes(): the columns that divide a step.
std::vector<std::string> columns_of_step() {
  std::vector<std::string> columns;
  for (const StepClass& one : step_classes) columns.emplace_back(one.column);
  return columns;
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

/// means(rows): of rows of several processes, their means, which claims are about.
std::vector<Record> means(const std::vector<Record>& rows) {
  return mean_over_processes(rows);
}

/// " (did you mean 'fit'?)", or "".
std::string similar(const std::string& word, const std::vector<std::string>& candidates) {
  return suggestion(word, names_of(candidates));
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

/// message(text): a message of several lines, such as a traceback, without what a terminal would execute.
std::string message_of(const std::string& text) {
  return shown_message(text);
}

}  // namespace

template <>
inline constexpr const char* class_name<LiveRun> = "Run";

void open_results(lua_State* L) {
  Class<LiveRun>(L)
      .method<&LiveRun::begin>("begin")
      .method<&add_round>("add_round")
      .method<&LiveRun::replace>("replace")
      .method<&add>("add")
      .method<&LiveRun::verdict>("verdict")
      .method<&set_info>("set_info")
      .method<&finish>("finish")
      .method<&LiveRun::directory>("directory")
      .method<&LiveRun::name>("name")
      .method<&LiveRun::rows>("rows")
      .method<&opening>("opening")
      .method<&LiveRun::row_text>("row_text")
      .method<&closing>("closing");
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  const Module results = native.submodule("results");
  results.function<&new_run>("new_run")
      .function<&end_abandoned>("end_abandoned")
      .function<&table>("table")
      .function<&may_be_axis>("may_be_axis")
      .function<&check_row, 4>("check_row")
      .function<&check_axis_value>("check_axis_value")
      .function<&column>("column")
      .function<&heading>("heading")
      .function<&json_line>("json")
      .function<&text_checksum>("checksum")
      .function<&check_column>("check_column")
      .function<&threshold>("threshold")
      .function<&quality>("quality_column")
      .function<&all_doubts>("doubts")
      .function<&columns_of_step>("step_classes")
      .function<&doubt>("doubt")
      .function<&doubted>("quality_text")
      .function<&means>("means")
      .function<&similar>("suggestion")
      .function<&end_of_interval>("interval_end")
      .function<&end_left_out>("shorten")
      .function<&one_line_of>("one_line")
      .function<&message_of>("message");
}

}  // namespace gpubench::lua
