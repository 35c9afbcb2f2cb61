// What a night asks of the history and stores in it, for the command `nightly`: functions of gb._native.history. `out`
// is the folder that holds results/; `runs` are "<experiment>/<name>".
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <sys/file.h>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/host_name.h"
#include "core/base/interrupt.h"
#include "core/codec/output_file.h"
#include "core/history/claims.h"
#include "core/history/judge.h"
#include "core/history/maintenance.h"
#include "core/history/missing.h"
#include "core/history/news.h"
#include "core/history/night_state.h"
#include "core/history/trend.h"
#include "core/report/text/junit.h"
#include "core/results/run_directory.h"
#include "lua/api/openers.h"
#include "lua/api/results/history_file.h"
#include "lua/api/results_values.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// Reports changes in the series of the suite and this host. `again`: folders of runs that measured suspects once more.
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

/// News that no night has told: of the suite and this host; of all without a suite.
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

/// A device alarm of this host, told when the state begins: since when it lasts; "" where it is news.
std::string tell_night_state(const std::string& out, const std::string& suite, const std::string& night,
                             const std::string& name, const std::string& line) {
  RunHistory history = new_history(out);
  const News news{.host = own_host_name(), .suite = suite, .kind = NewsKind::device, .night = night, .line = line};
  return tell_state(history, news, name, today());
}

/// For the next night of this suite and host: "" forgets, nil only looks. Returns what was there.
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

/// The card is gone: resolves its open changes, and returns their number.
std::size_t close_card(const std::string& out, const std::string& card) {
  RunHistory history = existing_history(out);
  return close_changes_of_card(history, own_host_name(), card, utc_text(std::chrono::system_clock::now()));
}

/// Two ids of machines that call themselves as this one does; else an empty list.
std::vector<std::string> machines_of_own_name(const std::string& out) {
  const auto found = machines_of_one_name(existing_history(out), own_host_name());
  return found ? std::vector<std::string>{found->first, found->second} : std::vector<std::string>{};
}

/// Until the process ends, no other night below `out` measures. False if one does; `wait`: waits until it has ended.
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

/// Of a run, those that were reported before or are news.
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

/// JUnit's XML of `list`: { { class, name, outcome, message } }.
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

/// Nights no longer name what is missing of the experiment; of all if it is empty.
std::int64_t accept_missing_series(const std::string& out, const std::string& experiment) {
  RunHistory history = existing_history(out);
  if (!experiment.empty()) check_experiment(history, experiment);
  return accept_missing(history, experiment);
}

Info latest_values(const std::string& out, const std::vector<std::string>& runs) {
  return latest(existing_history(out), runs);
}

void write_night(const std::string& out, const std::string& name, const std::string& text) {
  make_results_folder(out);
  replace_file((results_root(out) / ("nightly-" + name)).string(), text);
}

}  // namespace

void open_nights(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  const Module history = native.submodule("history");
  history.function<&judge_night>("judge_night")
      .function<&suspect_values>("suspects")
      .function<&untold>("untold")
      .function<&told>("told")
      .function<&tell_night_state>("tell_state")
      .function<&remember_for_night>("remember")
      .function<&own_cards>("cards")
      .function<&close_card>("close_card")
      .function<&machines_of_own_name>("machines")
      .function<&hold_nights>("hold")
      .function<&latest_values>("latest")
      .function<&missing_series>("missing")
      .function<&store_missing>("report_missing")
      .function<&refuted_claims>("claims")
      .function<&give_up_series>("give_up")
      .function<&junit_of>("junit")
      .function<&write_text>("write_text")
      .function<&accept_missing_series>("accept_missing")
      .function<&write_night>("write_night");
}

}  // namespace gpubench::lua
