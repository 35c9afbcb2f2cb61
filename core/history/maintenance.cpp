#include "core/history/maintenance.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <span>
#include <unordered_map>

#include "core/codec/output_file.h"
#include "core/history/news.h"
#include "core/results/csv.h"
#include "core/results/run_directory.h"

namespace gpubench {
namespace {

/// Merges two lists, each in its own order, by what their clocks said: the order inside a list always holds.
std::vector<HistoryRun> in_one_order(const std::vector<HistoryRun>& one, const std::vector<HistoryRun>& other) {
  std::vector<HistoryRun> all;
  auto left = one.begin();
  auto right = other.begin();
  while (left != one.end() || right != other.end()) {
    const bool take_left = right == other.end() || (left != one.end() && left->started <= right->started);
    all.push_back(take_left ? *left++ : *right++);
  }
  return all;
}

void number(const Database& database, const std::vector<HistoryRun>& runs) {
  Statement set = database.prepare("UPDATE runs SET sequence = ? WHERE id = ?");
  std::int64_t sequence = 0;
  for (const HistoryRun& run : runs) set.bind(1, ++sequence).bind(2, run.id).run();
}

/// The runs with ids above `last`, which were added since.
std::vector<HistoryRun> split_off_newer(std::vector<HistoryRun>& runs, std::int64_t last) {
  const auto newer =
      std::stable_partition(runs.begin(), runs.end(), [&](const HistoryRun& run) { return run.id <= last; });
  std::vector<HistoryRun> all(newer, runs.end());
  runs.erase(newer, runs.end());
  return all;
}

std::int64_t last_run_id(const Database& database) {
  Statement last = database.prepare("SELECT coalesce(max(id), 0) FROM runs");
  return last.step() ? last.integer(0) : 0;
}

// Runs before `last` stand where they are; newer ones are put between them.
void place_newer(const RunHistory& history, std::int64_t last) {
  std::vector<HistoryRun> before = history.runs();
  const std::vector<HistoryRun> newer = split_off_newer(before, last);
  number(history.database(), in_one_order(before, newer));
}

/// Copies series, runs and points of the other file; returns the number of runs that were new.
class Merge {
 public:
  Merge(RunHistory& history, const RunHistory& other) : history_(history), other_(other) {}

  std::size_t run() {
    const std::int64_t last = last_run_id(history_.database());
    std::unordered_map<std::int64_t, std::size_t> place;
    std::vector<RunValues> added;
    for (const HistoryRun& run : other_.runs()) {
      if (history_.has_run(run.host, run.experiment, run.name)) continue;
      place.emplace(run.id, added.size());
      added.push_back({.host = run.host,
                       .experiment = run.experiment,
                       .name = run.name,
                       .suite = run.suite,
                       .started = run.started,
                       .environment = other_.environment(run.environment),
                       .night = run.night,
                       .machine = run.machine});
    }
    other_.for_each_series(other_.series(), [&](const HistorySeries& series, const std::vector<HistoryPoint>& points) {
      for (const HistoryPoint& point : points) {
        const auto found = place.find(point.run);
        if (found == place.end()) continue;
        added[found->second].values.push_back({.key = series.key,
                                               .column = series.column,
                                               .watched = series.watched,
                                               .value = point.value,
                                               .low = point.low,
                                               .high = point.high,
                                               .reliable = point.reliable});
      }
    });
    for (const RunValues& run : added) store_run(history_.database(), run, last_sequence(history_.database()) + 1);
    place_newer(history_, last);
    copy_changes();
    merge_news(history_, other_);
    return added.size();
  }

 private:
  /// Of a card that is known by its id, in whatever slot it is.
  static std::string key_text(const SeriesKey& key) {
    std::string text;
    const std::string slot = is_card_id(key.card) ? std::string() : key.slot;
    for (const std::string& part : {key.host, key.card, slot, key.suite, key.experiment, key.axes, key.metric}) {
      text += part;
      text += '\0';
    }
    return text;
  }

  void copy_changes() {
    std::map<std::string, std::int64_t> own;
    for (const HistorySeries& series : history_.series()) own.emplace(key_text(series.key), series.id);
    std::map<std::int64_t, std::int64_t> series_here;
    for (const HistorySeries& series : other_.series()) {
      if (const auto found = own.find(key_text(series.key)); found != own.end())
        series_here.emplace(series.id, found->second);
    }
    copy_judged(series_here);
    std::map<std::pair<std::int64_t, std::string>, ReportedChange> known;
    for (ReportedChange& change : history_.changes())
      known.emplace(std::pair(change.series, change.run), std::move(change));
    for (ReportedChange change : other_.changes()) {
      const auto found = series_here.find(change.series);
      if (found == series_here.end()) continue;
      change.series = found->second;
      const auto [own_change, is_new] = known.emplace(std::pair(change.series, change.run), change);
      if (is_new) {
        history_.add_change(change);
      } else if (own_change->second.state == ChangeState::open && change.state != ChangeState::open) {
        history_.close_change(own_change->second.id, change.state, change.closed, change.note);
      }
    }
  }

  /// What the other machine has judged is no news here either.
  void copy_judged(const std::map<std::int64_t, std::int64_t>& series_here) {
    Statement own_id = history_.database().prepare(
        "SELECT runs.id, judged FROM runs, series WHERE runs.host = ? AND runs.experiment = ? AND runs.name = ? "
        "AND series.id = ?");
    std::unordered_map<std::int64_t, HistoryRun> runs;
    for (HistoryRun& run : other_.runs()) runs.emplace(run.id, std::move(run));
    for (const HistorySeries& series : other_.series()) {
      const auto here = series_here.find(series.id);
      const auto run = runs.find(series.judged);
      if (here == series_here.end() || run == runs.end()) continue;
      own_id.bind(1, run->second.host).bind(2, run->second.experiment).bind(3, run->second.name).bind(4, here->second);
      if (!own_id.step()) continue;
      const std::int64_t judged = own_id.integer(0);
      if (judged > own_id.integer(1)) history_.set_judged(here->second, judged);
      while (own_id.step()) continue;
    }
  }

  RunHistory& history_;
  const RunHistory& other_;
};

/// The first of a host's runs, in their order, that stays.
std::size_t first_kept(const std::vector<HistoryRun>& runs, const std::string& oldest, const std::string& future) {
  const auto first = [&](auto&& fits) {
    return static_cast<std::size_t>(std::ranges::find_if(runs, fits) - runs.begin());
  };
  const std::size_t recent =
      first([&](const HistoryRun& run) { return run.started >= oldest && run.started <= future; });
  // Only dates that have not come yet: the clock is wrong now, or was, and nothing says how old these runs are.
  return recent < runs.size() ? recent : first([&](const HistoryRun& run) { return run.started > future; });
}

}  // namespace

Rebuilt rebuild(RunHistory& history, const std::filesystem::path& out) {
  Rebuilt rebuilt;
  std::vector<RunSummary> summaries = list_runs(out);
  std::ranges::reverse(summaries);  // of one second, the oldest first
  std::ranges::stable_sort(summaries, {}, &RunSummary::started);
  Transaction transaction(history.database());
  const std::int64_t last = last_run_id(history.database());
  std::set<std::string> seen;
  for (const RunSummary& summary : summaries) {
    try {
      const Run run = read_run(summary.directory);
      if (is_second_look(run.info)) {
        rebuilt.second_looks.push_back(values_of(run));
        continue;
      }
      const RunValues values = finished_values(run);
      store_run(history.database(), values, last_sequence(history.database()) + 1);
      seen.emplace(values.host + "/" + values.experiment + "/" + values.name);
      ++rebuilt.stored;
    } catch (const HistoryUnavailable&) {
      throw;
    } catch (const Error& error) {
      rebuilt.left_out.push_back(fmt::format("{}: {}", summary.directory.string(), error.what()));
    }
  }
  place_newer(history, last);
  for (const HistoryRun& run : history.runs())
    rebuilt.kept += seen.contains(run.host + "/" + run.experiment + "/" + run.name) ? 0 : 1;
  transaction.commit();
  return rebuilt;
}

std::size_t merge(RunHistory& history, const std::filesystem::path& other) {
  std::error_code error;
  if (std::filesystem::equivalent(other, history.database().file(), error))
    throw Error(fmt::format("history: '{}' is this history itself; give the file of another machine", other.string()));
  if (!std::filesystem::is_regular_file(other, error))
    throw Error(fmt::format("history: there is no file '{}' to merge", other.string()));
  if (std::filesystem::file_size(other, error) == 0)
    throw HistoryUnavailable(fmt::format("history: '{}' is empty, and no history", other.string()));
  const RunHistory from(other);
  Transaction transaction(history.database());
  const std::size_t added = Merge(history, from).run();
  transaction.commit();
  return added;
}

void back_up(const RunHistory& history, const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::equivalent(file, history.database().file(), error))
    throw Error(fmt::format("history: '{}' is this history itself; name another file for the copy", file.string()));
  const bool replaces = std::filesystem::exists(file, error) && std::filesystem::file_size(file, error) > 0;
  if (replaces) {
    const RunHistory there(file);  // throws for a file of somebody else
    if (last_run_id(history.database()) == 0 && last_run_id(there.database()) > 0)
      throw Error(fmt::format("history: '{}' has no run yet; a copy of it does not replace '{}', which has some",
                              history.database().file(), file.string()));
  }
  const Transaction one_moment(history.database());
  const std::string bytes = history.database().bytes();
  OutputFile output(file);
  output.write(std::as_bytes(std::span(bytes)));
  output.commit();
}

std::size_t prune(RunHistory& history, int days, std::chrono::system_clock::time_point now) {
  const std::string oldest = utc_text(now - std::chrono::hours(24) * days);
  const std::string future = utc_text(now + std::chrono::hours(24));
  Transaction transaction(history.database());
  std::map<std::string, std::vector<HistoryRun>> by_host;
  for (HistoryRun& run : history.runs()) by_host[run.host].push_back(std::move(run));
  Statement points = history.database().prepare("DELETE FROM points WHERE run = ?");
  Statement runs = history.database().prepare("DELETE FROM runs WHERE id = ?");
  std::size_t pruned = 0;
  for (const auto& [host, of_host] : by_host) {
    const std::size_t kept = first_kept(of_host, oldest, future);
    for (std::size_t i = 0; i < kept; ++i) {
      points.bind(1, of_host[i].id).run();
      runs.bind(1, of_host[i].id).run();
      ++pruned;
    }
  }
  history.database().execute("DELETE FROM environments WHERE id NOT IN (SELECT environment FROM runs)");
  transaction.commit();
  // Gives the space back to the disk, which a transaction cannot.
  if (pruned > 0) history.database().execute("VACUUM");
  return pruned;
}

void export_csv(const RunHistory& history, const std::string& experiment,
                const std::function<void(std::string_view)>& write,
                const std::function<bool(const HistorySeries&)>& takes) {
  std::unordered_map<std::int64_t, HistoryRun> runs;
  for (HistoryRun& run : history.runs(experiment)) runs.emplace(run.id, std::move(run));
  std::string text = csv_line({"host", "card", "slot", "suite", "experiment", "axes", "metric", "unit", "better",
                               "kind", "run", "sequence", "started", "value", "low", "high", "reliable"});
  const auto cell = [](const std::optional<double>& value) { return value ? to_csv(Cell(*value)) : std::string(); };
  const auto word = [](std::string_view text_of_cell) { return to_csv(Cell(std::string(text_of_cell))); };
  std::vector<HistorySeries> which = history.series(experiment);
  if (takes) std::erase_if(which, [&](const HistorySeries& series) { return !takes(series); });
  history.for_each_series(which, [&](const HistorySeries& series, const auto& points) {
    const SeriesKey& key = series.key;
    for (const HistoryPoint& point : points) {
      const HistoryRun& run = runs.at(point.run);
      text += csv_line({word(key.host), word(key.card), word(key.slot), word(key.suite), word(key.experiment),
                        word(key.axes), word(key.metric), word(to_string(series.column.unit)),
                        word(to_string(series.column.better)), word(to_string(series.column.kind)), word(run.name),
                        std::to_string(run.sequence), word(run.started), cell(point.value), cell(point.low),
                        cell(point.high), point.reliable ? "true" : "false"});
    }
    if (text.size() < (std::size_t{1} << 20)) return;
    write(text);
    text.clear();
  });
  write(text);
}

}  // namespace gpubench
