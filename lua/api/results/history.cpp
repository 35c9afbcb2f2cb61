// The file of all runs' figures (core/history), for the commands `history`, `report` and `nightly`: its trends and its
// upkeep. `out` is the folder that holds results/.
#include <cstdio>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <vector>

#include "core/base/error.h"
#include "core/base/host_name.h"
#include "core/codec/output_file.h"
#include "core/codec/temporary_name.h"
#include "core/history/judge.h"
#include "core/history/maintenance.h"
#include "core/history/merge.h"
#include "core/history/pending.h"
#include "core/history/trend.h"
#include "core/history/trend_filter.h"
#include "core/report/page/history_page.h"
#include "core/report/text/run_table.h"
#include "core/results/run_directory.h"
#include "lua/api/openers.h"
#include "lua/api/results/history_file.h"
#include "lua/api/results_values.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

namespace {

struct FilterOptions : TrendFilter {
  static constexpr auto fields =
      std::tuple{field("host", &FilterOptions::host), field("figure", &FilterOptions::figure),
                 field("state", &FilterOptions::state)};
};
using Filter = std::optional<FilterOptions>;

Info info_count(std::size_t count) {
  return static_cast<std::int64_t>(count);
}

Info::List info_texts(const std::vector<std::string>& texts) {
  return Info::List(texts.begin(), texts.end());
}

std::string path_of_history(const std::string& out) {
  return history_file(out).string();
}

/// Those that wait first. wait = false: does not wait for another program that writes the history.
Info append_runs(const std::string& out, const std::vector<std::string>& directories, std::optional<bool> wait) {
  make_results_folder(out);
  const Appended appended = append_or_wait(out, {directories.begin(), directories.end()},
                                           wait.value_or(true) ? RunHistory::usual_patience_ms : 0);
  return Info::Fields{{"appended", info_count(appended.appended)},
                      {"known", info_count(appended.known)},
                      {"pending", info_texts(appended.pending)},
                      {"unmarked", info_texts(appended.unmarked)},
                      {"refused", info_texts(appended.refused)}};
}

std::size_t judge_history(const std::string& out) {
  RunHistory history = existing_history(out);
  return judge(history).size();
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

Info filtered_changes(const std::string& out, const Filter& filter) {
  const RunHistory history = existing_history(out);
  const FilteredSeries filtered(history, "", filter.value_or(FilterOptions()));
  std::vector<ReportedChange> changes = history.changes();
  std::erase_if(changes, [&](const ReportedChange& change) { return !filtered.takes(change); });
  return with_series(history, changes);
}

Info trend_of(const std::string& out, const std::string& experiment, const Filter& filter) {
  const RunHistory history = existing_history(out);
  check_experiment(history, experiment);
  const FilteredSeries filtered(history, experiment, filter.value_or(FilterOptions()));
  return described_trend(
      trend(history, experiment, [&](const HistorySeries& series) { return filtered.takes(series); }));
}

/// All of an experiment as JSON.
std::string json_of(const std::string& out, const std::string& experiment, const Filter& filter) {
  constexpr int schema = 1;  // it grows when a field changes its meaning or goes away
  return to_json(
      Info::Fields{{"schema", schema}, {"experiment", experiment}, {"series", trend_of(out, experiment, filter)}});
}

/// Of all experiments if it is empty; to the standard output without a file.
void write_csv(const std::string& out, const std::string& experiment, const std::optional<std::string>& file,
               const Filter& filter) {
  const RunHistory history = existing_history(out);
  if (!experiment.empty()) check_experiment(history, experiment);
  const FilteredSeries filtered(history, experiment, filter.value_or(FilterOptions()));
  const auto takes = [&](const HistorySeries& series) { return filtered.takes(series); };
  if (!file) {
    return export_csv(
        history, experiment, [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }, takes);
  }
  OutputFile to(*file);
  export_csv(
      history, experiment, [&](std::string_view text) { to.write(std::as_bytes(std::span(text))); }, takes);
  if (!to.commit_new()) throw Error(fmt::format("history: '{}' is there already", *file));
}

/// Returns its headline.
std::string write_page(const std::string& out, const std::string& experiment, const std::string& file) {
  const Trend all = trend(existing_history(out), experiment);
  replace_file(file, history_page(experiment, all));
  return trend_headline(all);
}

/// Judges too.
Info rebuild_history(const std::string& out) {
  RunHistory history = new_history(out);
  const Rebuilt rebuilt = rebuild(history, out);
  Judged which;
  which.again = values_again(history, rebuilt.second_looks);
  return Info::Fields{{"stored", info_count(rebuilt.stored)},
                      {"kept", info_count(rebuilt.kept)},
                      {"reported", info_count(judge(history, which).size())},
                      {"left_out", info_texts(rebuilt.left_out)}};
}

Info merge_histories(const std::string& out, const std::vector<std::string>& files) {
  RunHistory history = new_history(out);
  Info::List list;
  for (const MergedFile& one : merge(history, std::vector<std::filesystem::path>(files.begin(), files.end())))
    list.emplace_back(Info::Fields{{"added", info_count(one.added)}, {"fault", one.fault}});
  return list;
}

void back_up_history(const std::string& out, const std::string& file) {
  back_up(existing_history(out), file);
}

std::size_t prune_history(const std::string& out, int days) {
  RunHistory history = existing_history(out);
  return prune(history, days, std::chrono::system_clock::now());
}

std::size_t resolve_alarm(const std::string& out, const std::string& id, const std::string& note) {
  return existing_history(out).resolve(id, note, utc_text(std::chrono::system_clock::now()));
}

std::string value_text(double value, const std::string& unit) {
  return format_cell(Cell(value), parse_unit(unit));
}

}  // namespace

void make_results_folder(const std::string& out) {
  refuse_links(out, "results", "history");
  std::error_code told_later;
  std::filesystem::create_directories(results_root(out), told_later);
}

RunHistory new_history(const std::string& out) {
  make_results_folder(out);
  return RunHistory(path_of_history(out));
}

RunHistory existing_history(const std::string& out) {
  if (!std::filesystem::exists(history_file(out))) {
    throw Error(
        fmt::format("history: there is no history '{}' yet; 'gpubench nightly SUITE' makes one, and 'gpubench "
                    "history --rebuild' makes one from the runs that are there",
                    path_of_history(out)));
  }
  return new_history(out);
}

void open_history(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  const Module history = native.submodule("history");
  history.function<&path_of_history>("file")
      .function<&append_runs>("append")
      .function<&own_host_name>("host")
      .function<&judge_history>("judge")
      .function<&set_host_name>("name_host")
      .function<&unresolved_changes>("open_changes")
      .function<&filtered_changes>("changes")
      .function<&experiments>("experiments")
      .function<&count_runs>("runs")
      .function<&trend_of>("trend")
      .function<&json_of>("json")
      .function<&write_csv>("write_csv")
      .function<&write_page>("write_page")
      .function<&rebuild_history>("rebuild")
      .function<&merge_histories>("merge")
      .function<&back_up_history>("back_up")
      .function<&prune_history>("prune")
      .function<&resolve_alarm>("resolve")
      .function<&value_text>("value_text");
}

}  // namespace gpubench::lua
