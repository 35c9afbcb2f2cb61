// gb._native.results.watch(command, { out, against, seconds, stop, at, window_steps, prove_steps, remedies, json, style
// })  runs a job that is no script, prints what is known of it to the standard error, and ends this process as the job
// has ended.
#include <cstdio>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/report/text/explanation.h"
#include "core/report/text/render.h"
#include "core/run/tune_job.h"
#include "core/run/watch_run.h"
#include "lua/api/openers.h"
#include "lua/api/results_values.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

struct WatchTable {
  std::string out = ".", against;
  double seconds = 60;
  bool stop = false, json = false;
  std::int64_t at = -1, window_steps = 12, prove_steps = 0;
  std::vector<std::string> remedies;
  TextOptions style;
  static constexpr auto fields = std::tuple{field("out", &WatchTable::out),
                                            field("against", &WatchTable::against),
                                            field("seconds", &WatchTable::seconds),
                                            field("stop", &WatchTable::stop),
                                            field("json", &WatchTable::json),
                                            field("at", &WatchTable::at),
                                            field("window_steps", &WatchTable::window_steps),
                                            field("prove_steps", &WatchTable::prove_steps),
                                            field("remedies", &WatchTable::remedies),
                                            field("style", &WatchTable::style)};
};

/// What the user reads: the verdict and where it comes from, or why there is none.
std::string text_of(const WatchReport& report, const WatchTable& table) {
  if (table.json && (report.run.empty() || !report.has_steps))
    return to_json_line(Info::Fields{
               {"status", "cannot_tell"}, {"run", report.run.filename().string()}, {"why_none", report.why_none}}) +
           "\n";
  if (report.run.empty()) return fmt::format("gpubench: watch: {}\n", report.why_none);
  const Run run = read_run(report.run);
  try {
    const std::vector<ExplainedRow> rows = explain_rows(run);
    if (table.json) return to_json_line(explanation_info(run, rows, {})) + "\n";
    return "\n" + explanation_text(run, rows, {}, table.style) + fmt::format("\nrun: {}\n", report.run.string());
  } catch (const Error&) {
    return fmt::format("gpubench: watch: {}; run: {}\n", report.why_none, report.run.string());
  }
}

void watch(const std::vector<std::string>& command, const WatchTable& table) {
  WatchOptions options{.command = command,
                       .out = table.out,
                       .time = Seconds(table.seconds),
                       .stop = table.stop,
                       .at = static_cast<int>(table.at),
                       .window_steps = static_cast<int>(table.window_steps),
                       .prove_steps = static_cast<int>(table.prove_steps),
                       .remedies = table.remedies};
  if (!table.against.empty()) options.against = read_run(find_run(table.against, table.out));
  const JobEnd end = watch_job(options, [&](const WatchReport& report) {
    std::string text;
    try {
      text = text_of(report, table);
    } catch (const std::exception& error) {
      text = fmt::format("gpubench: watch: {}\n", error.what());
    }
    if (!text.starts_with('\n')) text.insert(0, "\n");  // a progress bar of the job has left its line unfinished
    std::fputs(text.c_str(), stderr);
  });
  end_as(end);
}

struct TuneJobTable {
  std::string out = ".";
  double budget = 300;
  std::int64_t steps = 0;
  std::vector<std::string> only;
  bool allows_learning = false, dry_run = false, json = false;
  TextOptions style;
  static constexpr auto fields = std::tuple{field("out", &TuneJobTable::out),
                                            field("budget", &TuneJobTable::budget),
                                            field("steps", &TuneJobTable::steps),
                                            field("only", &TuneJobTable::only),
                                            field("allows_learning", &TuneJobTable::allows_learning),
                                            field("dry_run", &TuneJobTable::dry_run),
                                            field("json", &TuneJobTable::json),
                                            field("style", &TuneJobTable::style)};
};

/// tune_job(command, table) -> what to print, and whether a gain could be judged
std::tuple<std::string, bool> tune(const std::vector<std::string>& command, const TuneJobTable& table) {
  const TuneJobOptions options{.command = command,
                               .out = table.out,
                               .budget = Seconds(table.budget),
                               .steps = static_cast<std::uint64_t>(table.steps),
                               .only = table.only,
                               .allows_learning = table.allows_learning,
                               .is_dry = table.dry_run};
  const TunedJob tuned =
      tune_job(options, [](const std::string& line) { std::fputs(("tune: " + line + "\n").c_str(), stderr); });
  if (table.json) return {to_json_line(tuned_info(tuned)) + "\n", tuned.why_none.empty()};
  if (!tuned.why_none.empty()) return {"tune: " + tuned.why_none + "\n", false};
  const Run run = read_run(tuned.run);
  const std::vector<ExplainedRow> rows = explain_rows(run);
  return {"\n" + explanation_text(run, rows, {}, table.style) + "\n" + tuned_text(tuned) +
              fmt::format("\nrun: {}\n", tuned.run.string()),
          true};
}

}  // namespace

void open_watch(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  native.submodule("results").function<&watch>("watch").function<&tune>("tune_job");
}

}  // namespace gpubench::lua
