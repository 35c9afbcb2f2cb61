// gb._native.results, as far as it is about runs that are on disk. Where a script runs, it reads them only:
//
//   read(text, out)            a run by directory, archive, name or experiment: { directory, info, columns, rows }
//   runs_here(experiment, out, most)  folders of runs by this machine, newest first
//
// For commands:
//
//   render(text, format, out, style)  the same as "text", "csv", "json", "markdown" or "junit"; style: { width, color,
//                              all_columns }
//   explain(text, out, { point, words, json, style })  why its points were not faster, as text or JSON, and
//                              "explained", "healthy" or "cannot_tell"
//   is_trace(place)            whether a folder has a trace of a profiler; of a file whether it is of no run
//   rule_tables(places, rule, json, style)  times of traces by another tool's rule, as text or JSON
//   run_of_traces(places, { out, step, against })  writes a run of them; returns its folder, and whether it is slower
//                              than the traces `against`
//   list(out)                  { experiment, name, directory, title, started, status, damage, rows } of each run
//   finish(text, out, formats) writes what a run that died lacks: { directory, report, notes }, without report where it
//                              has all and no formats of charts are asked for
//   pack(text, out, file, anonymous)  writes the archive of a run; returns the file, which is named after the run where
//                              it is nil
//   prune { out, keep, keep_tagged, dry_run }  removes old runs; returns the folders of those that go
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/error.h"
#include "core/report/archive/pack.h"
#include "core/report/text/explanation.h"
#include "core/report/text/render.h"
#include "core/results/prune.h"
#include "core/run/rule_tables.h"
#include "core/run/trace_run.h"
#include "core/traces/open_traces.h"
#include "lua/api/openers.h"
#include "lua/api/results_values.h"
#include "lua/api/session.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// finish(text, out, formats) -> { directory, report, notes }; without report where the run has it already and no
/// formats of charts are asked for.
int finish_stored(lua_State* L) {
  const auto text = Value<std::string>::read(L, 1);
  const std::filesystem::path directory = find_run(text, Value<std::string>::read(L, 2));
  const std::optional<FinishedRun> finished = finish_stored(directory, Value<ChartFormats>::read(L, 3));
  if (finished)
    Value<FinishedRun>::push(L, *finished);
  else
    lua_newtable(L);
  Value<std::string>::push(L, directory.string());
  lua_setfield(L, -2, "directory");
  return 1;
}

Run read(const std::string& text, const std::optional<std::string>& out) {
  return read_run(find_run(text, out.value_or(".")));
}

std::string render_stored(const std::string& text, const std::string& format, const std::optional<std::string>& out,
                          const std::optional<TextOptions>& style) {
  const Format parsed = parse_format(format);
  return render(read(text, out), parsed, style.value_or(TextOptions{}));
}

struct ExplainTable {
  std::optional<std::int64_t> point;
  std::optional<std::string> words;
  bool json = false;
  TextOptions style;
  static constexpr auto fields = std::tuple{field("point", &ExplainTable::point), field("words", &ExplainTable::words),
                                            field("json", &ExplainTable::json), field("style", &ExplainTable::style)};
};

/// explain(text, out, table) -> what to print, and "explained", "healthy" or "cannot_tell"
std::tuple<std::string, std::string> explain(const std::string& text, const std::string& out,
                                             const ExplainTable& table) {
  ExplainOptions options{.point = table.point};
  if (table.words) options.words = parse_words(*table.words);
  const Run run = read(text, out);
  const std::vector<ExplainedRow> rows = explain_rows(run, options);
  return {
      table.json ? to_json(explanation_info(run, rows, options)) : explanation_text(run, rows, options, table.style),
      std::string(to_string(explain_status(rows)))};
}

/// A file that belongs to no run is taken for a trace, too: its reader says what it is.
bool is_trace_place(const std::string& place) {
  std::error_code none;
  const std::filesystem::path path(place);
  const bool is_of_run = is_archive(path) || path.filename() == "results.csv";
  return is_trace(path) || (std::filesystem::is_regular_file(path, none) && !is_of_run);
}

std::string rule_tables_of(const std::vector<std::string>& traces, const std::string& rule, bool json,
                           const TextOptions& style) {
  const RuleTables tables = rule_tables({traces.begin(), traces.end()}, reference_rules.parse(rule));
  return json ? to_json(rule_tables_info(tables)) : rule_tables_text(tables, style);
}

struct TraceTable {
  std::string out = ".", step;
  std::vector<std::string> against;
  static constexpr auto fields = std::tuple{field("out", &TraceTable::out), field("step", &TraceTable::step),
                                            field("against", &TraceTable::against)};
};

/// run_of_traces(places, { out, step, against }) -> the run's folder, and whether it is slower
std::tuple<std::string, bool> run_of_traces(const std::vector<std::string>& traces, const TraceTable& table) {
  const TraceRun run =
      write_trace_run({traces.begin(), traces.end()},
                      {.out = table.out, .step = table.step, .against = {table.against.begin(), table.against.end()}});
  return {run.directory.string(), run.is_slower};
}

std::vector<std::string> runs_here(const std::string& experiment, const std::string& out, std::size_t most) {
  std::vector<std::string> directories;
  for (const auto& directory : runs_of_this_machine(experiment, out, most)) directories.push_back(directory.string());
  return directories;
}

std::vector<RunSummary> list(const std::optional<std::string>& out) {
  return list_runs(out.value_or("."));
}

std::string pack(const std::string& text, const std::string& out, const std::optional<std::string>& file,
                 bool anonymous) {
  const std::vector<ArchiveEntry> entries = packed_run(find_run(text, out), anonymous);
  const std::string path = file.value_or(archive_name(entries));
  write_archive(path, entries);
  return path;
}

struct PruneTable {
  std::string out = ".";
  std::int64_t keep = 0;
  bool keep_tagged = false, dry_run = false;
  static constexpr auto fields =
      std::tuple{field("out", &PruneTable::out), required("keep", &PruneTable::keep),
                 field("keep_tagged", &PruneTable::keep_tagged), field("dry_run", &PruneTable::dry_run)};
};

std::vector<std::string> prune(const PruneTable& table) {
  const PruneOptions options{.keep = static_cast<std::size_t>(table.keep), .keep_tagged = table.keep_tagged};
  std::vector<std::string> removed;
  for (const std::filesystem::path& run : runs_to_prune(table.out, options)) {
    if (!table.dry_run && !remove_run(table.out, run)) continue;  // another prune has removed it
    removed.push_back(run.string());
  }
  if (!table.dry_run) remove_left_overs_of_runs(table.out);
  if (!table.dry_run && !removed.empty()) write_index(table.out);
  return removed;
}

}  // namespace

void open_stored_runs(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  native.submodule("results").function<&read>("read").function<&runs_here>("runs_here");
}

void open_stored_run_commands(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  native.submodule("results")
      .function<&render_stored>("render")
      .function<&explain>("explain")
      .function<&is_trace_place>("is_trace")
      .function<&rule_tables_of>("rule_tables")
      .function<&run_of_traces>("run_of_traces")
      .function<&list>("list")
      .function<&finish_stored, 3>("finish")
      .function<&pack>("pack")
      .function<&prune>("prune");
}

}  // namespace gpubench::lua
