// gb._native.history: the history of nights, for the commands `history` and `nightly`. `out` is the folder that holds
// results/. What functions return is told by core/history, which they call.
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <sys/file.h>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/host_name.h"
#include "core/base/interrupt.h"
#include "core/codec/output_file.h"
#include "core/codec/temporary_name.h"
#include "core/history/claims.h"
#include "core/history/judge.h"
#include "core/history/maintenance.h"
#include "core/history/merge.h"
#include "core/history/missing.h"
#include "core/history/news.h"
#include "core/history/night_state.h"
#include "core/history/pending.h"
#include "core/history/trend.h"
#include "core/history/trend_filter.h"
#include "core/report/page/history_page.h"
#include "core/report/text/junit.h"
#include "core/report/text/run_table.h"
#include "core/results/run_directory.h"
#include "lua/api/openers.h"
#include "lua/api/results/results_values.h"
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
    lua_createtable(L, 0, 4);
    Value<std::size_t>::push(L, rebuilt.stored);
    lua_setfield(L, -2, "stored");
    Value<std::size_t>::push(L, rebuilt.kept);
    lua_setfield(L, -2, "kept");
    Value<std::size_t>::push(L, rebuilt.reported);
    lua_setfield(L, -2, "reported");
    Value<std::vector<std::string>>::push(L, rebuilt.left_out);
    lua_setfield(L, -2, "left_out");
  }
};

template <>
struct Value<MergedFile> {
  static void push(lua_State* L, const MergedFile& merged) {
    lua_createtable(L, 0, 2);
    Value<std::size_t>::push(L, merged.added);
    lua_setfield(L, -2, "added");
    Value<std::string>::push(L, merged.fault);
    lua_setfield(L, -2, "fault");
  }
};

namespace {

struct FilterOptions : TrendFilter {
  static constexpr auto fields =
      std::tuple{field("host", &FilterOptions::host), field("figure", &FilterOptions::figure),
                 field("state", &FilterOptions::state)};
};
using Filter = std::optional<FilterOptions>;

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

/// `wait` = false: does not wait for another program that writes the history.
Appended append_runs(const std::string& out, const std::vector<std::string>& directories, std::optional<bool> wait) {
  make_results_folder(out);
  return append_or_wait(out, {directories.begin(), directories.end()},
                        wait.value_or(true) ? RunHistory::usual_patience_ms : 0);
}

std::size_t judge_history(const std::string& out) {
  RunHistory history = existing_history(out);
  return judge(history).size();
}

std::size_t judge_night(const std::string& out, const std::string& suite, const std::string& night,
                        const std::vector<std::string>& again) {
  RunHistory history = existing_history(out);
  std::vector<RunValues> runs;
  for (const std::string& folder : again) runs.push_back(values_of(read_run(folder)));
  return judge(history, {.suite = suite, .host = own_host_name(), .night = night, .again = values_again(history, runs)})
      .size();
}

/// Values of tonight that may be alarms, or repairs.
Info suspect_values(const std::string& out, const std::vector<std::string>& runs, const std::string& suite) {
  RunHistory history = existing_history(out);
  return described_suspects(suspects(history, runs, suite, own_host_name()));
}

Info untold(const std::string& out, const std::optional<std::string>& suite) {
  if (!std::filesystem::exists(history_file(out))) return Info::List{};
  const RunHistory history = existing_history(out);
  Info::List list;
  for (const News& news : suite ? untold_news(history, *suite, own_host_name()) : untold_news(history)) {
    list.emplace_back(Info::Fields{{"id", news.id},
                                   {"kind", std::string(to_string(news.kind))},
                                   {"is_alarm", is_alarm(news.kind)},
                                   {"night", news.night},
                                   {"line", news.line}});
  }
  return list;
}

void told(const std::string& out, const std::vector<std::string>& ids, const std::string& night) {
  RunHistory history = existing_history(out);
  set_told(history, ids, night);
}

std::string today() {
  const std::string now = utc_text(std::chrono::system_clock::now());
  return now.substr(0, now.find('T'));
}

std::string tell_night_state(const std::string& out, const std::string& suite, const std::string& night,
                             const std::string& name, const std::string& line) {
  RunHistory history = new_history(out);
  const News news{.host = own_host_name(), .suite = suite, .kind = NewsKind::device, .night = night, .line = line};
  return tell_state(history, news, name, today());
}

std::string remember_for_night(const std::string& out, const std::string& suite, const std::string& name,
                               const std::optional<std::string>& value) {
  RunHistory history = new_history(out);
  const std::string before = remembered(history, own_host_name(), suite, name).value_or("");
  if (value) remember(history, own_host_name(), suite, name, *value);
  return before;
}

/// { [card] = slot } of this host, of cards with an id.
Info own_cards(const std::string& out) {
  Info::Fields fields;
  if (std::filesystem::exists(history_file(out))) {
    for (const auto& [card, slot] : cards_of(existing_history(out), own_host_name())) fields.emplace_back(card, slot);
  }
  return fields;
}

std::size_t close_card(const std::string& out, const std::string& card) {
  RunHistory history = existing_history(out);
  return close_changes_of_card(history, own_host_name(), card, utc_text(std::chrono::system_clock::now()));
}

/// Two ids of machines that call themselves as this one does; else empty.
std::vector<std::string> machines_of_own_name(const std::string& out) {
  const auto found = machines_of_one_name(existing_history(out), own_host_name());
  return found ? std::vector<std::string>{found->first, found->second} : std::vector<std::string>{};
}

/// Until the process ends. `wait`: until it can be held.
bool hold_nights(const std::string& out, std::optional<bool> wait) {
  static std::optional<Descriptor> held;
  if (held) return true;
  make_results_folder(out);
  const std::filesystem::path file = results_root(out) / "nightly.lock";
  Descriptor opened(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!opened) throw Error(fmt::format("nightly: '{}' cannot be opened: {}", file.string(), std::strerror(errno)));
  constexpr std::chrono::milliseconds pause{100};
  while (::flock(opened.number(), LOCK_EX | LOCK_NB) != 0) {
    if (!wait.value_or(false)) return false;
    check_interrupt();
    std::this_thread::sleep_for(pause);
  }
  held.emplace(std::move(opened));
  return true;
}

/// Also of a night that measured nothing, whose history may not be there.
Info missing_series(const std::string& out, const std::vector<std::string>& runs, const std::string& suite) {
  if (!std::filesystem::exists(history_file(out))) return Info::List{};
  RunHistory history = existing_history(out);
  return described_missing(find_missing(history, runs, suite, own_host_name()));
}

/// `groups`: { { line, ids } }
void store_missing(const std::string& out, const std::string& suite, const std::string& night, const Info& groups) {
  RunHistory history = existing_history(out);
  std::vector<MissingNews> all;
  const Info::List none;
  for (const Info& group : groups.list() ? *groups.list() : none) {
    MissingNews& news = all.emplace_back();
    news.line = group.text("line");
    for (const Info& id : group.items("ids"))
      if (const auto* number = id.cell() ? std::get_if<std::int64_t>(id.cell()) : nullptr)
        news.series.push_back(*number);
  }
  report_missing(history, all, suite, own_host_name(), night, today());
}

Info refuted_claims(const std::string& out, const std::string& folder, const std::string& suite,
                    const std::string& night, const std::string& job, const std::string& device, bool always) {
  RunHistory history = existing_history(out);
  const NightJob of{.suite = suite, .job = job, .night = night, .device = device, .always_news = always};
  Info::List list;
  for (const RefutedClaim& one : judge_claims(history, read_run(folder), of))
    list.emplace_back(Info::Fields{{"line", one.line}, {"news", one.news}});
  return list;
}

void give_up_series(const std::string& out, const std::vector<std::int64_t>& series) {
  RunHistory history = existing_history(out);
  give_up_missing(history, series);
}

std::string junit_of(const std::string& name, const Info& list) {
  std::vector<TestCase> cases;
  const Info::List none;
  for (const Info& one : list.list() ? *list.list() : none) {
    const std::string outcome = one.text("outcome");
    cases.push_back({.classname = one.text("class"),
                     .name = one.text("name"),
                     .outcome = outcome == "failed"    ? TestOutcome::failed
                                : outcome == "error"   ? TestOutcome::error
                                : outcome == "skipped" ? TestOutcome::skipped
                                                       : TestOutcome::passed,
                     .message = one.text("message")});
  }
  return junit_suite(name, utc_text(std::chrono::system_clock::now()), cases);
}

void write_text(const std::string& file, const std::string& text) {
  replace_file(file, text);
}

std::int64_t accept_missing_series(const std::string& out, const std::string& experiment) {
  RunHistory history = existing_history(out);
  if (!experiment.empty()) check_experiment(history, experiment);
  return accept_missing(history, experiment);
}

/// The watched values of runs, "<experiment>/<name>".
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

Info filtered_changes(const std::string& out, const Filter& filter) {
  const RunHistory history = existing_history(out);
  const FilteredSeries filtered(history, "", filter.value_or(FilterOptions()));
  return filtered.only(with_series(history, history.changes()));
}

Info trend_of(const std::string& out, const std::string& experiment, const Filter& filter) {
  const RunHistory history = existing_history(out);
  check_experiment(history, experiment);
  const FilteredSeries filtered(history, experiment, filter.value_or(FilterOptions()));
  return filtered.only(trend(history, experiment));
}

/// All of an experiment as JSON.
std::string json_of(const std::string& out, const std::string& experiment, const Filter& filter) {
  constexpr int schema = 1;  // it grows when a field changes its meaning or goes away
  return to_json(
      Info::Fields{{"schema", schema}, {"experiment", experiment}, {"series", trend_of(out, experiment, filter)}});
}

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

std::string write_page(const std::string& out, const std::string& experiment, const std::string& file) {
  const Info series = trend(existing_history(out), experiment);
  replace_file(file, history_page(experiment, series));
  return trend_headline(series);
}

void write_night(const std::string& out, const std::string& name, const std::string& text) {
  make_results_folder(out);
  replace_file((results_root(out) / ("nightly-" + name)).string(), text);
}

/// Judges too.
Rebuilt rebuild_history(const std::string& out) {
  RunHistory history = new_history(out);
  Rebuilt rebuilt = rebuild(history, out);
  Judged which;
  which.again = values_again(history, rebuilt.second_looks);
  rebuilt.reported = judge(history, which).size();
  return rebuilt;
}

std::vector<MergedFile> merge_histories(const std::string& out, const std::vector<std::string>& files) {
  RunHistory history = new_history(out);
  return merge(history, std::vector<std::filesystem::path>(files.begin(), files.end()));
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

void open_history(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  const Module history = native.submodule("history");
  history.function<&path_of_history>("file")
      .function<&append_runs>("append")
      .function<&own_host_name>("host")
      .function<&judge_history>("judge")
      .function<&judge_night>("judge_night")
      .function<&suspect_values>("suspects")
      .function<&untold>("untold")
      .function<&told>("told")
      .function<&tell_night_state>("tell_state")
      .function<&remember_for_night>("remember")
      .function<&own_cards>("cards")
      .function<&close_card>("close_card")
      .function<&machines_of_own_name>("machines")
      .function<&hold_nights>("hold")
      .function<&set_host_name>("name_host")
      .function<&latest_values>("latest")
      .function<&missing_series>("missing")
      .function<&store_missing>("report_missing")
      .function<&refuted_claims>("claims")
      .function<&give_up_series>("give_up")
      .function<&junit_of>("junit")
      .function<&write_text>("write_text")
      .function<&accept_missing_series>("accept_missing")
      .function<&unresolved_changes>("open_changes")
      .function<&filtered_changes>("changes")
      .function<&experiments>("experiments")
      .function<&count_runs>("runs")
      .function<&trend_of>("trend")
      .function<&json_of>("json")
      .function<&write_csv>("write_csv")
      .function<&write_page>("write_page")
      .function<&write_night>("write_night")
      .function<&rebuild_history>("rebuild")
      .function<&merge_histories>("merge")
      .function<&back_up_history>("back_up")
      .function<&prune_history>("prune")
      .function<&resolve_alarm>("resolve")
      .function<&value_text>("value_text");
}

}  // namespace gpubench::lua
