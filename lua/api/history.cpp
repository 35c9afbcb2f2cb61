// gb._native.history: the history of nights, for the commands `history` and `nightly`. `out` is the folder that holds
// results/.
//
//   host()                           the name of this machine, as runs have it
//   file(out)                        the path of the history
//   append(out, directories, wait)   appends runs, those that wait first: { appended, known, pending, unmarked, refused
//   }.
//                                    wait = false: does not wait for another program that writes the history
//   judge(out, suite)                reports what has changed since: a list of changes, as in core/history/trend.h.
//   With a
//                                    suite only in its series of this host
//   latest(out, runs)                the watched values of runs, "<experiment>/<name>"
//   missing(out, runs, suite)        the watched series of this suite and host that these runs lack and that earlier
//   ones
//                                    had: { id, since, host, ... }, since = "" where it is news
//   report_missing(out, ids, when)   stores that they were reported
//   claims(out, folder, suite, job, always)  the refuted claims of a run that are news or were reported: { experiment,
//                                    claim, reason, news }, as in core/history/claims.h
//   accept_missing(out, experiment)  nights no longer name what is missing of an experiment ("": of all); their number
//   open_changes(out)                those that are open
//   experiments(out)                 their names
//   runs(out)                        the number of runs
//   trend(out, experiment)           a list of series with points and changes
//   json(out, experiment)            the same as text
//   write_csv(out, experiment, file) all values of an experiment ("": of all); to the standard output without a file
//   write_page(out, experiment, file)  the page of an experiment's trend; returns its headline
//   write_night(out, name, text)     results/nightly-<name>, of which readers see either the old or the new text
//   rebuild(out), merge(out, file), prune(out, days), resolve(out, id, note)
//   value_text(value, unit)          for people: "12.3 ms"
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <span>

#include "core/base/error.h"
#include "core/codec/output_file.h"
#include "core/history/claims.h"
#include "core/history/judge.h"
#include "core/history/maintenance.h"
#include "core/history/missing.h"
#include "core/history/pending.h"
#include "core/history/trend.h"
#include "core/report/history_page.h"
#include "core/report/run_table.h"
#include "core/results/run_directory.h"
#include "core/telemetry/proc/environment.h"
#include "lua/api/openers.h"
#include "lua/api/results_values.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

template <>
struct Value<Appended> {
  static void push(lua_State* L, const Appended& appended) {
    lua_createtable(L, 0, 5);
    Value<std::size_t>::push(L, appended.appended);
    lua_setfield(L, -2, "appended");
    Value<std::size_t>::push(L, appended.known);
    lua_setfield(L, -2, "known");
    Value<std::vector<std::string>>::push(L, appended.pending);
    lua_setfield(L, -2, "pending");
    Value<std::vector<std::string>>::push(L, appended.unmarked);
    lua_setfield(L, -2, "unmarked");
    Value<std::vector<std::string>>::push(L, appended.refused);
    lua_setfield(L, -2, "refused");
  }
};

template <>
struct Value<Rebuilt> {
  static void push(lua_State* L, const Rebuilt& rebuilt) {
    lua_createtable(L, 0, 3);
    Value<std::size_t>::push(L, rebuilt.stored);
    lua_setfield(L, -2, "stored");
    Value<std::size_t>::push(L, rebuilt.kept);
    lua_setfield(L, -2, "kept");
    Value<std::vector<std::string>>::push(L, rebuilt.left_out);
    lua_setfield(L, -2, "left_out");
  }
};

namespace {

std::string path_of_history(const std::string& out) {
  return history_file(out).string();
}

/// Why it cannot be made is told by what writes a file there.
void make_results_folder(const std::string& out) {
  refuse_links(out, "results", "history");
  std::error_code told_later;
  std::filesystem::create_directories(results_root(out), told_later);
}

/// Opens it for writing, and creates it.
RunHistory new_history(const std::string& out) {
  make_results_folder(out);
  return RunHistory(path_of_history(out));
}

/// Opens one that is there. Also reading may write: an older schema is brought up to date.
RunHistory existing_history(const std::string& out) {
  if (!std::filesystem::exists(history_file(out))) {
    throw Error(
        fmt::format("history: there is no history '{}' yet; 'gpubench nightly SUITE' makes one, and 'gpubench "
                    "history --rebuild' makes one from the runs that are there",
                    path_of_history(out)));
  }
  return new_history(out);
}

Appended append_runs(const std::string& out, const std::vector<std::string>& directories, std::optional<bool> wait) {
  make_results_folder(out);
  return append_or_wait(out, {directories.begin(), directories.end()},
                        wait.value_or(true) ? RunHistory::usual_patience_ms : 0);
}

std::string own_host() {
  for (const auto& [name, fact] : machine_facts()) {
    if (const auto* text = std::get_if<std::string>(&fact); text && name == "host") return *text;
  }
  return host_name();
}

/// With a suite: only its series of this host.
Info judge_history(const std::string& out, const std::optional<std::string>& suite) {
  RunHistory history = existing_history(out);
  return with_series(history, judge(history, suite ? Judged{suite, own_host()} : Judged{}));
}

/// Also of a night that measured nothing, whose history may not be there.
Info missing_series(const std::string& out, const std::vector<std::string>& runs, const std::string& suite) {
  if (!std::filesystem::exists(history_file(out))) return Info::List{};
  RunHistory history = existing_history(out);
  return described_missing(find_missing(history, runs, suite, own_host()));
}

void store_missing(const std::string& out, const std::vector<std::int64_t>& series, const std::string& when) {
  RunHistory history = existing_history(out);
  report_missing(history, series, when);
}

Info refuted_claims(const std::string& out, const std::string& folder, const std::string& suite, const std::string& job,
                    bool always) {
  RunHistory history = existing_history(out);
  Info::List list;
  for (const RefutedClaim& one : judge_claims(history, read_run(folder), {suite, job, always})) {
    list.emplace_back(
        Info::Fields{{"experiment", one.experiment}, {"claim", one.claim}, {"reason", one.reason}, {"news", one.news}});
  }
  return list;
}

std::int64_t accept_missing_series(const std::string& out, const std::string& experiment) {
  RunHistory history = existing_history(out);
  if (!experiment.empty()) check_experiment(history, experiment);
  return accept_missing(history, experiment);
}

Info latest_values(const std::string& out, const std::vector<std::string>& runs) {
  return latest(existing_history(out), runs);
}

Info unresolved_changes(const std::string& out) {
  const RunHistory history = existing_history(out);
  std::vector<ReportedChange> changes = history.changes();
  std::erase_if(changes, [](const ReportedChange& change) { return change.state != ChangeState::open; });
  return with_series(history, changes);
}

std::vector<std::string> experiments(const std::string& out) {
  return existing_history(out).experiments();
}

std::size_t count_runs(const std::string& out) {
  return existing_history(out).runs().size();
}

/// All of an experiment as JSON.
std::string json_of(const std::string& out, const std::string& experiment) {
  constexpr int schema = 1;  // it grows when a field changes its meaning or goes away
  return to_json(Info::Fields{
      {"schema", schema}, {"experiment", experiment}, {"series", trend(existing_history(out), experiment)}});
}

Info trend_of(const std::string& out, const std::string& experiment) {
  return trend(existing_history(out), experiment);
}

void write_csv(const std::string& out, const std::string& experiment, const std::optional<std::string>& file) {
  const RunHistory history = existing_history(out);
  if (!experiment.empty()) check_experiment(history, experiment);
  if (!file) {
    return export_csv(history, experiment,
                      [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); });
  }
  OutputFile to(*file);
  export_csv(history, experiment, [&](std::string_view text) { to.write(std::as_bytes(std::span(text))); });
  if (!to.commit_new()) throw Error(fmt::format("history: '{}' is there already", *file));
}

std::string write_page(const std::string& out, const std::string& experiment, const std::string& file) {
  const Info series = trend(existing_history(out), experiment);
  replace_file(file, history_page(experiment, series));
  return trend_headline(series);
}

void write_night(const std::string& out, const std::string& name, const std::string& text) {
  make_results_folder(out);
  replace_file((results_root(out) / ("nightly-" + name)).string(), text);
}

Rebuilt rebuild_history(const std::string& out) {
  RunHistory history = new_history(out);
  return rebuild(history, out);
}

std::size_t merge_histories(const std::string& out, const std::string& file) {
  RunHistory history = new_history(out);
  return merge(history, file);
}

std::size_t prune_history(const std::string& out, int days) {
  RunHistory history = existing_history(out);
  return prune(history, days, std::chrono::system_clock::now());
}

void resolve_change(const std::string& out, std::int64_t id, const std::string& note) {
  existing_history(out).resolve(id, note, utc_text(std::chrono::system_clock::now()));
}

std::string value_text(double value, const std::string& unit) {
  return format_cell(Cell(value), parse_unit(unit));
}

}  // namespace

void open_history(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  const Module history = native.submodule("history");
  history.function<&path_of_history>("file")
      .function<&append_runs>("append")
      .function<&own_host>("host")
      .function<&judge_history>("judge")
      .function<&latest_values>("latest")
      .function<&missing_series>("missing")
      .function<&store_missing>("report_missing")
      .function<&refuted_claims>("claims")
      .function<&accept_missing_series>("accept_missing")
      .function<&unresolved_changes>("open_changes")
      .function<&experiments>("experiments")
      .function<&count_runs>("runs")
      .function<&trend_of>("trend")
      .function<&json_of>("json")
      .function<&write_csv>("write_csv")
      .function<&write_page>("write_page")
      .function<&write_night>("write_night")
      .function<&rebuild_history>("rebuild")
      .function<&merge_histories>("merge")
      .function<&prune_history>("prune")
      .function<&resolve_change>("resolve")
      .function<&value_text>("value_text");
}

}  // namespace gpubench::lua
